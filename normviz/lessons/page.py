"""A page of the app as one value, and the rows of controls above it, as data without a user interface.

Each page has a file of its own, in which this value is ``PAGE``; ``normviz.lessons.pages`` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal
from urllib.parse import parse_qsl

from normviz.figures.payload import ViewPayload
from normviz.figures.wire import Payload, left_out
from normviz.layers.layer import Layer
from normviz.lessons.tours import stop_shown
from normviz.parts.part import Link, Note, Panels, Part, visible_parts
from normviz.parts.titles import HOME, VIEWS
from normviz.scene import controls
from normviz.scene.scene import PARAMS, SCENE_SETTINGS, SEED
from normviz.scene.setting import (
    Choice,
    Number,
    Segments,
    Setting,
    Several,
    Slider,
    TextField,
    Where,
    choice,
    parse_given,
    read_settings,
    without_effect,
)
from normviz.scene.view import Display, Names, View, read_view
from normviz.texts.errors import encodable, listed
from normviz.texts.messages import ENGLISH, N_, _, language

MORE = "more"
Spacing = Literal["xsmall", "small", "medium"]


@dataclass(frozen=True)
class InputRow:
    """The inputs of a row that a view shows: those that apply and are not hidden; otherwise like ControlRow.

    note   a line below the last column behind the button More, or ""
    names  of the row's controls in ``hide=``, hidden ones too
    """

    key: str
    gap: Spacing
    groups: Sequence[Sequence[controls.Input]]
    more: Sequence[Sequence[controls.Input]]
    note: str
    reset: bool
    names: frozenset[str]

    @property
    def inputs(self) -> list[controls.Input]:
        """Its inputs without those behind the button More."""
        return [field for group in self.groups for field in group]

    @property
    def all_inputs(self) -> list[controls.Input]:
        """Its inputs, and those behind the button More."""
        return [*self.inputs, *(field for column in self.more for field in column)]


@dataclass(frozen=True)
class ControlRow:
    """Controls side by side.

    key     identifies the row in the page's styles
    groups  controls that mostly change together: the app draws a group again if one of them changes
    gap     the space between the controls
    more    columns of controls behind the button More
    note    a function from a view to the line below the last of these columns
    reset   whether the row ends with the button "Back to the start"
    """

    key: str
    groups: Sequence[Sequence[controls.Control | Setting]]
    gap: Spacing = "small"
    more: Sequence[Sequence[controls.Control | Setting]] = ()
    note: Callable[[View], str] = lambda _view: ""
    reset: bool = False

    def of(self, view: View) -> InputRow:
        """The inputs of the row in a view."""
        names = {"reset"} if self.reset else set()
        hides = view.display.hides

        def inputs(group: Iterable[controls.Control | Setting]) -> list[controls.Input]:
            found: list[controls.Input] = []
            for control in group:
                made = controls.inputs_of(control, view)
                names.update({control.hidden_by} if made else ())
                found += () if hides(control.hidden_by) else [one.showing(view.refused) for one in made]
            return found

        own, more = ([inputs(each) for each in place] for place in (self.groups, self.more))
        names |= {MORE} if any(more) else set()
        behind_more = more if any(more) and not hides(MORE) else []
        note = self.note(view) if behind_more else ""
        return InputRow(self.key, self.gap, own, behind_more, note, self.reset and not hides("reset"), frozenset(names))


def _why_no_mode(view: View) -> str:
    if (
        view.display.hides(controls.EPS.hidden_by)
        or not isinstance(view.scene.layer, Layer)
        or controls.MODE.inputs(view)
    ):
        return ""
    return _("train() and eval() do the same for this layer.")


SCENE_ROWS = (
    ControlRow(
        "controls",
        ((controls.TENSOR, controls.SIZES), (controls.NAMES, controls.ARGUMENTS)),
        "xsmall",
        more=((controls.LAYER, controls.PATTERN, *controls.MORE_ABOUT_X), controls.MORE_ABOUT_LAYER),
        note=_why_no_mode,
        reset=True,
    ),
)


@dataclass(frozen=True, kw_only=True)
class InputData(Payload):
    """One input of the control bar.

    value        the number of the chosen option, or the value itself
    options      the text of each option
    typed        another text than the options can be typed
    together     the keys of the inputs that change with it
    to           in a file: the number of the view that each value leads to
    values       in a file: the values that can be chosen; of several texts: the sum of 2 to the power of the number of each option
    closed       in a file: no text can be typed
    why          it is disabled
    """

    key: str
    label: str
    kind: str
    value: object
    help: str = left_out("")
    disabled: bool = left_out(False)
    options: Sequence[str] | None = left_out(None)
    typed: bool = left_out(False)
    most: int | None = left_out(None)
    placeholder: str | None = left_out(None)
    low: float | None = left_out(None)
    high: float | None = left_out(None)
    together: Sequence[str] = left_out(())
    to: Sequence[int] | None = left_out(None)
    values: Sequence[float] | None = left_out(None)
    closed: bool = left_out(False)
    why: str = left_out("")


@dataclass(frozen=True, kw_only=True)
class RowData(Payload):
    """A row of the control bar.

    more  columns behind the button More
    note  a line below the last of these columns
    """

    key: str
    inputs: list[InputData]
    more: list[list[InputData]]
    note: str | None = left_out(None)
    reset: bool


def rows_data(rows: Sequence[InputRow]) -> list[RowData]:
    """The rows as the control bar draws them."""
    return [
        RowData(
            key=row.key,
            inputs=list(map(input_data, row.inputs)),
            more=[list(map(input_data, column)) for column in row.more],
            note=row.note,
            reset=row.reset,
        )
        for row in rows
    ]


def input_data(field: controls.Input) -> InputData:
    """An input for the browser, where an option is known by its number in the list."""
    widget = field.widget
    data = InputData(
        key=field.key,
        label=field.label,
        kind=type(widget).__name__.lower(),
        value=field.value,
        help=field.help or "",
        disabled=field.disabled,
        together=field.together,
    )
    if isinstance(widget, Choice | Segments | Slider):
        number, options = list(widget.options).index(field.value), list(widget.options.values())
        return replace(data, value=number, options=options, typed=isinstance(widget, Choice) and widget.accept_new)
    if isinstance(widget, Several):
        return replace(data, options=list(widget.options), most=widget.most)
    if isinstance(widget, Number):
        return replace(data, low=widget.low, high=widget.high)
    if isinstance(widget, TextField):
        return replace(data, most=widget.max_chars, placeholder=widget.placeholder)
    return data


def entered(field: controls.Input, value: Any) -> Any:
    """The value of an input from what the control bar sends: the option of its number, else the value itself."""
    value = encodable(value) if isinstance(value, str) else value
    if isinstance(field.widget, Choice) and field.widget.accept_new and isinstance(value, str):
        return value
    if isinstance(field.widget, Choice | Segments | Slider):
        return list(field.widget.options)[value]
    if isinstance(field.widget, TextField) and not isinstance(value, str):
        raise TypeError(f"{field.key} takes a text")
    return tuple(value) if isinstance(value, list) else value


# The page and its experiments

OF_TENSOR = tuple(dict.fromkeys(("layer", "x", *SCENE_SETTINGS)))  # what a caller gives for a view of a layer on x
GAMMA_AND_BETA = (PARAMS.name, "gamma", "beta")


@dataclass(frozen=True, eq=False)
class Experiment:
    """One of several things that a page shows.

    name, label  its value of the setting ``show``, and its title, as a message
    parts        the parts of a view
    asks         the key of the question with which a view ends
    settings     that the page has for this experiment, and perhaps for others
    needs        what a view shows: "tensor", the reader's layer on x; "seed", random numbers of its own; "", neither
    draws        whether a view that shows the reader's layer on x draws random numbers, besides those of x
    ignores      the settings of the scene without which a view is the same
    """

    name: str
    label: str
    parts: Callable[[View], Iterable[Part]]
    asks: str
    settings: tuple[Setting, ...] = ()
    needs: Literal["tensor", "seed", ""] = "tensor"
    draws: Callable[[View], bool] = lambda _view: False
    ignores: tuple[str, ...] = ()


def settings_of(
    experiments: Sequence[Experiment], *others: Setting, example: str, default: str | None = None
) -> tuple[Setting, ...]:
    """The settings of a page with experiments: ``show``, which names one, those of the experiments, and the others.

    default  the experiment that a view shows without ``show``; by default the first

    >>> count = Setting("count", 2, int)
    >>> show, count = settings_of([Experiment("a", "", list, ""), Experiment("b", "", list, "", (count,))], example="b")
    >>> show.default, count.applies
    ('a', Where(name='show', values=('b',)))
    """
    labels = {one.name: one.label for one in experiments}
    show = choice("show", labels, default, label=N_("Experiment"), example=example, hide="experiment")
    own = {setting.name: setting for one in experiments for setting in one.settings}
    places = {name: tuple(one.name for one in experiments if setting in one.settings) for name, setting in own.items()}
    return show, *(replace(setting, applies=Where("show", places[name])) for name, setting in own.items()), *others


def shown_by(experiments: Sequence[Experiment]) -> Callable[[View], Iterable[Part]]:
    """The parts of a view: those of its experiment."""
    by_name = {one.name: one for one in experiments}
    return lambda view: by_name[view.settings["show"]].parts(view)


def in_files(settings: Iterable[Setting]) -> tuple[str, ...]:
    """The controls of these settings that a file has, by key: those with few values, or with a few that a file offers."""
    return tuple(
        setting.key
        for setting in settings
        if setting.in_file or (setting.widget and not setting.is_typed and not isinstance(setting.widget, Number))
    )


@dataclass(frozen=True)
class Plan:
    """The lesson plan of a page.

    goal     what students can do afterwards, as a message
    minutes  for the page
    keys     of the question to ask first, which has options, and of two for the class; after "|", of one for a torch that cannot answer the first
    """

    goal: str
    minutes: int
    keys: tuple[str, str, str]


@dataclass(frozen=True, eq=False, repr=False)
class Page:
    """A page of the app. Its methods say what most pages do; a page that does otherwise has a class of its own: ``class ComparePage(Page)``.

    name           in addresses; also of its file in ``pages/``
    label, about   its title, and what it shows, in one line, as messages
    parts          the parts of a view
    settings       its own settings, added to the settings of the scene
    experiments    what its setting ``show`` chooses from, if it has several experiments
    rows           the rows of controls of a view
    group          of pages in the header, as a message; "" if the page is not there
    uses           what its views show of the scene: a layer on a tensor that the reader chooses, the scene without a tensor, or the seed
    start          the query of the view with which the page opens; empty for the default values of all settings
    other_views    links to other views, before the figure: another layout, a small look-alike
    call           the call of the same function on an x of the reader's own; "" if the page is not a function of x
    in_first_html  whether the first HTML has its text, which is read before any script has run
    file_choices   the controls whose options a file has, by key. If they lead to too many views, the later groups are left out.
    plan           its lesson plan, for teachers; None for a page that has none
    """

    name: str
    label: str
    about: str
    parts: Callable[[View], Iterable[Part]]
    settings: tuple[Setting, ...] = ()
    experiments: tuple[Experiment, ...] = ()
    rows: Callable[[View], Sequence[ControlRow]] = lambda _view: SCENE_ROWS
    group: str = ""
    uses: Literal["tensor", "scene", "seed", "nothing"] = "tensor"
    start: Mapping[str, str] = field(default_factory=dict)
    other_views: Callable[[Page, View], Iterable[Part]] = lambda _page, _view: ()
    call: Callable[[View], str] = lambda _view: ""
    in_first_html: bool = False
    file_choices: tuple[tuple[str, ...], ...] = ()
    plan: Plan | None = None

    # The scene's layer is shown, so that a layer shown instead of a refused one is named.
    shows_layer: ClassVar[bool] = True
    # Share offers the two panels alone.
    has_two_panels: ClassVar[bool] = False
    # The keys of inputs that the app does not show, because the toggles of the panels stand for them.
    in_toggles: ClassVar[tuple[str, ...]] = ()
    # The keys of the questions of the page, if none is shown on it.
    answers: ClassVar[tuple[str, ...]] = ()

    # What a view is

    def opening(self, view: View) -> View:
        """A view whose link names no layer, with the layer that the page chooses."""
        return view

    def settled(self, view: View) -> View:
        """The view with what it shows written in its settings, for a link that is kept."""
        return view

    def after_tensor(self, before: View, after: View) -> View:
        """The view after a change of the tensor, from the views before and after: what else changes with it."""
        return after

    def problem(self, view: View) -> str | None:
        """The first error in the link of a view, if any."""
        return view.problem

    def asks(self, view: View) -> str:
        """The key of the question with which a view ends; "": one about the view's layers."""
        experiment = self.experiment(view.settings)
        return experiment.asks if experiment else ""

    def is_exercise(self, view: View) -> bool:
        """Whether a view is a question or a set of exercises; answers of the reader are then added to what is shared."""
        return False

    # What is said of a view

    def summary(self, view: View) -> str:
        """What the controls have chosen, in a few words. On a narrow screen these words stand in place of the controls."""
        rows = self.rows(view)
        if self.uses == "tensor" and any(controls.LAYER in group for row in rows for group in (*row.groups, *row.more)):
            return _("{layer} on {shape}", layer=view.scene.layer, shape=view.scene.shape)
        inputs = (one for row in rows if row.key for group in row.groups for one in group)
        return " \u00b7 ".join(
            one.chosen(view.settings[one.name])
            for one in inputs
            if isinstance(one, Setting) and one.widget and one.applies(view)
        )

    def share_title(self, view: View) -> str:
        """What a view shows, in one line: the title of an iframe."""
        experiment = self.experiment(view.settings)
        title = f"{self.title}: {_(experiment.label)}" if experiment else self.title
        return title_on_tensor(title, str(view.scene.layer), view) if self.call(view) else title

    def file_title(self, view: View) -> str:
        """What the title of a file says besides the page."""
        e = view.scene.shape_description
        return _("{layer} on {shape}", layer=e.title, shape=e.shape) if self.uses == "tensor" else ""

    def data(self, view: View) -> dict[str, str]:
        """What the browser gets besides the parts."""
        return {}

    def __repr__(self) -> str:
        return f"<page {self.name}>"

    @property
    def title(self) -> str:
        return _(self.label)

    @property
    def purpose(self) -> str:
        return _(self.about)

    @property
    def is_listed(self) -> bool:
        """Whether lists of pages name this page: of the views of one tensor they name only the first, which has the others as tabs."""
        return bool(self.group) and self.name not in VIEWS[1:]

    @property
    def heading(self) -> tuple[str, str]:
        """What stands above the page, and what follows it in small type."""
        return self.title, self.purpose

    def setting(self, name: str) -> Setting | None:
        """The page's setting of this name, if there is one."""
        return next((one for one in self.settings if one.name == name), None)

    def parse(self, given: Mapping[str, object]) -> dict[str, Any]:
        """The page's settings. Raises NormvizError for an unknown name or an invalid value."""
        return parse_given(self.settings, given)

    def view(self, query: Mapping[str, str] | str, known: Names | None = None) -> View:
        """The view that a query asks for; the view with which the page opens, if the query names no setting.

        known  the names that links of all pages may have, as ``pages.view_of_link`` knows them; without them, no name is a mistake
        """
        given = dict(parse_qsl(query)) if isinstance(query, str) else dict(query)
        if not self.names_something(given):
            given = {**self._start_of(given), **given}
        view = read_view(given, self.settings, known)
        return view if "layer" in given else self.opening(view)

    def _start_of(self, given: Mapping[str, str]) -> Mapping[str, str]:
        """The query of the view with which the page opens, at a stop of a tour that of the stop."""
        stop = stop_shown(given)
        return dict(parse_qsl(stop.query)) if stop and stop.page == self.name else self.start

    def query(self, view: View) -> dict[str, str]:
        """The query that reads back as the view. It is empty only if that is the view with which the page opens.

        That of the front page has only a language, because its address with a view is one of Explore.
        """
        if self.name == HOME:
            return Display(lang=view.display.lang).query()
        written = view.query(self.settings)
        if self.start and not self.names_something(written):
            written = self._settings_of_start(view) | written
        is_opened = bool(self.start or view.display.tour) and not self.names_something(written)
        has_other_layer = "layer" not in written and self.opening(view).scene != view.scene
        if not (is_opened or has_other_layer):
            return written
        return (self._seed_query(view) if self.uses == "seed" else view.whole_scene_query()) | written

    def _settings_of_start(self, view: View) -> dict[str, str]:
        """What a query says of the settings that the page opens with, so that it does not read back as that view."""
        return {
            setting.name: setting.format(view.settings[setting.name])
            for setting in self.settings
            if setting.name in self.start and view.settings[setting.name] not in ("", (), None)
        }

    def own_settings(self, query: Mapping[str, str]) -> dict[str, Any]:
        """The page's settings in a query, for a view that keeps its scene. A page without a tensor opens as if it were entered anew."""
        given = query if self._shows_scene or self.names_something(query) else {**self.start, **query}
        return read_settings(self.settings, given)[0]

    @property
    def _shows_scene(self) -> bool:
        return self.uses in ("tensor", "scene")

    def names_something(self, query: Mapping[str, str]) -> bool:
        """Whether a query names a setting of the page, or one of the scene that the page uses; in a tour, the selected element does not count."""
        of_scene = SCENE_SETTINGS if self._shows_scene else (SEED.name,) if self.uses == "seed" else ()
        names = {*of_scene, *(setting.name for setting in self.settings)}
        return not query.keys().isdisjoint(names - {"at"} if "tour" in query else names)

    def whole_query(self, view: View, names: Collection[str] | None = None) -> dict[str, str]:
        """The query of a view, defaults too, for a link that is kept: ``?shape=2,3,4,4&layer=LayerNorm([3,4,4])&...``.

        names  of the view's controls, if they are known
        """
        view = self.settled(view)
        own = {
            setting.name: setting.format(view.settings[setting.name])
            for setting in self.settings
            if setting.applies(view) and view.settings[setting.name] not in ("", (), None)
        }
        if self._shows_scene:
            shown = {name for row in self.input_rows(view) for name in row.names} if names is None else names
            has_tensor = controls.TENSOR.hidden_by in shown
            scene = view.whole_scene_query() if has_tensor else view.scene.query()
        else:
            scene = self._seed_query(view) if self.uses == "seed" else {}
        return scene | own | language_query() | view.shown_display.query()

    def _seed_query(self, view: View) -> dict[str, str]:
        return {SEED.name: SEED.format(view.scene.seed)}

    def input_rows(self, view: View) -> list[InputRow]:
        """The rows of inputs above a view."""
        return [row.of(view) for row in self.rows(view)]

    def app_rows(self, view: View) -> list[InputRow]:
        """The rows of inputs in the app: without those that the toggles stand for, if their panel is shown. The title of a tour has none."""
        rows = [] if view.display.tour and not view.display.stop else self.input_rows(view)
        if view.display.hides("panels") or view.display.hides("stats"):
            return rows
        return [
            replace(row, groups=[[one for one in group if one.key not in self.in_toggles] for group in row.groups])
            for row in rows
        ]

    def visible(self, view: View) -> list[Part]:
        """The parts of the view that its link does not hide, and its caption."""
        return visible_parts(self.parts(view), view.display)

    def answer_parts(self, query: str) -> list[Part]:
        """The parts that the answer to a question shows of a view: all of an experiment, else the figure. A click changes nothing else."""
        parts = self.parts(self.view(query))
        kept = [part for part in parts if self.experiments or isinstance(part, Panels | Note)]
        return [_for_answer(part) if isinstance(part, Panels) else part for part in kept]

    # What a view ignores of what a caller gives

    def experiment(self, settings: Mapping[str, object]) -> Experiment | None:
        """The experiment that these settings choose, if the page has experiments."""
        return next((one for one in self.experiments if one.name == settings["show"]), None)

    def on_tensor(self, settings: Mapping[str, object]) -> dict[str, Any]:
        """The settings that a caller gives with a layer or an x: without ``show``, they choose an experiment that shows them."""
        show = self.setting("show")
        shows = [one.name for one in self.experiments if one.needs == "tensor"]
        return {"show": shows[0], **settings} if show and shows and show.default not in shows else {**settings}

    def ignored(self, settings: Mapping[str, object], names: Collection[str]) -> str | None:
        """The message about the first of these arguments and settings that a view with these settings ignores, if there is one."""
        if problem := without_effect(self.settings, settings, names):
            return problem
        experiment, of_tensor = self.experiment(settings), [name for name in OF_TENSOR if name != SEED.name]
        given = [name for name in of_tensor if name in names]
        if given and experiment and self.uses == "tensor" and experiment.needs != "tensor":
            return _(
                "show={show} has batches of its own and does not use {names}; use show='modes', or leave {names} out.",
                show=repr(experiment.name),
                names=listed(given, "and"),
            )
        ignored = set() if self.uses == "tensor" else {*of_tensor}
        if experiment:
            ignored |= {*experiment.ignores} - (
                set() if "x" in names else {"layout"}
            )  # it chooses the axes of the example
            ignored |= set() if experiment.needs else {SEED.name}
        return next((self.no_effect(name, settings) for name in names if name in ignored), None)

    def no_effect(self, name: str, settings: Mapping[str, object], cause: str = "show") -> str:
        """The message about an argument that does nothing here, because of the setting ``cause``, if the page has that setting."""
        said = f"({cause}={settings[cause]!r})" if cause in settings else ""
        return _("{name} has no effect on {view}; leave it out.", name=name, view=self.name + said)

    def replaces_x(self, view: View) -> str:
        """The name of the setting that gives x other values than its own; "" if none does."""
        return ""

    def unused(self, view: View) -> tuple[str, ...]:
        """The settings of gamma and beta that a view of this layer does not use."""
        return ()

    def draws(self, view: View) -> bool:
        """Whether a view draws random numbers, besides those of x."""
        experiment = self.experiment(view.settings)
        return experiment is not None and (experiment.needs == "seed" or experiment.draws(view))


def title_on_tensor(title: str, layers: str, view: View) -> str:
    """The title of a view of layers on a tensor."""
    return _("{page}: {layer} on a {shape} tensor", page=title, layer=layers, shape=view.scene.shape)


def plan_of(page: str, text: str = "") -> Link:
    """The link to the lesson plan of a page, by the page's name."""
    return Link(text or _("Lesson plan for this page"), "teach", f"plan={page}")


def language_query() -> dict[str, str]:
    """The reader's language in a link. English is only written where the link names it, as for readers of other languages."""
    return {} if language.get() == ENGLISH else {"lang": language.get()}


def _for_answer(part: Panels) -> Panels:
    """The figure; between questions, there is no room for the distribution of Explore."""
    data = replace(part.data, moments=None) if isinstance(part.data, ViewPayload) else part.data
    return replace(part, events=(), data=data)
