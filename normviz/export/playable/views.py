"""The views that a reader of a file can choose, computed by torch when the file is made.

From the first view of each tensor, the options of some controls are followed until no new view is found. A view is computed and stored
once, whatever leads to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from normviz.export.playable.file_controls import LAYER, SWITCHES, TENSOR, FileControls, Shape
from normviz.export.playable.layer_sets import MOST_ELEMENTS, MOST_VIEWS
from normviz.layers.errors import NormvizError
from normviz.layers.messages import ngettext
from normviz.lessons.page.controls import InputRow
from normviz.lessons.page.pages import PAGES, Page, page
from normviz.scene.controls.control import Input
from normviz.scene.view import View

# The controls whose options a file has, by page. If a grid has too many views, those after it are left out.
GRIDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "explore": (LAYER, (*LAYER, *SWITCHES)),
    "step_by_step": (LAYER, (*LAYER, *SWITCHES)),
    "compare": (("set",), ("set", "layers")),
    "train_and_eval": (
        ("show", "family"),
        ("show", "set_batch_size", "set_momentum", "set_count", "set_longest", "set_devices", "set_drift"),
    ),
    "gradients": (("show", *LAYER), ("show", "input")),
    "models": (("model", "mark"),),
    "numerics": (("show", "dtype", "set_distance", "set_spread", "set_value", "set_scale", "set_eps"),),
}
Key = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class PlayableView:
    """A view of a file.

    rows  its inputs, as a file has them, with the values that lead to a view
    ways  input key -> value -> key of the next view
    """

    page: Page
    rows: Sequence[InputRow]
    ways: Mapping[str, Mapping[Any, Key]]


@dataclass(frozen=True)
class Search:
    """The views of a file, before their parts are computed.

    left_out  the keys of inputs whose options would be too many
    """

    file: FileControls
    views: Mapping[Key, View]
    left_out: frozenset[str]

    def playable_views(self) -> dict[Key, PlayableView]:
        return {key: _playable_view(self.file, view, self.views) for key, view in self.views.items()}

    def labels_left_out(self) -> list[str]:
        """The labels of the inputs that the views would have, but whose options are left out."""
        shown = (one for view in self.views.values() for row in self.file.rows(view) for one in row.all_inputs)
        return list(dict.fromkeys(one.label for one in shown if one.key in self.left_out))


def search(
    name: str, start: View, shapes: Sequence[Shape] = (), layers: Sequence[str] = (), few: bool = False
) -> Search:
    """The views that can be reached from ``start``, which is the first.

    shapes  other tensors that the reader can choose
    layers  only these layers; by default every layer that takes the tensor
    few     only the first controls of the page's grids, because the reader waits for the file

    Raises NormvizError if a layer does not take the tensor, and if there are too many views.
    """
    file = FileControls(name, start, shapes, layers)
    found: dict[Key, View] = {}
    followed: set[str] = set()
    left_out: set[str] = set()
    for keys in GRIDS[name][: 1 if few else None]:
        more = found | _reachable(file, {*keys, *(TENSOR if shapes else ())})
        size = sum(prod(view.scene.shape) for view in more.values())
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
    return Search(file, found, frozenset(left_out - followed))


def key_of(name: str, view: View) -> Key:
    """What identifies a view in a file: its query without the selected element and the step."""
    query = view.query(PAGES[name].settings)
    return tuple(sorted((setting, text) for setting, text in query.items() if setting not in ("at", "step")))


def _reachable(file: FileControls, keys: set[str]) -> dict[Key, View]:
    """The views that the controls ``keys`` lead to. The search ends when it has more than MOST_VIEWS."""
    found: dict[Key, View] = {}
    waiting = deque([file.starts[0], *map(file.settled, file.starts[1:])])
    while waiting and len(found) <= MOST_VIEWS:
        view = waiting.popleft()
        key = key_of(file.page, view)
        if key not in found:
            found[key] = view
            for row in file.rows(view):
                for shown in row.all_inputs:
                    if shown.key in keys:
                        waiting.extend(following for _value, following in _options(file, view, shown))
    return found


def _options(file: FileControls, view: View, shown: Input) -> Iterator[tuple[Any, View]]:
    """Each value of an input, and the view after it; values that give an error are left out."""
    for value in file.values(shown, view):
        following = file.settled(shown.changed(view, value))
        if not PAGES[file.page].problem(following):
            yield value, following


def _playable_view(file: FileControls, view: View, found: Mapping[Key, View]) -> PlayableView:
    rows = file.rows(view)
    ways = {}
    for shown in (one for row in rows for one in row.all_inputs):
        options = {value: key_of(file.page, following) for value, following in _options(file, view, shown)}
        ways[shown.key] = {value: key for value, key in options.items() if key in found}
    return PlayableView(page(file.page, view), [_playable_row(row, ways) for row in rows], ways)


def _playable_row(row: InputRow, ways: Mapping[str, Mapping[Any, Key]]) -> InputRow:
    """The inputs that lead to more than one view, and those for the sizes."""

    def kept(inputs: Iterable[Input]) -> list[Input]:
        return [one for one in inputs if len(ways[one.key]) > 1 or one.key in TENSOR[1:]]

    more = [column for column in map(kept, row.more) if column]
    return replace(row, groups=list(map(kept, row.groups)), more=more)
