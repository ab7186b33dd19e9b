"""The sets of layers that a file of the page Compare offers, within the size of a file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, zip_longest
from math import prod

from normviz.analysis.comparing.comparison import FEWEST, MOST, suggestions
from normviz.layers.layer import Layer
from normviz.lessons.figure_pages.compare.fit_layers import default_layers, fitting
from normviz.lessons.figure_pages.compare.page import layers_of
from normviz.lessons.figure_pages.compare.ready_sets import READY_SETS
from normviz.scene.view import View

MOST_VIEWS = 200
MOST_ELEMENTS = 400_000  # elements in all views together; each tensor has an equal share
FEW = 3  # up to this many layers, any combination is offered; larger ones only of the first six

Layers = tuple[str, ...]


class LayerSets:
    """The sets of layers on each tensor of a file.

    On a tensor of ``starts``: two or three of the layers that take it, as many layers as the size of a file allows, and up to six of the
    first six. On the tensor of a ready-made set: its layers, or some of them.

    given  only these layers and those that are compared first, fitted to each tensor, and no ready-made sets
    """

    def __init__(self, starts: Sequence[View], given: Sequence[str] = ()) -> None:
        self.has_ready_sets = not given
        self._sets: dict[tuple[tuple[int, ...], str], dict[Layers, None]] = {}
        self._first: dict[tuple[tuple[int, ...], str], Layers] = {}  # what is compared if the file does not offer a set
        tensors = {(view.scene.shape, view.scene.layout): view for view in starts}
        for ready in READY_SETS.values() if self.has_ready_sets else ():
            if (ready.shape, ready.layout) not in tensors:
                self._sets.setdefault((ready.shape, ready.layout), {}).update(dict.fromkeys(_choices(ready.layers)))
        views = (MOST_VIEWS - sum(map(len, self._sets.values()))) // len(tensors)
        for tensor, view in tensors.items():
            own = layers_of(view)[0]
            if given:
                self._first[tensor] = own
                self._sets[tensor] = dict.fromkeys(_choices(tuple(dict.fromkeys([*own, *fitting(given, view.scene)]))))
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
        """The view with those of its layers that the file offers, in order; with others if it does not offer the set."""
        now = set(layers_of(view)[0]).intersection(self.layers(view))
        first = self._first.get((view.scene.shape, view.scene.layout), ())
        found = next((chosen for chosen in self._of(view) if set(chosen) == now), first)
        return view.with_settings(layers=() if found == default_layers(view.scene) else found)

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
