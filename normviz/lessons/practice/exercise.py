"""One exercise: a row of the bank, its wrong answers as options, and its texts for the app, files and learning management systems."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from sys import float_info
from typing import Any

from normviz.analysis.sentences import axis_nouns
from normviz.figures.wire import Payload, left_out
from normviz.layers import sharing
from normviz.layers.axes import divisors
from normviz.lessons.explore.page import PAGE as EXPLORE_PAGE
from normviz.lessons.gradients.page import PAGE as GRADIENTS_PAGE
from normviz.lessons.page import Page
from normviz.lessons.practice.case import Answer, Box, Case, Toggles, group_box, members, place
from normviz.lessons.practice.confusions import averaged_in, feedback
from normviz.lessons.practice.settings import BUILD, CHOICE, MARK, NUMBER
from normviz.lessons.random import Random, hash_text
from normviz.lessons.step_by_step.page import PAGE as STEP_BY_STEP_PAGE
from normviz.lessons.train_and_eval.page import PAGE as TRAIN_AND_EVAL_PAGE
from normviz.scene.grid import roles
from normviz.scene.scene import commas, query_of
from normviz.texts.errors import listed
from normviz.texts.languages import with_language
from normviz.texts.messages import N_, _, format_number, join_sentences, ngettext

TOLERANCE = 0.011  # error of a number with two decimals that counts as correct
MOST_OPTIONS = 4


@dataclass(frozen=True)
class ExerciseKind:
    """One kind of exercise.

    form           how it is answered: with a number, by marking elements, by choosing an option, or by setting toggles
    topic          the key of the topic of questions to which it belongs
    prompts        what is asked, by variant, as messages
    hint           what to think of before a second try, where no confusion is known, as a message
    explain        why the answer is right
    unmarked       what is asked where elements cannot be marked, by variant, if it is something else
    asked          the variant of an exercise, among ``prompts``
    options        the options of a choice that are words, as messages
    page           the page that settles it
    query          what its query has besides the layer and the element
    itself_counts  whether a set may contain the framed element: True for "which outputs move", False for "which elements share"
    is_numbered    whether each element shows the number of its group, so that several layers make the same picture
    """

    form: str
    topic: str
    prompts: Mapping[str, str]
    hint: str
    explain: Callable[[Exercise], str]
    unmarked: Mapping[str, str] = field(default_factory=dict)
    asked: Callable[[Exercise], str] = lambda exercise: exercise.variant
    options: Mapping[str, str] = field(default_factory=dict)
    page: Page = EXPLORE_PAGE
    query: str = ""
    itself_counts: bool = False
    is_numbered: bool = False

    def prompt(self, exercise: Exercise, marking: bool) -> str:
        """The question, in one to three sentences; ``marking``: whether elements can be marked, or an option is chosen."""
        case, variant = exercise.case, self.asked(exercise)
        said: dict[str, object] = {"layer": case.text.removesuffix(".eval()"), "at": list(exercise.at)}
        if target := exercise.target:
            said |= {"n": len(target), "elements": box_text(group_box(case.norm, case.shape, exercise.at), exercise)}
        question = _(self.prompts[variant] if marking else self.unmarked.get(variant, self.prompts[variant]), **said)
        if exercise.variant == BUFFERS:  # no x is needed
            return question
        shape = _("x has shape {axes} = {shape}.", axes=case.axes_text, shape=case.shape)
        return join_sentences([shape, question])


InBrowser = str | int | float | list[int]


@dataclass(frozen=True)
class PracticeExercise(Payload):
    """An exercise for the browser. Sets are positions of elements in row-major order; wrong answers name their confusions.

    options      the text of each, and the id of the confusion that it follows from or ""; in the order of display
    answer       a number; the sorted positions; the text of an option; or how toggles stand, as "0,1,2"
    wrong        the ids of confusions, with the wrong answers that follow from them
    hint         what helps where a wrong answer follows from no confusion
    over         the axes that are averaged in a confusion, in words
    link         the view that settles it: /explore?...
    labels       the names of the toggles of the axes
    steps        how each toggle may stand
    accepted     how the toggles stand in every right answer
    target       the positions of the elements that are to share a mean
    at           the framed element
    values       the elements of x
    tolerance    how far a typed number may be off
    markup       the prompt of a teacher's own question, as HTML
    explained    the explanation of such a question, as HTML
    why          by the id of a wrong option of such a question: why it tempts, as HTML
    numbers      for a pattern: the number of the group of each element
    """

    id: str
    kind: str
    form: str
    level: int
    topic: str
    layer: str
    shape: tuple[int, ...]
    names: tuple[str, ...]
    facets: tuple[int, ...]
    row: int | None
    col: int
    prompt: str
    options: list[tuple[str, str]] | None
    answer: InBrowser
    wrong: list[tuple[str, InBrowser]]
    explanation: str
    hint: str
    over: dict[str, str]
    link: str
    labels: list[str] | None = left_out(None)
    steps: list[list[int]] | None = left_out(None)
    accepted: list[InBrowser] | None = left_out(None)
    target: list[int] | None = left_out(None)
    at: tuple[int, ...] | None = left_out(None)
    values: tuple[float, ...] | None = left_out(None)
    tolerance: float | None = left_out(None)
    markup: str = left_out("")
    explained: str = left_out("")
    why: dict[str, str] | None = left_out(None)
    numbers: list[int] | None = left_out(None)


@dataclass(frozen=True)
class Exercise:
    """A row of the bank: a question, torch's answer, and the wrong answers of documented confusions; and its texts.

    kind     a key of ``EXERCISE_KINDS``
    variant  what is asked for within the kind: "einops", "variance", "buffers"; or ""
    level    1 (2 x 3 tables) to 3 (GroupNorm on images, every depth of normalized_shape)
    case     the layer on a shape
    at       the index of the framed element; empty if there is none
    values   x in row-major order, for arithmetic by hand; empty if no number of x matters
    answer   torch's answer: a number, an option, a set of elements as positions along each axis, or all accepted ``Toggles``
    wrong    the wrong answers, each with the id of its confusion
    """

    kind: str
    variant: str
    level: int
    case: Case
    at: tuple[int, ...]
    values: tuple[float, ...]
    answer: Answer
    wrong: tuple[tuple[str, Answer], ...]

    @cached_property
    def id(self) -> str:
        """The same for the same exercise, in whatever version of the bank."""
        case = self.case
        asked: list[object] = [self.kind, self.variant, case.text, case.layout, case.shape, self.at, self.values]
        if self.about.is_numbered:
            asked.append(self.answer)
        return f"{self.kind}-{hash_text(json.dumps(asked)):08x}"

    @property
    def about(self) -> ExerciseKind:
        return EXERCISE_KINDS[self.kind]

    @property
    def is_rich(self) -> bool:
        """Whether its texts are Markdown."""
        return False

    @property
    def tolerance(self) -> float:
        """How far a number may be off."""
        return TOLERANCE if self.values else 0.0

    def feedback(self, confusion: str) -> str:
        """What the wrong answer is that follows from a confusion, and what is true."""
        return feedback(confusion, self.case)

    def elements(self, box: Answer) -> list[tuple[int, ...]]:
        """The sorted indices of an answer that is a set."""
        assert isinstance(box, tuple)
        return members(box, None if self.about.itself_counts else self.at)

    @property
    def target(self) -> list[tuple[int, ...]]:
        """The elements that are to share a mean, of an exercise that is answered with toggles."""
        return members(group_box(self.case.norm, self.case.shape, self.at)) if self.about.form == BUILD else []

    @property
    def steps(self) -> list[list[int]]:
        """How the toggle of each axis may stand, in the order of presses: off and on, or the numbers of groups."""
        axes, shape, grouped = self.case.axes, self.case.shape, self.case.channel if self.variant == "groups" else ""
        return [divisors(size) if name == grouped else [0, 1] for name, size in zip(axes, shape, strict=True)]

    @property
    def prompt(self) -> str:
        return self.about.prompt(self, marking=True)

    @property
    def prompt_of_choice(self) -> str:
        """The prompt where elements cannot be marked."""
        return self.about.prompt(self, marking=False)

    @property
    def whole_prompt(self) -> str:
        """The prompt with the numbers that the browser draws: the values of x, or the sizes of a pattern."""
        if self.values:
            return join_sentences([_("x = {numbers}.", numbers=self.numbers), self.prompt])
        return join_sentences([self.prompt, self.numbers])

    @property
    def numbers(self) -> str:
        """The numbers in the picture of the exercise, as nested lists: x, or the groups of a pattern; "" if it has none."""
        case = self.case
        return nested(case.group_numbers if self.about.is_numbered else self.values, case.shape)

    @property
    def explanation(self) -> str:
        return self.about.explain(self)

    @property
    def link(self) -> str:
        """The view that settles it: "/explore?shape=2,3&layer=LayerNorm(3)&at=0,1"."""
        case, kind = self.case, self.about
        layer = case.text.removesuffix(".eval()") if kind.page is TRAIN_AND_EVAL_PAGE else case.text
        is_usual = case.layout == case.layer.kind.layout(len(case.shape))
        given = query_of(layer, case.shape, "" if is_usual else case.layout)
        if self.at:
            given["at"] = commas(self.at)
        if self.values:
            given["values"] = ",".join(f"{value:g}" for value in self.values)
        query = "&".join(f"{name}={text}" for name, text in given.items())
        return with_language(f"/{kind.page.name}?{query}{kind.query}")

    @cached_property
    def choices(self) -> tuple[tuple[str, Answer], ...]:
        """The answer, with "" for a confusion, and at most three wrong ones; shuffled by the id."""
        return tuple(Random(self.id).shuffled([("", self.answer), *self.wrong[: MOST_OPTIONS - 1]]))

    def text_of(self, answer: Answer) -> str:
        """An answer as an option shows it: "48", "0.71", "n c h w -> n", "the other elements with c = 1"."""
        if isinstance(answer, tuple):
            return toggles_text(answer[0], self) if self.about.form == BUILD else box_text(answer, self)
        if isinstance(answer, str):
            return _(self.about.options[answer]) if answer in self.about.options else answer
        return format_number(answer, 4) if isinstance(answer, float) else str(answer)

    def json(self) -> dict[str, Any]:
        """The exercise as ``normviz practice`` writes it."""
        case, is_choice = self.case, self.about.form == CHOICE
        answer: Any = self.text_of(self.answer) if is_choice or self.about.form == BUILD else self.answer
        if self.about.form == MARK:
            answer = [list(index) for index in self.elements(self.answer)]
        found = {
            "id": self.id,
            "kind": self.kind,
            "level": self.level or None,
            "layer": case.text,
            "shape": list(case.shape),
            "prompt": self.whole_prompt,
            "options": [self.text_of(value) for _confusion, value in self.choices] if is_choice else None,
            "answer": answer,
            "explanation": self.explanation,
            "link": self.link,
        }
        found |= {"accepted": None, "at": list(self.at) if self.about.form in (MARK, BUILD) else None}
        if self.about.form == BUILD:
            assert isinstance(self.answer, tuple)
            found["accepted"] = [toggles_text(toggles, self) for toggles in self.answer]
        return found

    def data(self) -> PracticeExercise:
        """The exercise for the browser."""
        case, form, built = self.case, self.about.form, self.about.form == BUILD
        drawn = roles(case.axes)
        return PracticeExercise(
            id=self.id,
            kind=self.kind,
            form=form,
            level=self.level,
            topic=self.about.topic,
            layer=case.text,
            shape=case.shape,
            names=case.axes,
            facets=drawn.facets,
            row=drawn.row,
            col=drawn.col,
            prompt=self.prompt,
            options=[(self.text_of(value), confusion) for confusion, value in self.choices] if form == CHOICE else None,
            answer=self._in_browser(self.answer),
            wrong=[(confusion, self._in_browser(value)) for confusion, value in self.wrong],
            explanation=self.explanation,
            hint=_(self.about.hint, layer=case.text),
            over={key: over for key, _value in self.wrong if (over := averaged_in(key, case))},
            link=self.link,
            labels=[f"{name.upper()}, {axis_nouns(name, case.axes)[1]}" for name in case.axes] if built else None,
            steps=self.steps if built else None,
            accepted=[commas(toggles) for toggles in self.answer] if built and isinstance(self.answer, tuple) else None,
            target=[place(index, case.shape) for index in self.target] if built else None,
            at=self.at or None,
            values=self.values or None,
            tolerance=self.tolerance or None,
            numbers=case.group_numbers if self.about.is_numbered else None,
        )

    def _in_browser(self, answer: Answer) -> InBrowser:
        if self.about.form == MARK:
            return [place(index, self.case.shape) for index in self.elements(answer)]
        if self.about.form == BUILD:
            assert isinstance(answer, tuple)
            return commas(answer[0])
        if self.about.form == CHOICE:
            return self.text_of(answer)
        assert not isinstance(answer, tuple)
        return answer

    def row(self) -> list[Any]:
        """The row of the bank."""
        case = self.case.text, self.case.layout, self.case.shape
        return [self.kind, self.variant, self.level, *case, self.at, self.values, self.answer, self.wrong]

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> Exercise:
        kind, variant, level, text, layout, shape, at, values, answer, wrong = row
        case, others = (
            Case(text, tuple(shape), layout),
            tuple((confusion, _answer(value)) for confusion, value in wrong),
        )
        return cls(kind, variant, level, case, tuple(at), tuple(values), _answer(answer), others)


def _answer(value: Any) -> Answer:
    found: Answer = tuple(tuple(positions) for positions in value) if isinstance(value, list) else value
    return found


# How its answers are written.


def nested(values: tuple[float, ...] | list[int], shape: tuple[int, ...]) -> str:
    """The values as nested lists.

    >>> nested((1.0, 2.0, 3.0, 4.5), (2, 2))
    '[[1, 2], [3, 4.5]]'
    """
    if not values:
        return ""
    if not shape:
        return f"{values[0]:g}"
    step = len(values) // shape[0]
    rows = [nested(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]
    return f"[{', '.join(rows)}]"


def box_text(box: Box, exercise: Exercise) -> str:
    """A set of elements in words: "the other elements with n = 0 and c = 2 or 3"."""
    case, itself = exercise.case, exercise.about.itself_counts
    found = exercise.elements(box)
    if not found:
        return _("none") if itself else _("no other element")
    if itself and found == [exercise.at]:
        return _("only {at}", at=list(exercise.at))
    conditions = [
        f"{name} = {listed(positions)}"
        for name, positions, size in zip(case.axes, box, case.shape, strict=True)
        if len(positions) < size
    ]
    if not conditions:
        return _("all elements") if itself else _("all other elements")
    which = listed(conditions, "and")
    return _("the elements with {which}", which=which) if itself else _("the other elements with {which}", which=which)


def toggles_text(toggles: Toggles, exercise: Exercise) -> str:
    """How toggles stand, in words: "h and w", "c in 2 groups, h and w"."""
    names = [
        ngettext("{axis} in {n} group", "{axis} in {n} groups", parts, axis=name) if parts > 1 else name
        for name, parts in zip(exercise.case.axes, toggles, strict=True)
        if parts
    ]
    return listed(names, "and") if names else _("nothing")


# Why its answer is right.


def _statistics(exercise: Exercise) -> str:
    case, norm = exercise.case, exercise.case.norm
    found = sharing.counts(norm, case.shape)
    number = found.statistics
    elements = ngettext("{n:,} element", "{n:,} elements", found.elements_per_statistic)
    if norm.center:
        means = ngettext("{n:,} mean, over {each}", "{n:,} means, each over {each}", number, each=elements)
    else:
        means = ngettext(
            "{n:,} mean square, over {each}", "{n:,} mean squares, each over {each}", number, each=elements
        )
    return _(
        "{layer} averages over {reduced}. Its pattern is {pattern}: {means}.",
        layer=case.text,
        reduced=case.averaged,
        pattern=norm.stats,
        means=means,
    )


def _parameters(exercise: Exercise) -> str:
    case, norm = exercise.case, exercise.case.norm
    counts = sharing.counts(norm, case.shape)
    if counts.gamma_shape is None:
        return _("{layer} has neither gamma nor beta.", layer=case.text)
    if len(counts.gamma_shape) > 1:
        gamma = _(
            "In {layer}, gamma has the axes {axes} and the shape {shape}.",
            layer=case.text,
            axes=norm.params,
            shape=counts.gamma_shape,
        )
    else:
        gamma = ngettext(
            "In {layer}, gamma has {n:,} number, along {axes}.",
            "In {layer}, gamma has {n:,} numbers, along {axes}.",
            counts.gamma_shape[0],
            layer=case.text,
            axes=norm.params,
        )
    if not norm.bias:
        return join_sentences([gamma, _("There is no beta.")])
    both = ngettext("With beta, that is {n:,} parameter.", "With beta, that is {n:,} parameters.", counts.parameters)
    return join_sentences([gamma, both])


def _set_before(explain: Callable[[Exercise], str]) -> Callable[[Exercise], str]:
    """An explanation of a set: the set in words, and the reason."""

    def explained(exercise: Exercise) -> str:
        assert isinstance(exercise.answer, tuple)
        answer = box_text(exercise.answer, exercise)
        return _("{answer}. {reason}", answer=answer[:1].upper() + answer[1:], reason=explain(exercise))

    return explained


def _value(exercise: Exercise) -> str:
    assert isinstance(exercise.answer, float)
    case, box = exercise.case, group_box(exercise.case.norm, exercise.case.shape, exercise.at)
    own, *group = (exercise.values[place(index, case.shape)] for index in (exercise.at, *members(box)))
    mean = sum(group) / len(group)
    square = sum((value - mean * case.norm.center) ** 2 for value in group) / len(group)
    eps = float_info.epsilon if case.norm.eps is None else case.norm.eps  # x is of float64
    numbers = {
        "numbers": ", ".join(f"{value:g}" for value in group),
        "mean": format_number(mean, 4),
        "square": format_number(square, 4),
        "value": f"{own:g}",
        "eps": format_number(eps),
        "answer": format_number(exercise.answer, 4),
    }
    variant = exercise.variant
    if variant in ("normalized", "rms"):
        is_near = square and abs((own - mean * case.norm.center) / sqrt(square) - exercise.answer) < TOLERANCE / 2
        variant = "running" if case.layer.running else variant if is_near else f"{variant}, eps"
    return _(ARITHMETIC[variant], **numbers)


ARITHMETIC: Mapping[str, str] = {
    "mean": N_("The group is {numbers}, and its mean is {answer}."),
    "variance": N_("The group is {numbers} with the mean {mean}; the mean of the squared deviations is {answer}."),
    "normalized": N_("The group is {numbers}, with mean {mean} and variance {square}: ({value} − {mean}) / √{square} = {answer}."),
    "rms": N_("The group is {numbers}, with mean square {square}: {value} / √{square} = {answer}."),
    "normalized, eps": N_("The group is {numbers}, with mean {mean} and variance {square}; eps is {eps}: ({value} − {mean}) / √({square} + {eps}) = {answer}."),
    "rms, eps": N_("The group is {numbers}, with mean square {square}; eps is {eps}: {value} / √({square} + {eps}) = {answer}."),
    "running": N_("In eval mode the running statistics are used. In a new layer the mean is 0 and the variance is 1; eps is {eps}: ({value} − 0) / √(1 + {eps}) = {answer}."),
}  # fmt: skip


def _moves(exercise: Exercise) -> str:
    if exercise.case.layer.running:
        return _("In eval mode the running statistics are used, so each output depends on its own input alone.")
    if not exercise.answer and exercise.case.norm.params is not None and exercise.case.norm.bias:
        return _("The group has one element, and its mean is the element itself: up to rounding, the output is beta.")
    if not exercise.answer:
        return _("The group has one element, and its mean is the element itself: up to rounding, the output is 0.")
    if not exercise.case.norm.center:
        return _("Each output of the group depends on the mean square of the group, and so on this input.")
    return _("Each output of the group depends on the mean and the variance of the group, and so on this input.")


def _mode(exercise: Exercise) -> str:
    layer, name = exercise.case.layer, exercise.case.text.removesuffix(".eval()")
    if not layer.tracks:
        return _("{layer} has no running statistics: it computes the same in train and eval mode.", layer=name)
    if layer.training:
        return _(
            "In train mode, {layer} normalizes with the statistics of x, and updates the running ones.", layer=name
        )
    return _("In eval mode, {layer} normalizes with the running statistics, and does not change them.", layer=name)


def _built(exercise: Exercise) -> str:
    return join_sentences([_("They are a group of {layer}.", layer=exercise.case.text), _statistics(exercise)])


# The kinds.

BUFFERS = "buffers"  # the variant that asks what a layer does to its running statistics
_AXES = N_("Think first of the axes that {layer} averages over.")
_OWN_GAMMAS = N_("Think first of the axes along which {layer} has its own gammas.")
_TOGGLES = N_("Choose the axes of the mean so that exactly {elements} share one: {n} in all.")
_WHICH_AXES = N_("Over which axes is the mean taken if exactly {elements} share it?")


def _in_mode(exercise: Exercise) -> str:
    """The variant with the mode of the layer."""
    has_no_mean = exercise.variant == "uses" and not exercise.case.norm.center
    mode = "train" if exercise.case.layer.training else "eval"
    return f"{'uses squares' if has_no_mean else exercise.variant} {mode}"


EXERCISE_KINDS: Mapping[str, ExerciseKind] = {
    "means": ExerciseKind(NUMBER, "statistics",
        {
            "": N_("How many means does {layer} compute?"),
            "squares": N_("How many mean squares does {layer} compute?"),
        },
        _AXES, _statistics),
    "gammas": ExerciseKind(NUMBER, "parameters",
        {"": N_("How many gammas does {layer} have?")},
        _OWN_GAMMAS, _parameters,
        query="&params=index"),
    "parameters": ExerciseKind(NUMBER, "parameters",
        {"": N_("How many parameters does {layer} learn?")},
        N_("Think first of the axes along which {layer} has its own gammas, and of whether there is a beta."),
        _parameters,
        query="&params=index"),
    "elements_per_mean": ExerciseKind(NUMBER, "statistics",
        {
            "": N_("How many elements of x share one mean in {layer}?"),
            "squares": N_("How many elements of x share one mean square in {layer}?"),
        },
        _AXES, _statistics),
    "peers": ExerciseKind(MARK, "statistics",
        {
            "": N_("Mark all other elements that share a mean with x{at} in {layer}."),
            "squares": N_("Mark all other elements that share a mean square with x{at} in {layer}."),
        },
        _AXES, _set_before(_statistics),
        {
            "": N_("Which other elements share a mean with x{at} in {layer}?"),
            "squares": N_("Which other elements share a mean square with x{at} in {layer}?"),
        }),
    "parameter_peers": ExerciseKind(MARK, "parameters",
        {"": N_("Mark all other elements that use the same gamma as x{at} in {layer}.")},
        _OWN_GAMMAS, _set_before(_parameters),
        {"": N_("Which other elements use the same gamma as x{at} in {layer}?")},
        query="&params=index"),
    "pattern": ExerciseKind(CHOICE, "statistics",
        {"": N_("Elements with the same number share a mean. Which layer is this?")},
        N_("Look for the axes along which the number stays the same: the mean is taken over these."), _statistics,
        is_numbered=True),
    "code": ExerciseKind(CHOICE, "code",
        {
            "einops": N_("With which pattern does einops.reduce give the means of {layer}?"),
            "torch": N_("Which call gives the means of {layer}?"),
        },
        _AXES, _statistics,
        page=STEP_BY_STEP_PAGE),
    "value": ExerciseKind(NUMBER, "numbers",
        {
            "mean": N_("Which mean does {layer} subtract from x{at}?"),
            "variance": N_("With which variance does {layer} normalize x{at}?"),
            "normalized": N_("What is the output of {layer} at {at}? gamma is 1, beta is 0, and eps can be left out."),
            "rms": N_("What is the output of {layer} at {at}? gamma is 1, and eps can be left out. Two decimals are enough."),
        },
        N_("Find the group of the framed element first: the elements that share its statistics."), _value,
        page=STEP_BY_STEP_PAGE),
    "moves": ExerciseKind(MARK, "dependence",
        {
            "train": N_("In train mode, which elements of the output of {layer} can change if x{at} changes? Mark them."),
            "eval": N_("In eval mode, which elements of the output of {layer} can change if x{at} changes? Mark them."),
        },
        N_("Think first of whether the statistics of {layer} are computed from this x, and over which axes."),
        _set_before(_moves),
        {
            "train": N_("In train mode, which elements of the output of {layer} can change if x{at} changes?"),
            "eval": N_("In eval mode, which elements of the output of {layer} can change if x{at} changes?"),
        },
        page=GRADIENTS_PAGE, itself_counts=True),
    "mode": ExerciseKind(CHOICE, "train_and_eval",
        {
            "uses train": N_("In train mode, which mean and variance does {layer} use?"),
            "uses eval": N_("In eval mode, which mean and variance does {layer} use?"),
            "uses squares train": N_("In train mode, which statistics does {layer} use?"),
            "uses squares eval": N_("In eval mode, which statistics does {layer} use?"),
            "buffers train": N_("In train mode, a batch passes through {layer}. What does the layer do to its running statistics?"),
            "buffers eval": N_("In eval mode, a batch passes through {layer}. What does the layer do to its running statistics?"),
        },
        N_("Think first of whether {layer} has running statistics, and of what the mode does with them."), _mode,
        options={
            "batch": N_("those of x, over all examples"),
            "example": N_("those of x, within each example"),
            "running": N_("the running ones"),
            "change": N_("it updates them"),
            "stay": N_("nothing: they stay as they are"),
            "none": N_("nothing: the layer has none"),
        },
        asked=_in_mode, page=TRAIN_AND_EVAL_PAGE, query="&show=modes"),
    "build": ExerciseKind(BUILD, "statistics",
        {"": _TOGGLES, "groups": _TOGGLES},
        N_("Look for the axes along which the filled elements extend: the mean is taken over these."), _built,
        {"": _WHICH_AXES, "groups": _WHICH_AXES},
        itself_counts=True),
}  # fmt: skip
