"""The views that a reader of a file can choose, computed by torch when the file is made.

From the first view of each tensor, the options of some controls are followed until no new view is found. A view is computed and stored
once, whatever leads to it.
"""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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


@dataclass(frozen=True)
class Search:
    """The views of a file, before their parts are computed.

    left_out  the keys of inputs whose options would be too many
    toggled   the views that only toggles lead to
    presses   what the toggles of some of the views lead to, as the search found it
    """

    file: FileControls
    views: Mapping[Key, View]
    left_out: frozenset[str]
    toggled: Mapping[Key, View] = field(default_factory=dict)
    presses: Mapping[Key, Mapping[Press, View]] = field(default_factory=dict)

    def playable_views(self) -> dict[Key, PlayableView]:
        found = {**self.views, **self.toggled}
        return {key: self._playable_view(key, found) for key in found}

    def _playable_view(self, key: Key, found: Mapping[Key, View]) -> PlayableView:
        file, view = self.file, found[key]
        page_rows = file.page.input_rows(view)
        rows = file.rows(view, page_rows)
        ways = {}
        for shown in (one for row in rows for one in row.all_inputs):
            options = {value: key_of(file.page, following) for value, following in _options(file, view, shown)}
            ways[shown.key] = {value: to for value, to in options.items() if to in found}
        presses = self.presses[key] if key in self.presses else _presses(file, view)
        toggles = {press: key_of(file.page, following) for press, following in presses.items()}
        made = page_view(file.page, view, page_rows)
        if key in self.toggled:
            made = replace(made, parts=visible_parts(made.parts, Display(hide=NAMED_ONLY)))
        kept = {press: to for press, to in toggles.items() if to in found}
        return PlayableView(made, [_playable_row(row, ways) for row in rows], ways, kept)

    def labels_left_out(self) -> list[str]:
        """The labels of the inputs that the views would have, but whose options are left out."""
        shown = (one for view in self.views.values() for row in _rows(self.file, view) for one in row.all_inputs)
        return list(dict.fromkeys(one.label for one in shown if one.key in self.left_out))


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
    found: dict[Key, View] = {}
    followed: set[str] = set()
    left_out: set[str] = set()
    for keys in page.file_choices[: 1 if few else None]:
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
    toggled, presses = ({}, {}) if few or layers else _toggled(file, found)
    return Search(file, found, frozenset(left_out - followed), toggled, presses)


def key_of(page: Page, view: View) -> Key:
    """What identifies a view in a file: its query without what a reader changes in the figure."""
    query = view.query(page.settings)
    return tuple(sorted((setting, text) for setting, text in query.items() if setting not in SELECTED))


def _reachable(file: FileControls, keys: set[str]) -> dict[Key, View]:
    """The views that the controls ``keys`` lead to. The search ends when it has more than MOST_VIEWS."""
    found: dict[Key, View] = {}
    waiting = deque([file.starts[0], *map(file.settled, file.starts[1:])])
    while waiting and len(found) <= MOST_VIEWS:
        view = waiting.popleft()
        key = key_of(file.page, view)
        if key not in found:
            found[key] = view
            for row in _rows(file, view):
                for shown in row.all_inputs:
                    if shown.key in keys:
                        waiting.extend(following for _value, following in _options(file, view, shown))
    return found


def _rows(file: FileControls, view: View) -> list[InputRow]:
    return file.rows(view, file.page.input_rows(view))


def _options(file: FileControls, view: View, shown: Input) -> Iterator[tuple[Any, View]]:
    """Each value of an input, and the view after it; values that give an error are left out."""
    for value in file.values(shown, view):
        following = file.settled(after(file.page, view, entering(shown, value)))
        if not file.page.problem(following):
            yield value, following


def _toggled(file: FileControls, found: Mapping[Key, View]) -> tuple[dict[Key, View], dict[Key, dict[Press, View]]]:
    """The views that the toggles lead to from layers with a button, besides those found: on each tensor of the file for which there is room.

    Also returns what each press leads to.
    """
    with_button, toggled = families_with_button(), dict[Key, View]()
    presses: dict[Key, dict[Press, View]] = {}
    for start in file.starts:
        shape, more = start.scene.shape, dict[Key, View]()
        on_shape = [one for one in found.values() if one.scene.shape == shape]
        waiting = deque(one for one in on_shape if family_of(one.scene) in with_button)
        most = min(MOST_TOGGLED, MOST_TOGGLED_ELEMENTS // prod(shape)) - len(toggled)
        while waiting and len(more) <= most:
            view = waiting.popleft()
            leads = presses[key_of(file.page, view)] = _presses(file, view)
            for following in leads.values():
                key = key_of(file.page, following)
                if key not in found and key not in more:
                    more[key] = following
                    waiting.append(following)
        toggled |= more if len(more) <= most else {}
    return toggled, presses


def _presses(file: FileControls, view: View) -> dict[Press, View]:
    """What each toggle leads to, if a file may have it."""
    presses: dict[Press, View] = {}
    if not file.page.in_toggles or hides_toggles(view):
        return presses
    for row, found in toggle_rows(view.scene).items():
        for one in () if found.rest else found.toggles:
            for by in (-1, 1) if one.groups else (1,):
                if after := with_toggle_of_file(view.scene, row, one.axis, by):
                    presses[row, one.axis, by] = file.settled(view.with_scene(Reading(after)))
    return presses


def _playable_row(row: InputRow, ways: Mapping[str, Mapping[Any, Key]]) -> InputRow:
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
