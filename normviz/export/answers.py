"""The views that a reader of a file can choose, computed by torch when the file is made.

From the first view, every option of the controls in ``EXPLORED`` is followed until no new view is found. A view is stored once, whatever
leads to it, and so is every long text and array.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from normviz.layers.errors import NormvizError
from normviz.layers.layer import Layer
from normviz.lessons.page.control_data import input_data
from normviz.lessons.page.pages import PAGES, Page, page
from normviz.lessons.parts.html import Body
from normviz.scene.controls.control import Input
from normviz.scene.edits import with_tensor
from normviz.scene.query import read
from normviz.scene.repair import with_fields
from normviz.scene.settings.widgets import Choice, Number, Segments, Slider
from normviz.scene.view import View

# The inputs whose options a file answers, by page. The sizes and the layout follow from the shapes that the file has.
LAYER_INPUTS = ("family", "depth", "num_groups", "dim")
EXPLORED: Mapping[str, tuple[str, ...]] = {
    "explore": LAYER_INPUTS,
    "step_by_step": LAYER_INPUTS,
    "compare": ("set",),
    "train_and_eval": ("show",),
    "gradients": ("show", "input", *LAYER_INPUTS),
    "numerics": ("show", "dtype", "set_distance", "set_spread"),
}
MOST_VIEWS = 120
LONG = 40  # characters; a text or an array that is longer is stored once

Key = tuple[tuple[str, str], ...]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Answers:
    """The views of a file.

    pages  each view as a page, by its query without the selected element
    ways   for each view and each input: the query of the view that an option leads to, by the number or value of the option
    """

    pages: Mapping[Key, Page]
    ways: Mapping[Key, Mapping[str, Mapping[int, Key]]]


def key_of(name: str, view: View) -> Key:
    """What identifies a view in a file: its query without the selected element."""
    query = view.query(PAGES[name].settings)
    return tuple(sorted((setting, text) for setting, text in query.items() if setting not in ("at", "v")))


def answers(name: str, view: View, shapes: Sequence[Shape] = (), layers: Sequence[str] = ()) -> Answers:
    """The views that can be reached from ``view``.

    shapes  other tensors that the reader can choose
    layers  only these layers, as text; by default every layer that takes the tensor
    """
    views = [view, *(_on_shape(view, shape) for shape in shapes if shape != view.scene.shape)]
    for text in layers:
        views += [found for one in views if (found := _with_layer(one, text))]
    known = {one.scene.shape for one in views}
    pages: dict[Key, Page] = {}
    ways: dict[Key, dict[str, dict[int, Key]]] = {}
    waiting = deque(views)
    allowed = {text.replace(" ", "") for text in layers} | {_layer_text(one) for one in views} if layers else None
    while waiting and len(pages) < MOST_VIEWS:
        one = waiting.popleft()
        key = key_of(name, one)
        if key in pages:
            continue
        pages[key] = page(name, one)
        ways[key] = {}
        for shown in _inputs(pages[key]):
            for option, following in _options(name, one, shown, known):
                if following.problem or (allowed is not None and _layer_text(following) not in allowed):
                    continue
                ways[key].setdefault(shown.key, {})[option] = key_of(name, following)
                waiting.append(following)
    kept = {
        key: {shown: {n: to for n, to in options.items() if to in pages} for shown, options in found.items()}
        for key, found in ways.items()
    }
    return Answers(pages, kept)


def _layer_text(view: View) -> str:
    return str(view.scene.layer).replace(" ", "")


def _inputs(shown: Page) -> Iterator[Input]:
    return (one for row in shown.rows for one in row.inputs)


def _options(name: str, view: View, shown: Input, shapes: set[Shape]) -> Iterator[tuple[int, View]]:
    """The number or the value of each option of an input, and the view after it."""
    if shown.key == "layout" or isinstance(shown.widget, Number):
        yield from _of_shapes(view, shown, shapes)
    elif shown.key in EXPLORED.get(name, ()):
        if isinstance(shown.widget, Choice | Segments):
            for number, option in enumerate(shown.widget.options):
                following = shown.changed(view, option)
                if isinstance(following.scene.layer, Layer) or name not in ("explore", "step_by_step", "gradients"):
                    yield number, following
        elif isinstance(shown.widget, Slider):
            for value in range(shown.widget.low, shown.widget.high + 1, shown.widget.step):
                yield value, shown.changed(view, value)


def _of_shapes(view: View, shown: Input, shapes: set[Shape]) -> Iterator[tuple[int, View]]:
    """The options of an input that lead to one of the file's tensors."""
    if isinstance(shown.widget, Number):
        for value in sorted({shape[axis] for shape in shapes for axis in range(len(shape))}):
            for shape in sorted(shapes):
                if shape == shown.changed(view, value).scene.shape:
                    yield value, _on_shape(view, shape)
    elif isinstance(shown.widget, Choice | Segments):
        for number, option in enumerate(shown.widget.options):
            layout = shown.changed(view, option).scene.layout
            same = [shape for shape in sorted(shapes) if _on_shape(view, shape).scene.layout == layout]
            if same:
                yield number, _on_shape(view, view.scene.shape if view.scene.shape in same else same[0])


def _on_shape(view: View, shape: Shape) -> View:
    """The view on another tensor, with the default layout of its rank unless the rank is the same."""
    layout = view.scene.layout
    if len(shape) != len(view.scene.shape):
        layout = read({"shape": ",".join(map(str, shape))}).scene.layout
    return view.with_scene(with_tensor(view.scene, shape, layout))


def _with_layer(view: View, text: str) -> View | None:
    """The view with another layer; None if the layer does not take the tensor."""
    try:
        found = view.with_scene(with_fields(view.scene, layer=Layer.parse(text)))
    except NormvizError:
        return None
    return None if found.problem else found


def answers_data(found: Answers, app: str | None) -> dict[str, Any]:
    """The views as JSON for the browser: ``pool`` has every long text and array once."""
    pool = Pool()
    numbers = {key: number for number, key in enumerate(found.pages)}
    views = []
    for key, shown in found.pages.items():
        body = Body(app=app)
        parts = body.keyed(shown.parts)
        ways = {name: {str(n): numbers[to] for n, to in options.items()} for name, options in found.ways[key].items()}
        views.append(
            {
                "query": dict(key),
                "title": shown.title,
                "rows": _rows(shown, found.ways[key]),
                "ways": ways,
                "parts": parts,
                "figures": body.figures,
            }
        )
    packed = [pool.pack(view) for view in views]
    return {"version": 1, "views": packed, "pool": pool.values}


def _rows(shown: Page, ways: Mapping[str, Mapping[int, Key]]) -> list[dict[str, Any]]:
    """The inputs that have an answer to more than one option, and those that say what the tensor is."""
    rows = []
    for row in shown.rows:
        inputs = []
        for one in row.inputs:
            data, options = input_data(one), ways.get(one.key, {})
            if isinstance(one.widget, Number):
                data |= {"low": min(options, default=one.value), "high": max(options, default=one.value)}
                data["disabled"] = len(options) < 2
            elif len(options) < 2:
                continue
            elif "options" in data:
                _leave_out(data, options)
            inputs.append(data)
        if inputs:
            rows.append({"key": row.key, "inputs": inputs, "more": [], "reset": False})
    return rows


def _leave_out(data: dict[str, Any], options: Mapping[int, Key]) -> None:
    """Keep the options that have an answer; ``numbers`` are their numbers in the app."""
    kept = [number for number in range(len(data["options"])) if number in options or number == data["value"]]
    data["numbers"] = kept
    data["options"] = [data["options"][number] for number in kept]
    data["value"] = kept.index(data["value"])


class Pool:
    """Long values, each stored once; a packed value has ``{"$": number}`` in their place."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[str, int] = {}

    def pack(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: self.pack(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            if all(isinstance(one, int | float | None) for one in value):
                return self._shared(list(value))
            return [self.pack(one) for one in value]
        return self._shared(value) if isinstance(value, str) else value

    def _shared(self, value: Any) -> Any:
        text = json.dumps(value)
        if len(text) <= LONG:
            return value
        if text not in self._numbers:
            self._numbers[text] = len(self.values)
            self.values.append(value)
        return {"$": self._numbers[text]}
