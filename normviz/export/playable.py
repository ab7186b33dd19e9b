"""The views that a reader of a file can choose, computed by torch when the file is made.

From the first view of each tensor, the options of some controls are followed until no new view is found. A view is computed and stored
once, whatever leads to it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, zip_longest
from math import prod
from operator import ne
from typing import Any

from normviz.analysis.comparison import FEWEST, MOST, suggestions
from normviz.analysis.sentences import axes_in_words
from normviz.figures.wire import Json, Payload, left_out, sent
from normviz.layers.catalogue import FAMILIES, families_with_button
from normviz.layers.fit import kind_for
from normviz.layers.layer import Layer
from normviz.lessons.compare.page import OWN_SET, READY_SETS, default_layers, fitting, layers_of
from normviz.lessons.events import after, entering
from normviz.lessons.explore.page import hides_toggles
from normviz.lessons.page import InputData, InputRow, Page, RowData, input_data
from normviz.lessons.pages import PageView, join_part, page_view
from normviz.parts.html import Body, FigureData
from normviz.parts.part import visible_parts
from normviz.scene.controls import SIZES, Input, families_for, family_label, family_of, layout_axes
from normviz.scene.edits import Reading, with_fields, with_tensor
from normviz.scene.scene import FIELD_NAMES, PATTERN_FAMILY, SCENE_SETTINGS, axes_of, commas
from normviz.scene.setting import Choice, Number, Segments, Several, Slider, TextField, Toggle
from normviz.scene.toggles import toggle_rows, with_toggle_of_file
from normviz.scene.view import Display, View, read
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _, ngettext

# The sets of layers that a file of the page Compare offers, within the size of a file.


MOST_VIEWS = 200
MOST_ELEMENTS = 400_000  # elements in all views together; each tensor has an equal share
FEW = 3  # up to this many layers, any combination is offered; larger ones only of the first six

Layers = tuple[str, ...]


class LayerSets:
    """The sets of layers on each tensor of a file.

    On a tensor of ``starts``: two or three of the layers that take it, as many layers as the size of a file allows, and up to six of the
    first six. On the tensor of a ready-made set: its layers, or some of them.

    given  for each of ``starts``, only these layers and those that are compared first, and no ready-made sets
    """

    def __init__(self, starts: Sequence[View], given: Sequence[Sequence[str]] = ()) -> None:
        self.has_ready_sets = not given
        self._names_layers = bool(starts[0].settings["layers"])
        self._sets: dict[tuple[tuple[int, ...], str], dict[Layers, None]] = {}
        self._first: dict[tuple[tuple[int, ...], str], Layers] = {}  # what is compared if the file does not offer a set
        tensors = {(view.scene.shape, view.scene.layout): view for view in starts}
        for ready in READY_SETS.values() if self.has_ready_sets else ():
            if (ready.shape, ready.layout) not in tensors:
                self._sets.setdefault((ready.shape, ready.layout), {}).update(dict.fromkeys(_choices(ready.layers)))
        views = (MOST_VIEWS - sum(map(len, self._sets.values()))) // len(tensors)
        for number, (tensor, view) in enumerate(tensors.items()):
            own = layers_of(view)[0]
            if given:
                self._first[tensor] = own
                fitted = dict.fromkeys([*own, *fitting(given[number], view.scene)])
                self._sets[tensor] = dict.fromkeys(_choices(tuple(fitted)))
                continue
            layers = tuple(dict.fromkeys([*own, *_one_of_each_family([*own, *suggestions(*tensor)])]))
            most = min(views, MOST_ELEMENTS // len(tensors) // prod(view.scene.shape))
            count = next((n for n in range(len(layers), len(own), -1) if len(_choices(layers[:n])) <= most), len(own))
            self._sets[tensor] = dict.fromkeys(_choices(layers[:count]))

    def layers(self, view: View) -> Layers:
        """The layers that are offered on the view's tensor."""
        return tuple(dict.fromkeys(layer for chosen in self._of(view) for layer in chosen))

    def most(self, view: View) -> int:
        """The most layers that can be compared on the view's tensor."""
        return max(map(len, self._of(view)))

    def near(self, view: View) -> list[Layers]:
        """The set of the view, and those with one layer more or less."""
        now = set(layers_of(view)[0])
        return [chosen for chosen in self._of(view) if len(now.symmetric_difference(chosen)) < 2]

    def settled(self, view: View) -> View:
        """The view with only the layers that the file offers, in order. If the file does not offer the set, with another set."""
        now = set(layers_of(view)[0]).intersection(self.layers(view))
        first = self._first.get((view.scene.shape, view.scene.layout), ())
        default = default_layers(view.scene)
        found = next((chosen for chosen in self._of(view) if set(chosen) == now), first) or default
        is_default = found == default and not self._names_layers
        return view.with_settings(layers=() if is_default else found)

    def _of(self, view: View) -> dict[Layers, None]:
        return self._sets[view.scene.shape, view.scene.layout]


def _choices(layers: Sequence[str]) -> list[Layers]:
    """Any two or three of the layers; larger combinations only of the first six."""
    sizes = range(FEWEST, MOST + 1)
    return [chosen for size in sizes for chosen in combinations(layers if size <= FEW else layers[:MOST], size)]


def _one_of_each_family(layers: Sequence[str]) -> list[str]:
    """The first layer of each family, then the second of each, ..."""
    families: dict[str, list[str]] = {}
    for text in dict.fromkeys(layers):
        layer = Layer.parse(text)
        families.setdefault(layer.kind.family if isinstance(layer, Layer) else "", []).append(text)
    return [text for turn in zip_longest(*families.values()) for text in turn if text]


# The controls of a file: the controls of the app, limited to options that lead to a view of the file.

Shape = tuple[int, ...]


class FileControls:
    """The controls of the views of a file that begins with ``start``.

    shapes  other tensors that a reader can choose
    layers  only these layers, instead of every layer that takes the tensor

    Raises NormvizError for a tensor that the first layer cannot be fitted to, and for a layer that does not take the first tensor.
    """

    def __init__(self, page: Page, start: View, shapes: Sequence[Shape] = (), layers: Sequence[str] = ()) -> None:
        self.page, self.start = page, start
        self.shapes = tuple(dict.fromkeys((start.scene.shape, *shapes)))
        # For each of the layers, the view on each tensor that the layer can be fitted to.
        self.given: list[Mapping[Shape, View]] = []
        compares = not page.shows_layer
        for layer in dict.fromkeys([start.scene.layer, *map(Layer.parse, layers)]) if layers and not compares else ():
            first = _valid(start.with_scene(with_fields(start.scene, layer=layer)))
            fitted = {shape: self._on_shape(first, shape) for shape in self.shapes}
            self.given.append({shape: view for shape, view in fitted.items() if not view.problem})
        self.sets: LayerSets | None = None
        self.starts = [_valid(self._moved(start, shape)) for shape in self.shapes]
        self.sets = LayerSets(self.starts, self._compared(layers)) if compares else None

    def _compared(self, layers: Sequence[str]) -> list[Sequence[str]]:
        """The given layers on each tensor."""
        first = self.start.with_settings(layers=tuple(layers))
        return [self._on_shape(first, shape).settings["layers"] for shape in self.shapes] if layers else []

    def rows(self, view: View, rows: Sequence[InputRow]) -> list[InputRow]:
        """The rows of inputs of a view, from those that the app has."""
        return [
            replace(
                row,
                groups=[[self._of_file(one, view) for one in group if self._has(one)] for group in row.groups],
                more=[[self._of_file(one, view) for one in column if self._has_in_more(one)] for column in row.more],
            )
            for row in rows
        ]

    def values(self, field: Input, view: View) -> list[Any]:
        """The values of an input that a reader may choose, in order."""
        widget = field.widget
        if isinstance(widget, Choice | Segments | Slider):
            return list(widget.options)
        if isinstance(widget, Toggle):
            return [False, True]
        if isinstance(widget, Several):
            return list(self.sets.near(view)) if self.sets else []
        axis = view.scene.axes.index(field.axis)
        return sorted({shape[axis] for shape in self._alike(view)})

    def settled(self, view: View) -> View:
        """The view, with each setting that it does not show reset to its value in the first view; how a reader came to it is forgotten."""
        view = replace(view, scene=replace(view.scene, chosen=None)) if view.scene.chosen else view
        view = self.sets.settled(view) if self.sets else view
        hidden = [setting.name for setting in self.page.settings if not setting.applies(view)]
        settings = {**view.settings, **{name: self.start.settings[name] for name in hidden}}
        has_tensor = any(SIZES in group for row in self.page.rows(view) for group in (*row.groups, *row.more))
        return replace(view, settings=settings, scene=view.scene if has_tensor else self.start.scene)

    def _has(self, field: Input) -> bool:
        widget = field.widget
        if isinstance(widget, Number) and not field.axis:  # a page's own, with many values
            return False
        if isinstance(widget, TextField) or (isinstance(widget, Slider) and widget.typed):  # too many values for a file
            return bool(self._few_values(field))
        if field.in_file == "sets":
            return self.sets is None or self.sets.has_ready_sets
        in_layer = field.in_file in ("argument", "switch")
        return field.in_file != "nothing" and not field.disabled and not (in_layer and self.given)

    def _has_in_more(self, field: Input) -> bool:
        return (field.in_file == "switch" or _is_of_tensor(field) or field.setting is not None) and self._has(field)

    def _of_file(self, field: Input, view: View) -> Input:
        """The input with the file's options."""
        if field.in_file == "layouts":
            found = {one.scene.layout for one in (view, *self.starts)}
            layouts = sorted(found, key=lambda each: (len(each), each))
            widget, about = (
                Segments({each: layout_axes(each) for each in layouts}),
                axes_in_words(map(axes_of, layouts)),
            )
            return replace(field, widget=widget, edit=self._to_layout, help=about)
        if field.axis:
            axis = view.scene.axes.index(field.axis)
            return replace(field, edit=lambda one, size: self._to_size(one, axis, size))
        if field.in_file == "sets":
            return replace(field, edit=lambda one, key: self.start if key == OWN_SET else field.edit(self.start, key))
        if field.in_file == "layers":
            return self._layers(field, view)
        if isinstance(field.widget, Several):
            return self._several(field, view)
        return self._of_few(field) if self._few_values(field) else field

    def _few_values(self, field: Input) -> Sequence[Any]:
        """The few values that a file offers of a setting with too many."""
        return field.setting.in_file if field.setting else ()

    def _of_few(self, field: Input) -> Input:
        """The input with the few values that the file offers, and its own; its label has no limits."""
        setting, widget = field.setting, field.widget
        assert setting
        few: Slider | Choice = Choice({each: each for each in (*setting.in_file, field.value)})
        if isinstance(widget, Slider) and not widget.typed:
            few = Slider({each: widget.options[each] for each in sorted({*setting.in_file, field.value})})
        return replace(field, label=_(setting.label), widget=few)

    def _layers(self, field: Input, view: View) -> Input:
        """The control of the layer: the file's own list of layers, or all without the patterns that a reader types."""
        if not self.given:
            listed = [family for family in families_for(view.scene) if family != PATTERN_FAMILY]
            listed += [field.value] if field.value not in listed else []
            return replace(field, widget=Choice({family: _name(family, view) for family in listed}), width=168)
        shape = view.scene.shape
        fitted = {number: views[shape] for number, views in enumerate(self.given) if shape in views}
        labels = {number: str(one.scene.layer) for number, one in fitted.items()}
        now = next(number for number, one in fitted.items() if one.scene.layer == view.scene.layer)

        def edit(one: View, number: int) -> View:
            return one.with_scene(with_fields(one.scene, layer=fitted[number].scene.layer))

        return replace(field, value=now, widget=Choice(labels), edit=edit, width=None)

    def _several(self, field: Input, view: View) -> Input:
        """The layers that the file offers on the view's tensor."""
        assert self.sets
        options, most = self.sets.layers(view), self.sets.most(view)
        return replace(
            field,
            label=_("Layers ({fewest} to {most})", fewest=FEWEST, most=most),
            value=tuple(one for one in options if one in field.value),
            widget=Several(options, most),
        )

    def _alike(self, view: View) -> list[Shape]:
        """The view's tensor, and the file's tensors of the same layout."""
        others = (one.scene.shape for one in self.starts if one.scene.layout == view.scene.layout)
        return list(dict.fromkeys([view.scene.shape, *others]))

    def _to_size(self, view: View, axis: int, size: int) -> View:
        """The view on the tensor with this size that is most like the view's."""
        wanted = (*view.scene.shape[:axis], size, *view.scene.shape[axis + 1 :])
        possible = [shape for shape in self._alike(view) if shape[axis] == size]
        return self._moved(view, min(possible, key=lambda shape: sum(map(ne, shape, wanted))))

    def _to_layout(self, view: View, layout: str) -> View:
        shapes = [one.scene.shape for one in (view, *self.starts) if one.scene.layout == layout]
        return self._moved(view, shapes[0])

    def _moved(self, view: View, shape: Shape) -> View:
        """The view on another of the file's tensors. A layer without a form on it is replaced by another one, as in the app."""
        if shape == view.scene.shape:
            return view
        if self.sets:  # the page shows sets of layers, not the layer of the scene
            view = view.with_settings(layers=layers_of(view)[0])
            scene = self._on_shape(self.start, shape).scene
            return self.page.after_tensor(view, replace(view, scene=scene)).without_problem()
        for fitted in self.given:
            now = fitted.get(view.scene.shape)
            if now and now.scene.layer == view.scene.layer:
                return fitted.get(shape) or next(one[shape] for one in self.given if shape in one)
        moved = self._on_shape(view, shape)
        return moved if moved.substitute else moved.without_problem()

    def _on_shape(self, view: View, shape: Shape) -> View:
        """With the default layout of the tensor's rank, unless the rank stays the same. The first tensor keeps its values."""
        scene, first = view.scene, self.start.scene
        if shape == scene.shape:
            return view
        layout = scene.layout
        if len(shape) != len(scene.shape):
            reading = read({"shape": commas(shape)})
            if reading.problem:
                raise NormvizError(reading.problem)
            layout = reading.scene.layout
        if shape != first.shape:
            return self.page.after_tensor(view, view.with_scene(with_tensor(scene, shape, layout)))
        moved = self.page.after_tensor(view, view.with_scene(with_tensor(scene, shape, first.layout)))
        own = {"values": first.values, "at": first.at, "start": first.start}
        return moved if moved.substitute else moved.with_scene(with_fields(moved.scene, **own))


def _name(family: str, view: View) -> str:
    """The label of a family in a file's list of layers: the name of its layer for the tensor."""
    label = family_label(family)
    return kind_for(family, view.scene.axes).name if label == family and family in FAMILIES else label


def _valid(view: View) -> View:
    """The view. Raises NormvizError if it has an error."""
    if view.problem:
        raise NormvizError(view.problem)
    return view


def _is_of_tensor(field: Input) -> bool:
    return field.in_file == "layouts" or bool(field.axis)


Key = tuple[tuple[str, str], ...]
Press = tuple[str, str, int]  # the row, the axis and the direction of a toggle


@dataclass(frozen=True)
class PlayableView:
    """A view of a file.

    rows  its inputs, as a file has them, with the values that lead to a view
    ways  input key -> value -> key of the next view
    toggles  (row, axis, by) of a toggle in the title of a panel -> key of the next view
    """

    page_view: PageView
    rows: Sequence[InputRow]
    ways: Mapping[str, Mapping[Any, Key]]
    toggles: Mapping[Press, Key]


class FollowedView:
    """A view while its ways are followed. What its inputs offer is found once."""

    def __init__(self, file: FileControls, view: View) -> None:
        self.file, self.view, self.key = file, view, key_of(file.page, view)
        self._options: dict[str, dict[Any, FollowedView]] = {}

    @cached_property
    def page_rows(self) -> list[InputRow]:
        """The rows of inputs that the app has."""
        return self.file.page.input_rows(self.view)

    @cached_property
    def rows(self) -> list[InputRow]:
        """The rows of inputs that the file has."""
        return self.file.rows(self.view, self.page_rows)

    @property
    def inputs(self) -> Iterator[Input]:
        return (field for row in self.rows for field in row.all_inputs)

    def options(self, field: Input) -> dict[Any, FollowedView]:
        """Each value of an input, and the view after it; values that give an error are left out."""
        if field.key not in self._options:
            self._options[field.key] = dict(self._followed(field))
        return self._options[field.key]

    def _followed(self, field: Input) -> Iterator[tuple[Any, FollowedView]]:
        file = self.file
        for value in file.values(field, self.view):
            following = file.settled(after(file.page, self.view, entering(field, value)))
            if not file.page.problem(following):
                yield value, FollowedView(file, following)

    @cached_property
    def presses(self) -> dict[Press, FollowedView]:
        """What each toggle leads to, if a file may have it."""
        presses: dict[Press, FollowedView] = {}
        if not self.file.page.in_toggles or hides_toggles(self.view):
            return presses
        for row, found in toggle_rows(self.view.scene).items():
            for one in () if found.rest else found.toggles:
                for by in (-1, 1) if one.groups else (1,):
                    if scene := with_toggle_of_file(self.view.scene, row, one.axis, by):
                        following = self.file.settled(self.view.with_scene(Reading(scene)))
                        presses[row, one.axis, by] = FollowedView(self.file, following)
        return presses


@dataclass(frozen=True)
class Search:
    """The views of a file, before their parts are computed.

    left_out  the keys of inputs whose options would be too many
    toggled   the views that only toggles lead to
    """

    views: Mapping[Key, FollowedView]
    left_out: frozenset[str]
    toggled: Mapping[Key, FollowedView]

    def playable_views(self) -> dict[Key, PlayableView]:
        found = {**self.views, **self.toggled}
        return {key: self._playable_view(one, found) for key, one in found.items()}

    def _playable_view(self, one: FollowedView, found: Mapping[Key, FollowedView]) -> PlayableView:
        ways = {
            field.key: {value: to.key for value, to in one.options(field).items() if to.key in found}
            for field in one.inputs
        }
        made = page_view(one.file.page, one.view, one.page_rows)
        if one.key in self.toggled:
            made = replace(made, parts=visible_parts(made.parts, Display(hide=NAMED_ONLY)))
        toggles = {press: to.key for press, to in one.presses.items() if to.key in found}
        return PlayableView(made, [_playable_row(row, ways) for row in one.rows], ways, toggles)

    def labels_left_out(self) -> list[str]:
        """The labels of the inputs that the views would have, but whose options are left out."""
        inputs = (field for one in self.views.values() for field in one.inputs)
        return list(dict.fromkeys(field.label for field in inputs if field.key in self.left_out))


def search(
    page: Page, start: View, shapes: Sequence[Shape] = (), layers: Sequence[str] = (), few: bool = False
) -> Search:
    """The views that can be reached from ``start``, which is the first.

    shapes  other tensors that the reader can choose
    layers  only these layers; by default every layer that takes the tensor
    few     only the first controls of the page's grids, because the reader waits for the file

    Raises NormvizError if a layer does not take the tensor, and if there are too many views.
    """
    file = FileControls(page, start, shapes, layers)
    found: dict[Key, FollowedView] = {}
    followed: set[str] = set()
    left_out: set[str] = set()
    for keys in page.file_choices[: 1 if few else None]:
        more = found | _reachable(file, keys, found)
        size = sum(prod(one.view.scene.shape) for one in more.values())
        if found and (len(more) > MOST_VIEWS or size > MOST_ELEMENTS):
            left_out.update(keys)
            continue
        found = more
        followed.update(keys)
    if len(found) > MOST_VIEWS:
        raise NormvizError(
            ngettext(
                "a file with {n:,} view is too large; give fewer shapes, or name the layers with --layers.",
                "a file with {n:,} views is too large; give fewer shapes, or name the layers with --layers.",
                len(found),
            )
        )
    return Search(found, frozenset(left_out - followed), {} if few or layers else _toggled(file, found))


def key_of(page: Page, view: View) -> Key:
    """What identifies a view in a file: its query without what a reader changes in the figure."""
    query = view.query(page.settings)
    return tuple(sorted((setting, text) for setting, text in query.items() if setting not in SELECTED))


def _reachable(file: FileControls, keys: Collection[str], known: Mapping[Key, FollowedView]) -> dict[Key, FollowedView]:
    """The views that the controls ``keys``, and in a file with several tensors those of the tensor, lead to. The search ends when it has more than MOST_VIEWS."""
    found: dict[Key, FollowedView] = {}
    waiting = deque(FollowedView(file, view) for view in (file.starts[0], *map(file.settled, file.starts[1:])))
    while waiting and len(found) <= MOST_VIEWS:
        one = waiting.popleft()
        if one.key not in found:
            one = found[one.key] = known.get(one.key, one)
            for field in one.inputs:
                if field.key in keys or (len(file.shapes) > 1 and _is_of_tensor(field)):
                    waiting.extend(one.options(field).values())
    return found


def _toggled(file: FileControls, found: Mapping[Key, FollowedView]) -> dict[Key, FollowedView]:
    """The views to which the toggles lead from layers with a button, without the views already found.

    If there is no room for all such views of a tensor, it has none of them.
    """
    with_button, toggled = families_with_button(), dict[Key, FollowedView]()
    for start in file.starts:
        shape, more = start.scene.shape, dict[Key, FollowedView]()
        on_shape = [one for one in found.values() if one.view.scene.shape == shape]
        waiting = deque(one for one in on_shape if family_of(one.view.scene) in with_button)
        most = min(MOST_TOGGLED, MOST_TOGGLED_ELEMENTS // prod(shape)) - len(toggled)
        while waiting and len(more) <= most:
            for following in waiting.popleft().presses.values():
                if following.key not in found and following.key not in more:
                    more[following.key] = following
                    waiting.append(following)
        toggled |= more if len(more) <= most else {}
    return toggled


def _playable_row(row: InputRow, ways: Mapping[str, Mapping[object, Key]]) -> InputRow:
    """The inputs that lead to more than one view, and those for the sizes."""

    def kept(inputs: Iterable[Input]) -> list[Input]:
        return [one for one in inputs if len(ways[one.key]) > 1 or one.axis]

    more = [column for column in map(kept, row.more) if column]
    return replace(row, groups=list(map(kept, row.groups)), more=more)


# The views of a file as JSON: every long text, array or part once, however many views have it.

VERSION = 2
MOST_TOGGLED, MOST_TOGGLED_ELEMENTS = (
    240,
    20_000,
)  # views that only toggles lead to, and their elements: at most 150 kB of a file
NAMED_ONLY = ("code", "questions")  # parts that a view of a file has only if its layer is in the list
LONG = 40  # characters of a value that is stored once
LONG_TYPES = (str, list, dict)  # of such values
SELECTED = ("at", "step", "cards", "norm", "batch")  # settings that a reader changes in the figure
SCALED = ("gamma", "beta")  # these, too; a link to the app has those of the view


@dataclass(frozen=True, kw_only=True)
class FileView(Payload):
    """A view of a file.

    query      of a link to the app
    state      the settings that are not common
    presented  the numbers of the parts that a projector shows
    toggles    the number of the view that each toggle leads to, by row, axis and step
    """

    title: str | None = left_out(None)
    query: dict[str, str]
    state: dict[str, str]
    rows: list[RowData]
    parts: list[tuple[str, str]]
    presented: list[int] | None = left_out(None)
    figures: list[FigureData]
    toggles: dict[str, int] | None = left_out(None)


@dataclass(frozen=True, kw_only=True)
class FileViews(Payload):
    """The views of a file.

    version  of this format
    page     the name of the page
    app      the address of the app, or ""
    common   the settings that are the same in all views that have them, defaults too
    views    each a FileView whose long values are ``{"$": number}``
    pool     the long values
    """

    version: int
    page: str
    app: str
    common: dict[str, str]
    views: list[dict[str, Json]]
    pool: list[Json]


def views_data(
    page: Page, found: Mapping[Key, PlayableView], app: str, pages: Mapping[str, str] | None = None
) -> FileViews:
    """The views as the browser reads them. ``pages``: the addresses of pages next to the file, by their link in the app."""
    numbers = {key: number for number, key in enumerate(found)}
    states = [_state(page, one.page_view.view) for one in found.values()]
    common = dict(item for state in states for item in state.items())
    common = {each: text for each, text in common.items() if all(one.get(each, text) == text for one in states)}
    pool = Pool()
    views = []
    for one, state in zip(found.values(), states, strict=True):
        body = Body(app=app or None, pages=pages or {})
        joined = [*one.page_view.parts, *([join_part(page, one.page_view.view)] if app else [])]
        parts = body.keyed(joined)
        view = FileView(
            title=page.share_title(one.page_view.view),
            query={each: text for each, text in one.page_view.query.items() if each not in SELECTED},
            state={each: text for each, text in state.items() if each not in common},
            rows=[_row(row, one, numbers) for row in one.rows if row.inputs or any(row.more)],
            parts=parts,
            presented=[number for number, part in enumerate(joined) if part.presented],
            figures=body.figures,
            toggles={" ".join(map(str, press)): numbers[key] for press, key in one.toggles.items()},
        )
        views.append({each: pool.pack(value) for each, value in sent(view).items()})
    return FileViews(version=VERSION, page=page.name, app=app, common=common, views=views, pool=pool.values)


def _state(page: Page, view: View) -> dict[str, str]:
    """The settings of the view as text, defaults too, without those that it does not use and those that a reader changes in the figure."""
    fields = {each: getattr(view.scene, FIELD_NAMES.get(each, each)) for each in SCENE_SETTINGS}
    values: dict[str, Any] = {**fields, **view.settings}
    state = {}
    for setting in (*SCENE_SETTINGS.values(), *page.settings):
        value = values[setting.name]
        has_value = value not in (None, ()) or setting.or_none
        if has_value and setting.name not in (*SELECTED, *SCALED, "from") and setting.applies(view):
            state[setting.name] = setting.format(value)
    return state


def _row(row: InputRow, one: PlayableView, numbers: Mapping[Key, int]) -> RowData:
    def inputs(found: Sequence[Input]) -> list[InputData]:
        return [_input(field, one.ways[field.key], numbers) for field in found]

    note = row.note if row.more and row.note else None
    return RowData(key=row.key, inputs=inputs(row.inputs), more=list(map(inputs, row.more)), note=note, reset=row.reset)


def _input(field: Input, options: Mapping[Any, Key], numbers: Mapping[Key, int]) -> InputData:
    """The input with the values that lead to a view, and the numbers of the views that they lead to."""
    data = replace(input_data(field), to=[numbers[key] for key in options.values()])
    if isinstance(field.widget, Choice | Segments | Slider):
        labels = [field.widget.options[value] for value in options]
        return replace(data, value=list(options).index(field.value), options=labels)
    if isinstance(field.widget, Several):  # each value as the bits of its options
        places = {option: 2**place for place, option in enumerate(field.widget.options)}
        return replace(data, values=[sum(map(places.__getitem__, value)) for value in options], closed=True)
    if isinstance(field.widget, Number):
        values = list(options)
        data = replace(data, values=values, low=values[0], high=values[-1])
        return data if len(values) > 1 else replace(data, disabled=True, why=_("This size is fixed in this file."))
    return data


class Pool:
    """Long values, each stored once; a packed value has ``{"$": number}`` in their place. What a stored value refers to is stored before it."""

    def __init__(self) -> None:
        self.values: list[Json] = []
        self._numbers: dict[str, int] = {}

    def pack(self, value: Json) -> Json:
        if isinstance(value, str) and len(value) < LONG // 2 and value.isascii():
            return value  # nor is its JSON long
        if isinstance(value, dict):
            value = {name: self.pack(one) if isinstance(one, LONG_TYPES) else one for name, one in value.items()}
        elif isinstance(value, list):
            value = [self.pack(one) if isinstance(one, LONG_TYPES) else one for one in value]
        text = json.dumps(value)
        if len(text) <= LONG:
            return value
        if text not in self._numbers:
            self._numbers[text] = len(self.values)
            self.values.append(value)
        return {"$": self._numbers[text]}
