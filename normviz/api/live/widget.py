"""The widget: traits for Python, and a page that the kernel answers. It needs anywidget, so ``nv.live`` imports it late."""

import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from gzip import compress
from math import prod
from os import environ
from typing import Any, ParamSpec, TypeVar, Unpack
from urllib.parse import parse_qsl
from uuid import uuid4

import anywidget
import IPython
from traitlets import Bunch, TraitType, Unicode, default, validate

from normviz.analysis.checks import LARGEST_VALUE
from normviz.api.explain import Explanation
from normviz.api.result import Result
from normviz.export import assets
from normviz.export.output import Choices, Options, Output, output_of_view, shown_in_interpreter, title_of
from normviz.figures.wire import Payload, sent
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.lessons import events, pages
from normviz.lessons.page import RowData, rows_data
from normviz.measuring.own_modules import describe_any, is_frozen, own_class
from normviz.parts.html import Body
from normviz.parts.titles import app_of_files
from normviz.scene import edits
from normviz.scene.edits import Reading, with_fields
from normviz.scene.options import EMBEDDING
from normviz.scene.scene import DATA_SETTING, MOST_EDITABLE, OWN, PARAMS, SCENE_SETTINGS, Own
from normviz.scene.view import DISPLAY_SETTINGS, View, link
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import _, in_language, language

# How a view in a notebook changes: through the traits of the widget, its controls and its figures. All functions are pure.


def with_query(page: str, view: View, query: str) -> View:
    """The view of a query, or of a whole link. It shows the reader's own tensors where they fit and the link names no others.

    If the page has no setting of a name, or if the link has another error, only the message changes.
    """
    is_link = query.startswith(("/", "https://", "http://"))
    asked_for = query.partition("#")[0].partition("?")[2] if is_link else query.removeprefix("?")
    asked = dict(parse_qsl(asked_for, keep_blank_values=True))
    known = [setting.name for setting in (*SCENE_SETTINGS.values(), *pages.PAGES[page].settings, *DISPLAY_SETTINGS)]
    if unknown := [name for name in asked if name not in (*known, *EMBEDDING)]:
        rule = _("{name} is not a setting of this page; choose {known}.", name=echo(unknown[0]), known=listed(known))
        return replace(view, problem=rule)
    found, own = pages.view_of_link(pages.PAGES[page], asked), view.scene.own
    if problem := pages.PAGES[page].problem(found):
        return replace(view, problem=problem)
    found = replace(found, display=replace(found.display, lang=view.display.lang))  # the widget keeps its language
    if own is None:
        return found
    chosen: dict[str, Any] = {"params": OWN} if own.values is not None and PARAMS.name not in asked else {}
    is_its_x = found.scene.values in (None, own.numbers(MOST_EDITABLE, LARGEST_VALUE))
    if own.x is not None and DATA_SETTING.name not in asked and is_its_x:
        chosen |= {"data": OWN, "values": None}
    return replace(found, scene=replace(found.scene, own=own, **chosen))


def with_layer(view: View, layer: Any) -> View:
    """The view with another layer: its text, a module, a Norm. If torch refuses it, only the message changes."""
    scene, own = view.scene, view.scene.own or Own()
    x = own.x if own.has_x(scene.shape) else scene.shape
    try:
        spec = Layer.parse(layer) if isinstance(layer, str) else layer
        e = describe_any(spec, x, None if isinstance(spec, Norm) else scene.layout)
    except NormvizError as error:
        return replace(view, problem=str(error))
    fields: dict[str, Any] = {"layer": e.layer or e.norm, "layout": e.layout}
    if e.values is not None:
        own = replace(
            own, layer=e.layer or e.norm, values=e.values, module=own_class(layer), frozen=is_frozen(layer, e)
        )
        fields |= {"own": own, "params": OWN}
    return _kept(view, with_fields(scene, **fields))


def with_shape(view: View, shape: Sequence[int]) -> View:
    """The view on a tensor of another shape; the layer is refitted."""
    try:
        sizes = SCENE_SETTINGS["shape"].parse(",".join(map(str, shape)))
    except (NormvizError, TypeError) as error:
        return replace(view, problem=str(error))
    return view.with_scene(edits.with_shape(view.scene, sizes))


def with_at(view: View, at: Sequence[int] | None) -> View:
    """The view with another selected element, or none. If it is not one, only the message changes."""
    try:
        index = None if at is None else tuple(map(operator.index, at))
    except TypeError:
        message = NormvizError(
            "at={at} is not an element of a tensor of shape {shape}.", at=echo(at), shape=view.scene.shape
        )
        return replace(view, problem=str(message))
    return _kept(view, edits.with_selected(view.scene, index))


def _kept(view: View, reading: Reading) -> View:
    """The view of the scene; if there is a problem, the same view with the message."""
    return replace(view, problem=reading.problem) if reading.problem else view.with_scene(reading)


@dataclass(frozen=True)
class Reply(Payload):
    """The view after an event.

    turn  the number of the newest event that it answers
    """

    data: pages.DrawnPage
    rows: list[RowData]
    turn: int


MOST_KEPT = 1024  # elements of x; for a larger x, a notebook keeps a single view, because others would make it large

P = ParamSpec("P")
R = TypeVar("R")
TRAITS = ("query", "layer", "shape", "at", "problem")


def _in_its_language(method: Callable[P, R]) -> Callable[P, R]:
    """The method of a widget, in the language of the widget."""

    @wraps(method)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        widget: Any = args[0]
        with in_language(widget._lang):
            return method(*args, **kwargs)

    return run


class Live(anywidget.AnyWidget, Result):
    """A page on the reader's own x or module, answered by torch in the kernel. Made by ``nv.live``.

    query    the query of the view's link, such as "shape=2,3,4,4&layer=LayerNorm([3,4,4])"
    layer    the layer's text; set it to a text, a module or a Norm. x stays.
    shape    the sizes of x; for another shape, x is the app's example
    at       the selected element, or None
    problem  why the last change was refused, or ""; cannot be set

    The other traits can be set and observed. What torch refuses changes only ``problem``, which the page shows.
    """

    comm: Any
    key = Unicode().tag(sync=True)  # identifies the widget in the page, where its HTML waits for it
    _esm = Unicode().tag(sync=True)
    _css = Unicode().tag(sync=True)
    query = Unicode()
    layer: Any = TraitType()  # takes None too, unlike Any, without skipping the check
    shape: Any = TraitType()
    at: Any = TraitType()
    problem = Unicode(read_only=True)

    def __init__(self, page: str, view: View) -> None:
        self._page, self._start = page, view
        self._lang = view.display.lang or language.get()
        self._turn = 0
        super().__init__(key=uuid4().hex)
        self._take(view)
        self.on_msg(self._receive)

    @default("_esm")
    @_in_its_language
    def _default_esm(self) -> str:
        return assets.bundle("widget", language.get())

    @default("_css")
    def _default_css(self) -> str:
        return assets.page_style() + assets.controls_style()

    @property
    def explanation(self) -> Explanation:
        """The current layer on the current x, as an Explanation."""
        e = self._view.scene.description
        x = e.shape if e.x is None else e.x
        return Explanation.of(e.layer or e.norm, x, layout=e.layout, values=e.values)

    @validate("query", "layer", "shape", "at")
    @_in_its_language
    def _set(self, proposal: Any) -> Any:
        """Change the view, and return the trait's value in it."""
        name, value = proposal["trait"].name, proposal["value"]
        if name == "query":
            self._change(with_query(self._page, self._view, value))
        else:
            self._change({"layer": with_layer, "shape": with_shape, "at": with_at}[name](self._view, value))
        return self._trait_values[name]

    def _change(self, view: View) -> None:
        """Make it the current view and show it. Every trait has its new value before observers are called."""
        before = dict(self._trait_values)
        self._take(view)
        self._show()
        for name in TRAITS:
            old, new = before[name], self._trait_values[name]
            if old != new:
                self.notify_change(Bunch(name=name, old=old, new=new, owner=self, type="change"))

    @_in_its_language
    def _take(self, view: View) -> None:
        self._view = view
        query = link(pages.PAGES[self._page].query(view)).removeprefix("?")
        problem = pages.PAGES[self._page].problem(view) or ""
        values = (query, str(view.scene.layer), view.scene.shape, view.scene.at, problem)
        self._trait_values.update(zip(TRAITS, values, strict=True))

    @_in_its_language
    def _receive(self, widget: Any, event: Any, buffers: Any) -> None:
        """What a reader did in the browser, or its request for plotly.js."""
        if event.get("name") == "plotly":
            self.send({"plotly": event.get("client")}, [compress(assets.plotly_js(), 6)])
            return
        if event.get("name") == "reopen" and _page_has_models():
            # Give the page another model, after anywidget has given up the old one.
            # In other front ends, the output would lose its view.
            self.comm.close()
            self.comm = None
            self.open()
            return
        if isinstance(event.get("turn"), int):
            self._turn = max(self._turn, event["turn"])
        is_reset = event.get("name") == "reset"
        self._change(self._start if is_reset else events.after(pages.PAGES[self._page], self._view, event))

    @_in_its_language
    def _show(self) -> None:
        """Send the view to every copy of the page, with the number of the newest event that it answers."""
        drawn = pages.page_view(pages.PAGES[self._page], self._view)
        body = Body(prefix=f"{self.key}-", app=app_of_files() or None, turn=self._turn)
        data = pages.page_data(drawn.page, body, drawn.parts)
        self.send(sent(Reply(data, rows_data(drawn.rows), self._turn)))

    @_in_its_language
    def output(self, **options: Unpack[Options]) -> Output:
        """The current view as an Output, for a file: ``w.to_html()``. Options: theme, plotlyjs, caption, choices."""
        choices = Choices(few=True) if prod(self._view.scene.shape) <= MOST_KEPT else None
        return output_of_view(self._page, self._view, choices).with_(**options)

    def __repr__(self) -> str:
        """For a plain interpreter."""
        with in_language(self._lang):
            return shown_in_interpreter(title_of(self._page, pages.PAGES[self._page].file_title(self._view)))

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """HTML with precomputed views. While the kernel runs, the widget answers instead.

        A notebook file keeps the HTML: nbconvert, GitHub and later readers show it. Front ends that isolate outputs also get the widget's view.
        """
        kept = replace(self.output(), widget=self.key)._repr_mimebundle_()
        if _page_has_models():
            return kept
        bundle: Any = super()._repr_mimebundle_(**kwargs)
        return bundle[0] | kept, bundle[1]


def _page_has_models() -> bool:
    """Whether the outputs of a notebook are in one page with the models of its widgets: in JupyterLab and Notebook 7.

    There, the widget needs no view of its own. A saved view is empty without its kernel, and JupyterLab prefers it to HTML.
    """
    is_vs_code = "__vsc_ipynb_file__" in getattr(IPython.get_ipython(), "user_ns", {})
    return "JPY_PARENT_PID" in environ and "google.colab" not in sys.modules and not is_vs_code
