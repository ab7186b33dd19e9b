"""The sets of layers that a file of the page Compare offers, within the size of a file."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, zip_longest
from math import prod
from operator import ne
from typing import Any

from normviz.analysis.comparison import FEWEST, MOST, suggestions
from normviz.layers.catalogue import FAMILIES
from normviz.layers.fit import kind_for
from normviz.layers.layer import Layer
from normviz.lessons.compare.page import OWN_SET, READY_SETS, default_layers, fitting, layers_of
from normviz.lessons.page import InputRow, Page
from normviz.scene.controls import FILE_ARGUMENTS, FILE_SWITCHES, SIZES, Input, families_for, family_label, layout_axes
from normviz.scene.edits import with_fields, with_tensor
from normviz.scene.scene import PATTERN_FAMILY, commas
from normviz.scene.setting import Choice, Number, Segments, Several, Slider, TextField, Toggle
from normviz.scene.view import View, read
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _

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
SIZE = "size_"  # the prefix of the keys of the size inputs
TENSOR = ("layout", *(f"{SIZE}{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"))


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

    def values(self, shown: Input, view: View) -> list[Any]:
        """The values of an input that a reader may choose, in order."""
        widget = shown.widget
        if isinstance(widget, Choice | Segments | Slider):
            return list(widget.options)
        if isinstance(widget, Toggle):
            return [False, True]
        if isinstance(widget, Several):
            return list(self.sets.near(view)) if self.sets else []
        axis = _axis_of(shown, view)
        return sorted({shape[axis] for shape in self._alike(view)})

    def settled(self, view: View) -> View:
        """The view, with each setting that it does not show reset to its value in the first view; how a reader came to it is forgotten."""
        view = replace(view, scene=replace(view.scene, chosen=None)) if view.scene.chosen else view
        view = self.sets.settled(view) if self.sets else view
        hidden = [setting.name for setting in self.page.settings if not setting.applies(view)]
        settings = {**view.settings, **{name: self.start.settings[name] for name in hidden}}
        has_tensor = any(SIZES in group for row in self.page.rows(view) for group in (*row.groups, *row.more))
        return replace(view, settings=settings, scene=view.scene if has_tensor else self.start.scene)

    def _has(self, shown: Input) -> bool:
        widget = shown.widget
        if isinstance(widget, Number) and not shown.key.startswith(SIZE):  # a page's own, with many values
            return False
        if isinstance(widget, TextField) or (isinstance(widget, Slider) and widget.typed):  # too many values for a file
            return bool(self._few_values(shown))
        if shown.key == "layer":  # any text
            return False
        if shown.key == "set":
            return self.sets is None or self.sets.has_ready_sets
        in_layer = shown.key in (*FILE_ARGUMENTS, *FILE_SWITCHES)
        return not shown.disabled and not (in_layer and self.given)

    def _has_in_more(self, shown: Input) -> bool:
        known = shown.key in (*FILE_SWITCHES, *TENSOR) or self.page.setting(shown.key.removeprefix("set_"))
        return bool(known) and self._has(shown)

    def _of_file(self, shown: Input, view: View) -> Input:
        """The input with the file's options."""
        if shown.key == "layout":
            found = {one.scene.layout for one in (view, *self.starts)}
            layouts = sorted(found, key=lambda each: (len(each), each))
            return replace(shown, widget=Segments({each: layout_axes(each) for each in layouts}), edit=self._to_layout)
        if isinstance(shown.widget, Number):
            axis = _axis_of(shown, view)
            return replace(shown, edit=lambda one, size: self._to_size(one, axis, size))
        if shown.key == "set":
            return replace(shown, edit=lambda one, key: self.start if key == OWN_SET else shown.edit(self.start, key))
        if shown.key == "family":
            return self._layers(shown, view)
        if isinstance(shown.widget, Several):
            return self._several(shown, view)
        return self._of_few(shown) if self._few_values(shown) else shown

    def _few_values(self, shown: Input) -> Sequence[Any]:
        """The few values that a file offers of a setting with too many."""
        setting = self.page.setting(shown.key.removeprefix("set_"))
        return setting.in_file if setting else ()

    def _of_few(self, shown: Input) -> Input:
        """The input with the few values that the file offers, and its own; its label has no limits."""
        setting, widget = self.page.setting(shown.key.removeprefix("set_")), shown.widget
        assert setting
        few: Slider | Choice = Choice({each: each for each in (*setting.in_file, shown.value)})
        if isinstance(widget, Slider) and not widget.typed:
            few = Slider({each: widget.options[each] for each in sorted({*setting.in_file, shown.value})})
        return replace(shown, label=_(setting.label), widget=few)

    def _layers(self, shown: Input, view: View) -> Input:
        """The control of the layer: the file's own list of layers, or all without the patterns that a reader types."""
        if not self.given:
            listed = [family for family in families_for(view.scene) if family != PATTERN_FAMILY]
            listed += [shown.value] if shown.value not in listed else []
            return replace(shown, widget=Choice({family: _name(family, view) for family in listed}), width=168)
        shape = view.scene.shape
        fitted = {number: views[shape] for number, views in enumerate(self.given) if shape in views}
        labels = {number: str(one.scene.layer) for number, one in fitted.items()}
        now = next(number for number, one in fitted.items() if one.scene.layer == view.scene.layer)

        def edit(one: View, number: int) -> View:
            return one.with_scene(with_fields(one.scene, layer=fitted[number].scene.layer))

        return replace(shown, value=now, widget=Choice(labels), edit=edit, width=None)

    def _several(self, shown: Input, view: View) -> Input:
        """The layers that the file offers on the view's tensor."""
        assert self.sets
        options, most = self.sets.layers(view), self.sets.most(view)
        return replace(
            shown,
            label=_("Layers ({fewest} to {most})", fewest=FEWEST, most=most),
            value=tuple(one for one in options if one in shown.value),
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


def _axis_of(shown: Input, view: View) -> int:
    """The position of the axis whose size an input shows."""
    return view.scene.axes.index(shown.key.removeprefix(SIZE))
