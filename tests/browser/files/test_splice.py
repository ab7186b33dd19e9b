"""SPLICE: a page with a frame keeps the score and the state of Practice and of a question; without its answer nothing changes."""

from collections.abc import Iterator
from json import dumps
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import FrameLocator, Page, Route, expect

from normviz.export.links import output_of_query
from normviz.export.output import Choices
from normviz.lessons.practice.bank import choose
from normviz.lessons.questions.page import QUESTIONS
from normviz.lessons.questions.question import facts_of
from tests.browser.conftest import NewTab
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

BOOK, FRAMED = "http://book.localhost", "http://framed.localhost"  # two sites, answered by the test itself
# A book that answers with ``kept``, as an object or as text. "silent": it does not answer; "other": another window answers.
PAGE = """<!doctype html><title>book</title><script>
window.messages = []; const { kept, silent, other, text } = Object.fromEntries(new URLSearchParams(location.search));
addEventListener("message", ({ data, source, origin }) => {
  if (!data.subject?.startsWith("SPLICE.")) return;
  messages.push({ ...data, origin });
  if (data.subject !== "SPLICE.getState" || silent) return;
  const answer = { subject: "SPLICE.getState.response", message_id: data.message_id, state: kept ? (text ? kept : JSON.parse(kept)) : null };
  if (other) document.getElementById("other").contentWindow.eval(`parent.document.getElementById("framed").contentWindow.postMessage(${JSON.stringify(answer)}, "*")`);
  else source.postMessage(answer, "*");
});
</script><iframe id="other" srcdoc="-"></iframe><iframe id="framed" src="ADDRESS" width="900" height="800"></iframe>"""
EXERCISE = choose(7, 3)[0]
FILES = {
    "/set": lambda: output_of_query("practice", {"seed": "7", "count": "3", "level": "all"}).with_(choices=Choices()),
    "/site": lambda: output_of_query("practice", {}).with_(choices=Choices()),  # its own set is another one
    "/question": lambda: output_of_query("questions", {"q": "s0"}),
}


class Book:
    def __init__(self, tab: Page) -> None:
        self.tab, self.shown = tab, "/set"
        self.files = {path: make().to_html() for path, make in FILES.items()}
        tab.context.route(
            f"{BOOK}/**", lambda route: self._fulfill(route, PAGE.replace("ADDRESS", FRAMED + self.shown))
        )
        tab.context.route(f"{FRAMED}/**", lambda route: self._fulfill(route, self.files[self.shown.partition("#")[0]]))

    def _fulfill(self, route: Route, html: str) -> None:
        route.fulfill(body=html, content_type="text/html; charset=utf-8")

    def open(self, shown: str, **options: str) -> FrameLocator:
        self.shown = shown
        self.tab.goto(f"{BOOK}/?{urlencode(options)}")
        self.tab.wait_for_function("messages.length > 0")
        return self.tab.frame_locator("#framed")

    def messages(self, subject: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.tab.evaluate("messages")
        assert {one["origin"] for one in found} <= {FRAMED}
        assert len({one["message_id"] for one in found}) == len(found)
        return [one for one in found if one["subject"] == f"SPLICE.{subject}"]


@pytest.fixture(scope="module")
def book_tab(new_tab: NewTab) -> Iterator[tuple[Book, Watch]]:
    watch = Watch(new_tab())
    yield Book(watch.page), watch
    watch.page.close()


@pytest.fixture
def book(book_tab: tuple[Book, Watch]) -> Iterator[Book]:
    yield book_tab[0]
    book_tab[1].check()


def answer(frame: FrameLocator, value: str) -> None:
    frame.get_by_role("textbox").fill(value)
    frame.get_by_role("button", name="Check").click()


def test_a_book_keeps_the_score_and_the_state_of_a_set(book: Book):
    frame = book.open("/site#seed=7&count=3&level=all")
    answer(frame, f"{EXERCISE.answer:g}")
    frame.get_by_role("button", name="Next exercise").click()
    book.tab.wait_for_function("messages.length === 4")
    (event,) = book.messages("sendEvent")
    assert event["name"] == "answered"
    assert event["data"] == {"exercise": EXERCISE.id, "try": 1, "answer": f"{EXERCISE.answer:g}", "right": True}
    *_first, report = book.messages("reportScoreAndState")
    assert report["score"] == pytest.approx(1 / 3)

    kept = dumps(report["state"])
    book.tab.frames[-1].evaluate("sessionStorage.clear()")
    frame = book.open("/set", kept=kept)
    expect(frame.locator(".nv-practice-place")).to_have_text("2 of 3")

    attempt = report["state"]["attempt"]
    damaged = [
        {"attempt": {**attempt, **change}, "best": 5} for change in ({"at": 0.5}, {"at": "1"}, {"key": "another set"})
    ]
    ignored = [{"kept": kept, "other": "yes"}, {"kept": kept, "silent": "yes"}, {"kept": '{"attempt": 7}'}]
    for options in ignored + [{"kept": dumps(one)} for one in damaged]:
        book.tab.frames[-1].evaluate("sessionStorage.clear()")
        frame = book.open("/set", **options)
        answer(frame, "-1")
        expect(frame.locator(".nv-exercise-hint")).to_contain_text("Try once more.")
        expect(frame.locator(".nv-practice-place")).to_have_text("1 of 3")
        book.tab.wait_for_function("messages.length === 3")
        assert [one["score"] for one in book.messages("reportScoreAndState")] == [0]


def test_a_book_keeps_the_first_prediction_at_a_question(book: Book):
    right = facts_of(QUESTIONS["s0"])["right"]
    frame = book.open("/question")
    frame.locator(f".nv-option input[value='{right}']").check()
    frame.locator(".nv-answer > summary").click()
    book.tab.wait_for_function("messages.length === 3")
    (report,) = book.messages("reportScoreAndState")
    assert (report["score"], report["state"]) == (1, {"guesses": {"s0": {"guess": right, "result": "right"}}})
    assert book.messages("sendEvent")[0]["data"] == {"question": "s0", "guess": right, "first": "right"}

    frame.locator(f".nv-option input:not([value='{right}'])").first.check()  # the first prediction counts
    book.tab.wait_for_function("messages.length === 5")
    *_first, second = book.messages("reportScoreAndState")
    assert second["score"] == 1

    other = {"guess": "6", "result": "wrong"}  # of another page in the same frame
    kept = {"guesses": {**report["state"]["guesses"], "a question": other}}
    frame = book.open("/question", kept=dumps(kept), text="yes")
    expect(frame.locator(f".nv-option input[value='{right}']")).to_be_checked()
    expect(frame.locator(".nv-verdict")).to_be_visible()
    assert book.messages("reportScoreAndState") == []
    frame.locator(f".nv-option input:not([value='{right}'])").first.check()
    book.tab.wait_for_function("messages.length === 3")
    (report,) = book.messages("reportScoreAndState")
    assert (report["score"], report["state"]["guesses"]["a question"]) == (1, other)
