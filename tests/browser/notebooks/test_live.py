"""The page of nv.live, whose controls a kernel answers while it runs. The tests pass messages between the browser and a widget."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

import normviz as nv
from normviz.export.assets import bundle
from tests.browser.view import View
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

# A model of anywidget. Its messages wait in ``sent``; ``deliver`` passes on a reply of the kernel, and ``handled`` says that it handled a message.
MODEL = """key => {
  const calls = new Set(), tell = () => dispatchEvent(new CustomEvent("normviz-model", { detail: key }));
  const model = { get: () => key, send: (event, callbacks) => {
    sent.push(event);
    window.handled = () => callbacks.iopub.status({ content: { execution_state: "idle" } });
  }, on: (_, call) => calls.add(call), off: (_, call) => calls.delete(call) };
  window.sent = [];
  window.deliver = (reply) => [...calls].forEach((call) => call(reply, []));
  window.connect = () => { (window.normvizModels ??= new Map()).set(key, model); tell(); };
  window.disconnect = () => { window.normvizModels?.delete(key); tell(); };
}"""


# Two models of one widget, as for a notebook and a console of the same kernel in one window; ``tell`` passes a reply on to both.
TWO_MODELS = """async script => {
  const { default: widget } = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const models = [0, 1].map(() => ({ calls: [], get: () => "twice", send() {}, on(name, call) { name === "msg:custom" && this.calls.push(call); } }));
  for (const model of models) widget().initialize({ model });
  const second = normvizModels.get("twice") === models[1];
  let changes = 0;
  addEventListener("normviz-model", () => changes++);
  for (const model of [...models, ...models]) for (const call of model.calls) call({ turn: 0 }, []);
  return [second, changes];
}"""


class Kernel:
    """A notebook's output in a page, and the widget that it belongs to."""

    def __init__(self, page: Page, layer: str) -> None:
        self.page = page
        self.widget = nv.live(layer, torch.arange(96.0).reshape(2, 3, 4, 4))
        self.first = self.widget.query
        self.replies: list[Any] = []
        self.widget.send = lambda reply, buffers=None: self.replies.append(json.loads(json.dumps(reply)))

    def connect(self) -> None:
        self.page.evaluate("connect()")
        self.receive()
        self.reply()

    def disconnect(self) -> None:
        self.page.evaluate("disconnect()")

    def receive(self) -> None:
        """Let the widget handle the events that the page has sent."""
        for event in self.page.evaluate("sent.splice(0)"):
            self.widget._handle_custom_msg(event, [])

    def reply(self) -> None:
        """Deliver the widget's oldest reply."""
        self.page.evaluate("reply => deliver(reply)", self.replies.pop(0))

    def set(self, label: str, value: int) -> None:
        field = self.page.get_by_label(label, exact=True)
        field.fill(str(value))
        field.press("Enter")

    def choose_layer(self, name: str) -> None:
        """Choose a layer while the output answers by itself: as in a file, its layers are a list."""
        self.page.get_by_label("Layer", exact=True).select_option(label=name)

    @property
    def sentence(self) -> Locator:
        return self.page.locator(".nv-sentence")


@pytest.fixture(scope="module")
def notebook(file_tab: tuple[View, Watch]) -> Kernel:
    """The output, opened once."""
    view, _ = file_tab
    kernel = Kernel(view.page, "LayerNorm([3, 4, 4])")
    kept = replace(kernel.widget.output(), widget=kernel.widget.key, plotlyjs="plotly.min.js")
    path = view.folder / "live.html"  # type: ignore[attr-defined]
    path.write_text(f"<!doctype html><meta charset=utf-8><body>{kept.to_html(full=False)}</body>", encoding="utf-8")
    view.page.goto(path.as_uri())
    view.page.evaluate(MODEL, kernel.widget.key)
    return kernel


@pytest.fixture
def kernel(notebook: Kernel, file_tab: tuple[View, Watch]) -> Iterator[Kernel]:
    """The output without its kernel, and the widget with its first view."""
    notebook.disconnect()
    notebook.page.evaluate("sent.splice(0)")
    notebook.widget.query = notebook.first
    notebook.replies.clear()
    yield notebook
    file_tab[1].check()


def test_a_message_that_is_lost_while_the_kernel_connects_is_sent_again(kernel):
    kernel.widget.layer = "InstanceNorm2d(3)"
    kernel.replies.clear()
    kernel.page.evaluate("connect(); sent.splice(0)")  # what was sent is lost
    expect(kernel.sentence).to_contain_text("LayerNorm([3, 4, 4])")
    kernel.page.wait_for_function("() => sent.length")
    kernel.receive()
    kernel.reply()
    expect(kernel.sentence).to_contain_text("InstanceNorm2d(3)")


def test_a_model_whose_replies_do_not_arrive_is_made_again_and_until_then_the_output_answers_by_itself(kernel):
    kernel.page.evaluate("connect(); sent.splice(0); handled()")
    kernel.choose_layer("GroupNorm")
    expect(kernel.sentence).to_contain_text("GroupNorm(3, 3) on (2, 3, 4, 4)")
    kernel.page.wait_for_function("() => sent.length")
    assert kernel.page.evaluate("sent.map(({ name }) => name)") == ["reopen"]


def test_the_newer_of_two_models_of_a_widget_stays(kernel):
    assert kernel.page.evaluate(TWO_MODELS, bundle("widget", "en")) == [True, 0]


def test_the_kernel_answers_while_it_runs(kernel):
    kernel.choose_layer("GroupNorm")
    expect(kernel.sentence).to_contain_text("GroupNorm(3, 3) on (2, 3, 4, 4)")
    kernel.connect()
    expect(kernel.sentence).to_contain_text("LayerNorm([3, 4, 4]) on (2, 3, 4, 4)")
    kernel.set("C", 6)
    kernel.receive()
    assert kernel.widget.shape == (2, 6, 4, 4)
    kernel.reply()
    expect(kernel.sentence).to_contain_text("LayerNorm([6, 4, 4]) on (2, 6, 4, 4)")
    kernel.disconnect()
    expect(kernel.sentence).to_contain_text("GroupNorm(3, 3) on (2, 3, 4, 4)")
    kernel.choose_layer("BatchNorm2d")
    expect(kernel.sentence).to_contain_text("BatchNorm2d(3) on (2, 3, 4, 4)")
    assert kernel.page.evaluate("sent") == []


def test_a_reply_does_not_undo_what_is_being_typed(kernel):
    kernel.connect()
    kernel.set("N", 5)
    kernel.receive()
    field = kernel.page.get_by_label("C", exact=True)
    field.fill("6")
    kernel.reply()
    expect(kernel.sentence).to_contain_text("on (5, 3, 4, 4)")
    expect(field).to_have_value("6")
    field.press("Enter")
    kernel.receive()
    kernel.reply()
    expect(kernel.sentence).to_contain_text("LayerNorm([6, 4, 4]) on (5, 6, 4, 4)")


def test_an_older_reply_does_not_undo_a_newer_change(kernel):
    kernel.connect()
    kernel.set("N", 5)
    kernel.receive()
    kernel.set("C", 6)  # while the first reply is on its way
    kernel.reply()
    expect(kernel.page.get_by_label("C", exact=True)).to_have_value("6")
    expect(kernel.sentence).to_contain_text("on (2, 3, 4, 4)")
    kernel.receive()
    kernel.reply()
    expect(kernel.sentence).to_contain_text("LayerNorm([6, 4, 4]) on (5, 6, 4, 4)")


def test_the_page_shows_a_change_from_python_and_a_refused_value(kernel):
    kernel.connect()
    kernel.widget.layer = "BatchNorm2d(3)"
    kernel.reply()
    expect(kernel.page.get_by_role("radio", name="BatchNorm", exact=True)).to_be_checked()
    kernel.set("C", 0)
    kernel.receive()
    kernel.reply()
    expect(kernel.page.get_by_role("alert")).to_contain_text("C=0 must be a whole number from 1 to")
    expect(kernel.page.get_by_label("C", exact=True)).to_have_value("0")
    expect(kernel.page.get_by_label("C", exact=True)).to_be_focused()
