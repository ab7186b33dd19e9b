"""The views that a reader of a file can choose, computed by torch when the file is made.

From the first view of each tensor, the options of some controls are followed until no new view is found. A view is computed and stored
once, whatever leads to it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

from normviz.export.playable_controls import MOST_ELEMENTS, MOST_VIEWS, TENSOR, FileControls, Shape
from normviz.figures.wire import Json, Payload, left_out, sent
from normviz.layers.catalogue import families_with_button
from normviz.lessons.events import after, entering
from normviz.lessons.explore.page import hides_toggles
from normviz.lessons.page import InputData, InputRow, Page, RowData, input_data
from normviz.lessons.pages import PageView, page_view
from normviz.parts.containers import visible_parts
from normviz.parts.html import Body, FigureData
from normviz.scene.controls import Input, family_of
from normviz.scene.edits import Reading
from normviz.scene.scene import FIELD_NAMES, SCENE_SETTINGS
from normviz.scene.setting import Choice, Number, Segments, Several, Slider
from normviz.scene.toggles import toggle_rows, with_toggle_of_file
from normviz.scene.view import NOT_PRESENTED, Display, View
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _, ngettext

Key = tuple[tuple[str, str], ...]
Press = tuple[str, str, int]  # the row, the axis and the direction of a toggle


@dataclass(frozen=True)
class PlayableView:
    """A view of a file.

    rows  its inputs, as a file has them, with the values that lead to a view
    ways  input key -> value -> key of the next view
    toggles  (row, axis, by) of a toggle in the title of a panel -> key of the next view
    """

    shown: PageView
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
        return (shown for row in self.rows for shown in row.all_inputs)

    def options(self, shown: Input) -> dict[Any, FollowedView]:
        """Each value of an input, and the view after it; values that give an error are left out."""
        if shown.key not in self._options:
            self._options[shown.key] = dict(self._followed(shown))
        return self._options[shown.key]

    def _followed(self, shown: Input) -> Iterator[tuple[Any, FollowedView]]:
        file = self.file
        for value in file.values(shown, self.view):
            following = file.settled(after(file.page, self.view, entering(shown, value)))
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
            shown.key: {value: to.key for value, to in one.options(shown).items() if to.key in found}
            for shown in one.inputs
        }
        made = page_view(one.file.page, one.view, one.page_rows)
        if one.key in self.toggled:
            made = replace(made, parts=visible_parts(made.parts, Display(hide=NAMED_ONLY)))
        toggles = {press: to.key for press, to in one.presses.items() if to.key in found}
        return PlayableView(made, [_playable_row(row, ways) for row in one.rows], ways, toggles)

    def labels_left_out(self) -> list[str]:
        """The labels of the inputs that the views would have, but whose options are left out."""
        inputs = (shown for one in self.views.values() for shown in one.inputs)
        return list(dict.fromkeys(shown.label for shown in inputs if shown.key in self.left_out))


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
        more = found | _reachable(file, {*keys, *(TENSOR if shapes else ())}, found)
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


def _reachable(file: FileControls, keys: set[str], known: Mapping[Key, FollowedView]) -> dict[Key, FollowedView]:
    """The views that the controls ``keys`` lead to. The search ends when it has more than MOST_VIEWS."""
    found: dict[Key, FollowedView] = {}
    waiting = deque(FollowedView(file, view) for view in (file.starts[0], *map(file.settled, file.starts[1:])))
    while waiting and len(found) <= MOST_VIEWS:
        one = waiting.popleft()
        if one.key not in found:
            one = found[one.key] = known.get(one.key, one)
            for shown in one.inputs:
                if shown.key in keys:
                    waiting.extend(one.options(shown).values())
    return found


def _toggled(file: FileControls, found: Mapping[Key, FollowedView]) -> dict[Key, FollowedView]:
    """The views that the toggles lead to from layers with a button, besides those found: on each tensor of the file for which there is room."""
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
        return [one for one in inputs if len(ways[one.key]) > 1 or one.key in TENSOR[1:]]

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
PRESENTED = Display(present=True)
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

    version      of this format
    page         the name of the page
    app          the address of the app, or ""
    unpresented  the names of the panels that a projector does not show
    common       the settings that are the same in all views that have them, defaults too
    present      the file is for a projector
    views        each a FileView whose long values are ``{"$": number}``
    pool         the long values
    """

    version: int
    page: str
    app: str
    unpresented: Sequence[str] = left_out(())
    common: dict[str, str]
    present: bool = left_out(False)
    views: list[dict[str, Json]]
    pool: list[Json]


def views_data(
    page: Page, found: Mapping[Key, PlayableView], app: str, pages: Mapping[str, str] | None = None
) -> FileViews:
    """The views as the browser reads them. ``pages``: the addresses of pages next to the file, by their link in the app."""
    numbers = {key: number for number, key in enumerate(found)}
    states = [_state(page, one.shown.view) for one in found.values()]
    common = dict(item for state in states for item in state.items())
    common = {each: text for each, text in common.items() if all(one.get(each, text) == text for one in states)}
    pool = Pool()
    views = []
    for one, state in zip(found.values(), states, strict=True):
        body = Body(app=app or None, pages=pages or {})
        parts = body.keyed(one.shown.parts)
        view = FileView(
            title=page.share_title(one.shown.view),
            query={each: text for each, text in one.shown.query.items() if each not in SELECTED},
            state={each: text for each, text in state.items() if each not in common},
            rows=[_row(row, one, numbers) for row in one.rows if row.inputs or any(row.more)],
            parts=parts,
            presented=[n for n, part in enumerate(one.shown.parts) if visible_parts([part], PRESENTED)],
            figures=body.figures,
            toggles={" ".join(map(str, press)): numbers[key] for press, key in one.toggles.items()},
        )
        views.append({each: pool.pack(value) for each, value in sent(view).items()})
    return FileViews(
        version=VERSION,
        page=page.name,
        app=app,
        unpresented=sorted(NOT_PRESENTED),
        common=common,
        views=views,
        pool=pool.values,
    )


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
        return [_input(shown, one.ways[shown.key], numbers) for shown in found]

    note = row.note if row.more and row.note else None
    return RowData(key=row.key, inputs=inputs(row.inputs), more=list(map(inputs, row.more)), note=note, reset=row.reset)


def _input(shown: Input, options: Mapping[Any, Key], numbers: Mapping[Key, int]) -> InputData:
    """The input with the values that lead to a view, and the numbers of the views that they lead to."""
    data = replace(input_data(shown), to=[numbers[key] for key in options.values()])
    if isinstance(shown.widget, Choice | Segments | Slider):
        labels = [shown.widget.options[value] for value in options]
        return replace(data, value=list(options).index(shown.value), options=labels)
    if isinstance(shown.widget, Several):  # each value as the bits of its options
        places = {option: 2**place for place, option in enumerate(shown.widget.options)}
        return replace(data, values=[sum(map(places.__getitem__, value)) for value in options], closed=True)
    if isinstance(shown.widget, Number):
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
        if isinstance(value, dict):
            value = {name: self.pack(one) for name, one in value.items()}
        elif isinstance(value, list):
            value = [self.pack(one) for one in value]
        text = json.dumps(value)
        if len(text) <= LONG:
            return value
        if text not in self._numbers:
            self._numbers[text] = len(self.values)
            self.values.append(value)
        return {"$": self._numbers[text]}
