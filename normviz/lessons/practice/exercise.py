"""One exercise: a row of the bank, its wrong answers as options, and its texts for the app, files and learning management systems."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from normviz.analysis.sentences import axis_nouns
from normviz.layers import sharing
from normviz.layers.axes import divisors
from normviz.lessons.practice.case import (
    BUILD,
    CHOICE,
    EXERCISE_KINDS,
    MARK,
    Answer,
    Box,
    Case,
    ExerciseKind,
    Toggles,
    group_box,
    members,
    place,
)
from normviz.lessons.practice.confusions import averaged_in
from normviz.lessons.random import Random, hash_text
from normviz.scene.grid import roles
from normviz.texts.errors import listed
from normviz.texts.languages import with_language
from normviz.texts.messages import N_, _, format_number, join_sentences, ngettext

TOLERANCE = 0.011  # error of a number with two decimals that counts as correct
MOST_OPTIONS = 4


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
        if self.kind == "pattern":  # several layers make the same pattern
            asked.append(self.answer)
        return f"{self.kind}-{hash_text(json.dumps(asked)):08x}"

    @property
    def about(self) -> ExerciseKind:
        return EXERCISE_KINDS[self.kind]

    @property
    def itself_counts(self) -> bool:
        """Whether a set may contain the framed element: True for "which outputs move", False for "which elements share"."""
        return self.kind in ("moves", "build")

    def elements(self, box: Answer) -> list[tuple[int, ...]]:
        """The sorted indices of an answer that is a set."""
        assert isinstance(box, tuple)
        return members(box, None if self.itself_counts else self.at)

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
        return _prompt(self, marking=True)

    @property
    def prompt_of_choice(self) -> str:
        """The prompt where elements cannot be marked."""
        return _prompt(self, marking=False)

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
        return nested(case.group_numbers if self.kind == "pattern" else self.values, case.shape)

    @property
    def explanation(self) -> str:
        return _EXPLAIN[self.kind](self)

    @property
    def link(self) -> str:
        """The view that settles it: "/explore?shape=2,3&layer=LayerNorm(3)&at=0,1"."""
        case, kind = self.case, self.about
        layer = case.text.removesuffix(".eval()") if self.kind == "mode" else case.text
        query = f"shape={_commas(case.shape)}&layer={layer.replace(' ', '')}"
        if case.layout != case.layer.kind.layout(len(case.shape)):
            query += f"&layout={case.layout}"
        if self.at:
            query += f"&at={_commas(self.at)}"
        if self.values:
            query += f"&values={','.join(f'{value:g}' for value in self.values)}"
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
            return _(OPTIONS[answer]) if self.kind == "mode" else answer
        return format_number(float(answer), 4) if self.kind == "value" else str(answer)

    def json(self) -> dict[str, Any]:
        """The exercise as ``normviz practice`` writes it."""
        case, is_choice = self.case, self.about.form == CHOICE
        answer: Any = self.text_of(self.answer) if is_choice or self.about.form == BUILD else self.answer
        if self.about.form == MARK:
            answer = [list(index) for index in self.elements(self.answer)]
        found = {
            "id": self.id,
            "kind": self.kind,
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

    def data(self) -> dict[str, Any]:
        """The exercise for the browser. Sets are positions of elements in row-major order; wrong answers name their confusions.

        form     "number", "mark", "choice" or "build"
        answer   a number; the sorted positions; the text of an option; or how toggles stand, as "0,1,2"
        wrong    [the id of a confusion, its answer in the same form]
        options  [the text, the id of its confusion or ""] in the order of display, for a choice; else null
        numbers  for a pattern: the number of the group of each element
        hint     where a wrong answer follows from no confusion
        over     the axes that are averaged in a confusion, by its id
        labels, steps, accepted, target  of toggles: their names, how each may stand, how they stand in every right answer, the positions of the elements
        """
        case, form = self.case, self.about.form
        found: dict[str, Any] = {
            "id": self.id,
            "kind": self.kind,
            "form": form,
            "level": self.level,
            "topic": self.about.topic,
            "layer": case.text,
            "shape": list(case.shape),
            "names": list(case.axes),
            **vars(roles(case.axes)),
            "prompt": self.prompt,
            "options": None,
            "answer": self._in_browser(self.answer),
            "wrong": [[confusion, self._in_browser(value)] for confusion, value in self.wrong],
            "explanation": self.explanation,
            "hint": _(HINTS[self.kind], layer=case.text),
            "over": {key: over for key, _value in self.wrong if (over := averaged_in(key, case))},
            "link": self.link,
        }
        if form == BUILD:
            assert isinstance(self.answer, tuple)
            found |= {
                "labels": [f"{name.upper()}, {axis_nouns(name, case.axes)[1]}" for name in case.axes],
                "steps": self.steps,
                "accepted": [_commas(toggles) for toggles in self.answer],
                "target": [place(index, case.shape) for index in self.target],
            }
        if form == CHOICE:
            found["options"] = [[self.text_of(value), confusion] for confusion, value in self.choices]
        if self.at:
            found["at"] = list(self.at)
        if self.values:
            found |= {"values": list(self.values), "tolerance": TOLERANCE}
        if self.kind == "pattern":
            found["numbers"] = case.group_numbers
        return found

    def _in_browser(self, answer: Answer) -> Any:
        if self.about.form == MARK:
            return [place(index, self.case.shape) for index in self.elements(answer)]
        if self.about.form == BUILD:
            assert isinstance(answer, tuple)
            return _commas(answer[0])
        return self.text_of(answer) if self.about.form == CHOICE else answer

    def row(self) -> list[Any]:
        """The row of the bank."""
        case = self.case
        return [self.kind, self.variant, self.level, case.text, case.layout, case.shape, self.at, self.values, self.answer, self.wrong]  # fmt: skip

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> Exercise:
        kind, variant, level, text, layout, shape, at, values, answer, wrong = row
        return cls(
            kind, variant, level, Case(text, tuple(shape), layout), tuple(at), tuple(values), _answer(answer),
            tuple((confusion, _answer(value)) for confusion, value in wrong),
        )  # fmt: skip


def _answer(value: Any) -> Answer:
    found: Answer = tuple(tuple(positions) for positions in value) if isinstance(value, list) else value
    return found


# Its prompt, options and explanation.

PROMPTS: Mapping[tuple[str, str], str] = {
    ("means", ""): N_("x has shape {axes} = {shape}. How many means does {layer} compute?"),
    ("means", "squares"): N_("x has shape {axes} = {shape}. How many mean squares does {layer} compute?"),
    ("gammas", ""): N_("x has shape {axes} = {shape}. How many gammas does {layer} have?"),
    ("parameters", ""): N_("x has shape {axes} = {shape}. How many parameters does {layer} learn?"),
    ("elements_per_mean", ""): N_("x has shape {axes} = {shape}. How many elements of x share one mean in {layer}?"),
    ("elements_per_mean", "squares"): N_("x has shape {axes} = {shape}. How many elements of x share one mean square in {layer}?"),
    ("peers", ""): N_("x has shape {axes} = {shape}. Mark all other elements that share a mean with x{at} in {layer}."),
    ("peers", "squares"): N_("x has shape {axes} = {shape}. Mark all other elements that share a mean square with x{at} in {layer}."),
    ("parameter_peers", ""): N_("x has shape {axes} = {shape}. Mark all other elements that use the same gamma as x{at} in {layer}."),
    ("pattern", ""): N_("x has shape {axes} = {shape}. Elements with the same number share a mean. Which layer is this?"),
    ("code", "einops"): N_("x has shape {axes} = {shape}. With which pattern does einops.reduce give the means of {layer}?"),
    ("code", "torch"): N_("x has shape {axes} = {shape}. Which call gives the means of {layer}?"),
    ("value", "mean"): N_("x has shape {axes} = {shape}. Which mean does {layer} subtract from x{at}?"),
    ("value", "variance"): N_("x has shape {axes} = {shape}. With which variance does {layer} normalize x{at}?"),
    ("value", "normalized"): N_("x has shape {axes} = {shape}. What is the output of {layer} at {at}? gamma is 1, beta is 0, and eps can be left out."),
    ("value", "rms"): N_("x has shape {axes} = {shape}. What is the output of {layer} at {at}? gamma is 1, and eps can be left out. Two decimals are enough."),
    ("build", ""): N_("x has shape {axes} = {shape}. Choose the axes of the mean so that exactly {elements} share one: {n} in all."),
    ("build", "groups"): N_("x has shape {axes} = {shape}. Choose the axes of the mean so that exactly {elements} share one: {n} in all."),
    ("moves", "train"): N_("x has shape {axes} = {shape}. In train mode, which elements of the output of {layer} can change if x{at} changes? Mark them."),
    ("moves", "eval"): N_("x has shape {axes} = {shape}. In eval mode, which elements of the output of {layer} can change if x{at} changes? Mark them."),
}  # fmt: skip

BY_MODE: Mapping[tuple[str, bool], str] = {  # the variant, and whether the layer is in train mode
    ("uses squares", True): N_("x has shape {axes} = {shape}. In train mode, which statistics does {layer} use?"),
    ("uses squares", False): N_("x has shape {axes} = {shape}. In eval mode, which statistics does {layer} use?"),
    ("uses", True): N_("x has shape {axes} = {shape}. In train mode, which mean and variance does {layer} use?"),
    ("uses", False): N_("x has shape {axes} = {shape}. In eval mode, which mean and variance does {layer} use?"),
    ("buffers", True): N_(
        "In train mode, a batch passes through {layer}. What does the layer do to its running statistics?"
    ),
    ("buffers", False): N_(
        "In eval mode, a batch passes through {layer}. What does the layer do to its running statistics?"
    ),
}

WITHOUT_MARKING: Mapping[str, str] = {
    "peers": N_("x has shape {axes} = {shape}. Which other elements share a mean with x{at} in {layer}?"),
    "peers squares": N_("x has shape {axes} = {shape}. Which other elements share a mean square with x{at} in {layer}?"),
    "parameter_peers": N_("x has shape {axes} = {shape}. Which other elements use the same gamma as x{at} in {layer}?"),
    "build": N_("x has shape {axes} = {shape}. Over which axes is the mean taken if exactly {elements} share it?"),
    "build groups": N_("x has shape {axes} = {shape}. Over which axes is the mean taken if exactly {elements} share it?"),
    "moves train": N_("x has shape {axes} = {shape}. In train mode, which elements of the output of {layer} can change if x{at} changes?"),
    "moves eval": N_("x has shape {axes} = {shape}. In eval mode, which elements of the output of {layer} can change if x{at} changes?"),
}  # fmt: skip

# What to think of before a second try, where no confusion is known.
_AXES = N_("Think first of the axes that {layer} averages over.")
_GAMMA = N_("Think first of the axes along which {layer} has its own gammas.")
_MODE = N_("Think first of whether {layer} has running statistics, and of what the mode does with them.")
HINTS: Mapping[str, str] = {
    **dict.fromkeys(("means", "elements_per_mean", "peers", "code"), _AXES),
    **dict.fromkeys(("gammas", "parameter_peers"), _GAMMA),
    "parameters": N_("Think first of the axes along which {layer} has its own gammas, and of whether there is a beta."),
    "pattern": N_("Look for the axes along which the number stays the same: the mean is taken over these."),
    "value": N_("Find the group of the framed element first: the elements that share its statistics."),
    "moves": N_("Think first of whether the statistics of {layer} are computed from this x, and over which axes."),
    "mode": _MODE,
    "build": N_("Look for the axes along which the filled elements extend: the mean is taken over these."),
}

OPTIONS: Mapping[str, str] = {
    "batch": N_("those of x, over all examples"),
    "example": N_("those of x, within each example"),
    "running": N_("the running ones"),
    "change": N_("it updates them"),
    "stay": N_("nothing: they stay as they are"),
    "none": N_("nothing: the layer has none"),
}


def _prompt(exercise: Exercise, marking: bool) -> str:
    """The question, in one or two sentences; ``marking``: whether elements can be marked, or an option is chosen."""
    case, key = exercise.case, (exercise.kind, exercise.variant)
    if exercise.kind == "mode":
        has_no_mean = exercise.variant == "uses" and not case.norm.center
        message = BY_MODE["uses squares" if has_no_mean else exercise.variant, case.layer.training]
    else:
        message = (None if marking else WITHOUT_MARKING.get(" ".join(key).strip())) or PROMPTS[key]
    return _(
        message,
        layer=case.text.removesuffix(".eval()"),
        axes=case.axes_text,
        shape=case.shape,
        at=list(exercise.at),
        n=len(exercise.target),
        elements=box_text(group_box(case.norm, case.shape, exercise.at), exercise) if exercise.target else "",
    )


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
    case, itself = exercise.case, exercise.itself_counts
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


def _peers(exercise: Exercise) -> str:
    assert isinstance(exercise.answer, tuple)
    reason = _parameters(exercise) if exercise.kind == "parameter_peers" else _statistics(exercise)
    return _("{answer}. {reason}", answer=_capitalized(box_text(exercise.answer, exercise)), reason=reason)


def _value(exercise: Exercise) -> str:
    assert isinstance(exercise.answer, float)
    case, box = exercise.case, group_box(exercise.case.norm, exercise.case.shape, exercise.at)
    own, *group = (exercise.values[place(index, case.shape)] for index in (exercise.at, *members(box)))
    mean = sum(group) / len(group)
    square = sum((value - mean * case.norm.center) ** 2 for value in group) / len(group)
    numbers = {
        "numbers": ", ".join(f"{value:g}" for value in group),
        "mean": format_number(mean, 4),
        "square": format_number(square, 4),
        "value": f"{own:g}",
        "answer": format_number(exercise.answer, 4),
    }
    return _(ARITHMETIC[exercise.variant], **numbers)


ARITHMETIC: Mapping[str, str] = {
    "mean": N_("The group is {numbers}, and its mean is {answer}."),
    "variance": N_("The group is {numbers} with the mean {mean}; the mean of the squared deviations is {answer}."),
    "normalized": N_("The group is {numbers}, with mean {mean} and variance {square}: ({value} − {mean}) / √{square} = {answer}."),
    "rms": N_("The group is {numbers}, with mean square {square}: {value} / √{square} = {answer}."),
}  # fmt: skip


def _moves(exercise: Exercise) -> str:
    assert isinstance(exercise.answer, tuple)
    answer = _capitalized(box_text(exercise.answer, exercise))
    if exercise.case.layer.running:
        reason = _("In eval mode the running statistics are used, so each output depends on its own input alone.")
    elif not exercise.answer and exercise.case.norm.params is not None and exercise.case.norm.bias:
        reason = _("The group has one element, and its mean is the element itself: up to rounding, the output is beta.")
    elif not exercise.answer:
        reason = _("The group has one element, and its mean is the element itself: up to rounding, the output is 0.")
    elif not exercise.case.norm.center:
        reason = _("Each output of the group depends on the mean square of the group, and so on this input.")
    else:
        reason = _("Each output of the group depends on the mean and the variance of the group, and so on this input.")
    return _("{answer}. {reason}", answer=answer, reason=reason)


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _mode(exercise: Exercise) -> str:
    layer, name = exercise.case.layer, exercise.case.text.removesuffix(".eval()")
    if not layer.tracks:
        return _("{layer} has no running statistics: it computes the same in train and eval mode.", layer=name)
    if layer.training:
        return _(
            "In train mode, {layer} normalizes with the statistics of x, and updates the running ones.", layer=name
        )
    return _("In eval mode, {layer} normalizes with the running statistics, and does not change them.", layer=name)


_EXPLAIN = {
    **dict.fromkeys(("means", "elements_per_mean", "pattern", "code"), _statistics),
    "build": lambda each: join_sentences([_("They are a group of {layer}.", layer=each.case.text), _statistics(each)]),
    **dict.fromkeys(("gammas", "parameters"), _parameters),
    **dict.fromkeys(("peers", "parameter_peers"), _peers),
    "value": _value,
    "moves": _moves,
    "mode": _mode,
}


def _commas(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))
