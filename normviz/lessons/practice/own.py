"""A teacher's own questions, from YAML or Markdown files. torch computes the answer of a question that names a kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import inf, isfinite, prod
from os import environ
from pathlib import Path
from typing import Any

import torch
import yaml
from markdown_it import MarkdownIt

from normviz.analysis.description import describe
from normviz.layers.axes import parse_layout
from normviz.layers.layer import Layer
from normviz.lessons.practice import measured
from normviz.lessons.practice.case import Answer, Box, Case, members
from normviz.lessons.practice.confusions import CONFUSIONS, distinct, mistaken_sets
from normviz.lessons.practice.exercise import EXERCISE_KINDS, TOLERANCE, Exercise, ExerciseKind, PracticeExercise
from normviz.lessons.practice.settings import CHOICE, LEVELS, MARK, NUMBER, TOPICS
from normviz.lessons.random import hash_text
from normviz.parts.html import bare, block, line
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.marked import Marked, decoded, read_content, read_marked
from normviz.texts.messages import N_, _, format_number, join_sentences

CONTENT = "NORMVIZ_CONTENT"  # the folder of the files that the app shows
ENDINGS = (".yaml", ".yml", ".md")
MOST_QUESTIONS, MOST_TEXT, MOST_TITLE, MOST_OPTIONS = 500, 5000, 200, 8
MOST_ELEMENTS = 4096  # of a tensor whose groups torch measures
MOST_VALUES = 128
MOST_MARKED = 96  # of a tensor whose elements are marked
MOST_SIZE = 10**6
OWN = "own"  # the kind of a question whose answer is the teacher's
FILE_KEYS = ("title", "questions")
KEYS = ("id", "text", "layer", "shape", "layout", "at", "values", "kind", "answer", "options", "wrong", "explanation", "level", "topic")  # fmt: skip
OPTION_KEYS, WRONG_KEYS = ("text", "why"), ("answer", "why")
# What torch computes, by the name of a kind; and the kind of the bank's exercises whose explanation and view it has.
COMPUTED = {
    "means": ("means", ""),
    "elements_per_mean": ("elements_per_mean", ""),
    "gammas": ("gammas", ""),
    "parameters": ("parameters", ""),
    "mean": ("value", "mean"),
    "variance": ("value", "variance"),
    "output": ("value", "normalized"),
    "peers": ("peers", ""),
    "parameter_peers": ("parameter_peers", ""),
}
MARKED = ("peers", "parameter_peers")  # the kinds that are answered by marking elements
LAYOUTS = {1: "D", 2: "ND", 3: "NLC", 4: "NCHW", 5: "NCDHW"}  # of a tensor without a layer
ONE_SIZE = re.compile(r"\(\[(\d+)\]")  # LayerNorm([3]) is LayerNorm(3)
SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
SCHEME = re.compile(r"\s*([a-z][a-z0-9+.-]*):", re.IGNORECASE)
MARKDOWN_OPTION = re.compile(r"^- \[([ xX])\] +(.+)((?:\n[ \t]+\S.*)*)$", re.MULTILINE)
FRONT = re.compile(r"---\r?\n(.*?)^---[ \t]*\r?\n(.*)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class OwnExercise(Exercise):
    """A question of a teacher. Its texts are Markdown.

    name         its id
    text         what is asked
    options      the text of each, in the teacher's order, and why it tempts; empty if the answer is a number or a set
    slips        why each wrong number tempts, in the order of ``wrong``
    reason       why the answer is right; "" for that of its kind
    of_topic     a topic of practice, or ""
    computed     what torch computes; None without a kind
    """

    name: str = ""
    text: str = ""
    options: tuple[tuple[str, str], ...] = ()
    slips: tuple[str, ...] = ()
    reason: str = ""
    of_topic: str = ""
    computed: float | Box | None = None

    @property
    def id(self) -> str:
        return self.name

    @cached_property
    def about(self) -> ExerciseKind:
        known = EXERCISE_KINDS[COMPUTED[self.kind][0] if self.kind in COMPUTED else "means"]
        topic = self.of_topic or (known.topic if self.kind in COMPUTED else "")
        return replace(known, form=MARK if self.kind in MARKED else CHOICE if self.options else NUMBER, topic=topic)

    @property
    def is_rich(self) -> bool:
        return True

    @property
    def tolerance(self) -> float:
        return _tolerance(self.answer, self.computed is not None)

    @property
    def prompt(self) -> str:
        """The layer and the shape, and below them the teacher's text."""
        case = self.case
        facts = [_("The layer is {layer}.", layer=f"`{case.text}`")] if case.text else []
        if case.shape:
            facts.append(_("x has shape {axes} = {shape}.", axes=case.axes_text, shape=case.shape))
        return "\n\n".join(filter(None, [join_sentences(facts), self.text]))

    @property
    def prompt_of_choice(self) -> str:
        return self.prompt

    @property
    def explanation(self) -> str:
        if self.reason or self.computed is None or not self.case.shape:
            return self.reason
        return self.about.explain(replace(self, answer=self.computed))

    @property
    def link(self) -> str:
        return super().link if self.case.text and self.case.shape else ""

    @cached_property
    def choices(self) -> tuple[tuple[str, Answer], ...]:
        if not self.options:
            return super().choices
        return tuple(
            ("" if text == self.answer else f"{OWN}-{number}", text) for number, (text, _why) in enumerate(self.options)
        )

    def feedback(self, confusion: str) -> str:
        if confusion in CONFUSIONS:
            return super().feedback(confusion)
        reasons = [why for _text, why in self.options] or self.slips
        return reasons[int(confusion.removeprefix(f"{OWN}-"))]

    def data(self) -> PracticeExercise:
        drawn = replace(self, case=Case("LayerNorm(1)", (1, 1), "ND")) if not self.case.shape else self
        found = Exercise.data(drawn)
        if not self.case.shape:
            found = replace(found, shape=(), names=(), facets=(), row=None, layer=self.case.text)
        prompt = bare(self.prompt)
        return replace(
            found,
            prompt=prompt,
            markup=line(self.prompt) if "\n" not in self.prompt else block(self.prompt),
            explained=block(self.explanation),
            explanation=bare(self.explanation),
            hint="",
            options=[(bare(str(text)), confusion) for confusion, text in self.choices] if self.options else None,
            answer=bare(self.answer) if isinstance(self.answer, str) else found.answer,
            why={
                confusion: line(why)
                for confusion, _text in (*self.choices, *self.wrong)
                if confusion.startswith(f"{OWN}-") and (why := self.feedback(confusion))
            },
            tolerance=self.tolerance or None,
        )  # fmt: skip


@dataclass(frozen=True)
class OwnSet:
    """The questions of a file, and its title."""

    title: str
    exercises: tuple[OwnExercise, ...]


def read_files(files: Iterable[str | Path]) -> list[OwnSet]:
    """The sets of some files. Raises NormvizError, also if an id is in two of them."""
    found = [read_file(Path(file)) for file in files]
    ids = [one.id for each in found for one in each.exercises]
    if twice := next((one for one in ids if ids.count(one) > 1), None):
        raise NormvizError(
            "two files have a question with the id {id}; write another id: in one of them.", id=echo(twice)
        )
    return found


def read_file(file: Path) -> OwnSet:
    """The questions in a file. Raises NormvizError with the file and the line of what is wrong."""
    try:
        content = read_content(file)
    except (OSError, ValueError) as error:
        raise NormvizError(
            "the file {file} cannot be read ({why}); name another file.", file=str(file), why=error
        ) from None
    read = read_markdown if file.suffix.lower() == ".md" else read_questions
    return read(decoded(content, str(file)), str(file))


def read_questions(text: str, file: str) -> OwnSet:
    """The questions in a text of YAML. Raises NormvizError with the line of what is wrong."""
    given = _yaml(text, file)
    fields = given.fields(FILE_KEYS)
    listed_questions = fields["questions"].items() if "questions" in fields else []
    if not 1 <= len(listed_questions) <= MOST_QUESTIONS:
        raise given.error(
            N_("the key questions must have a list whose length is from 1 to {most}; write it."), most=MOST_QUESTIONS
        )
    found: dict[str, OwnExercise] = {}
    for one in listed_questions:
        exercise = _Question(one).read()
        if exercise.id in found:
            raise one.error(
                N_("two questions have the id {id}; write another id: in one of them."), id=echo(exercise.id)
            )
        found[exercise.id] = exercise
    title = fields["title"].text(MOST_TITLE) if "title" in fields else Path(file).stem
    return OwnSet(title, tuple(found.values()))


def read_markdown(text: str, file: str) -> OwnSet:
    """The one question of a Markdown file: keys between lines of hyphens, the text, options as a task list, and ``## Answer``."""
    front = FRONT.fullmatch(text)
    if not front:
        raise NormvizError("{file}, line 1: begin with --- , the keys of the question, and --- again.", file=file)
    given, body = _yaml(front[1], file, first=2), front[2]
    fields = dict(given.fields(KEYS)) if given.value else {}
    first = text[: front.start(2)].count("\n") + 1
    asked, _heading, answer = body.partition("\n## Answer\n")

    def add(key: str, one: Marked) -> None:
        if key in fields:
            raise one.error(N_("{key} is given twice; give it once."), key=echo(key))
        fields[key] = one

    options: list[Marked] = []
    for one in MARKDOWN_OPTION.finditer(asked):
        at = first + asked[: one.start()].count("\n")
        option = {"text": Marked(one[2], file, at), "why": Marked(" ".join(one[3].split()), file, at)}
        options.append(Marked(option if one[3] else option["text"].value, file, at))
        if one[1] != " ":
            add("answer", Marked(one[2], file, at))
    add("text", Marked(MARKDOWN_OPTION.sub("", asked).strip(), file, first))
    if options:
        add("options", Marked(options, file, first))
    if answer.strip():
        add("explanation", Marked(answer.strip(), file, first + asked.count("\n") + 2))
    return OwnSet(Path(file).stem, (_Question(Marked(fields, file, 1)).read(),))


def _yaml(text: str, file: str, first: int = 1) -> Marked:
    try:
        return read_marked(text, file, first)
    except NormvizError:
        raise
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        at = mark.line + first if mark else first
        why = " ".join(str(getattr(error, "problem", None) or error).split())
        raise NormvizError("{file}, line {line} is not YAML: {why}.", file=file, line=at, why=why) from None


class _Question:
    """The question that a value of a file describes."""

    def __init__(self, given: Marked) -> None:
        self.given, self.fields = given, given.fields(KEYS)

    def read(self) -> OwnExercise:
        text, kind = self.markdown("text"), self.word("kind", COMPUTED)
        if not text:
            raise self.given.error(N_("a question needs a text; write text: and what is asked."))
        case = self.case()
        at, values = self.element(case), self.values(case)
        options = self.options()
        if kind in MARKED:
            return self.marked(text, kind, case, at, values)
        answer = self.answer(kind, case, at, values, options)
        variant = COMPUTED[kind][1] if kind else ""
        if variant == "normalized" and not case.norm.center:
            variant = "rms"
        name = self.name([text, kind, case.text, case.shape, at, values])
        level = int(self.word("level", [str(one) for one in LEVELS]) or 0)  # 0: the teacher names none
        right = answer
        slips = self.slips(answer, bool(kind))
        if same := [text for text, _why in options if _same(text, answer)]:
            right = min(same, key=lambda text: _distance(text, answer))
        elif options:
            raise self.where("answer").error(
                N_("the answer is {answer}, and none of the options; write the text of one of them."), answer=answer
            )
        return OwnExercise(
            kind or OWN, variant, level, case, at, values, right, tuple((f"{OWN}-{n}", number) for n, (number, _why) in enumerate(slips)),
            name=name, text=text, options=options, slips=tuple(why for _number, why in slips),
            reason=self.markdown("explanation"), of_topic=self.word("topic", TOPICS), computed=None if isinstance(answer, str) or not kind else answer,
        )  # fmt: skip

    def marked(self, text: str, kind: str, case: Case, at: tuple[int, ...], values: tuple[float, ...]) -> OwnExercise:
        """A question that is answered by marking elements, which torch finds. Raises NormvizError if the file states others."""
        for key in ("options", "wrong"):
            if key in self.fields:
                raise self.fields[key].error(
                    N_("elements are marked for kind={kind}; leave {key} out."), kind=kind, key=key
                )
        try:
            box = _compute_set(kind, case, at)
        except NormvizError as error:
            raise self.fields["kind"].blame(error) from None
        elements = members(box, at)
        if "answer" in self.fields:
            given = sorted({tuple(map(_number, one.items())) for one in self.fields["answer"].items()})
            if given != elements:
                raise self.fields["answer"].error(
                    N_("the answer is {answer}, and torch computes {computed}; correct the answer or the question."),
                    answer=echo(str(list(map(list, given)))), computed=echo(str(list(map(list, elements)))),
                )  # fmt: skip
        return OwnExercise(
            kind, "", int(self.word("level", [str(one) for one in LEVELS]) or 0), case, at, values, box, distinct(box, mistaken_sets(kind, case, at)),
            name=self.name([text, kind, case.text, case.shape, at, values]), text=text,
            reason=self.markdown("explanation"), of_topic=self.word("topic", TOPICS), computed=box,
        )  # fmt: skip

    def slips(self, answer: float | str, is_computed: bool) -> list[tuple[float, str]]:
        """The wrong numbers that the file expects, and why each tempts."""
        found: list[tuple[float, str]] = []
        for one in self.fields["wrong"].items() if "wrong" in self.fields else ():
            if "options" in self.fields or isinstance(answer, str):
                raise one.error(N_("wrong is for numbers; write why: below an option."))
            fields = one.fields(WRONG_KEYS)
            if len(fields) < len(WRONG_KEYS):
                raise one.error(
                    N_("a wrong number needs an answer and a why; write answer: 6 and why: and the reason.")
                )
            number = _number(fields["answer"])
            if abs(number - answer) <= _tolerance(answer, is_computed):
                raise one.error(
                    N_("{number} is not wrong, because the answer is {answer}; correct one of them."),
                    number=number,
                    answer=answer,
                )
            if number in (other for other, _why in found):
                raise one.error(N_("{key} is given twice; give it once."), key=echo(str(number)))
            found.append((number, _markdown(fields["why"])))
        return found

    def where(self, key: str) -> Marked:
        """The value of a key, or the question: for an error."""
        return self.fields.get(key, self.given)

    def markdown(self, key: str) -> str:
        """A text of Markdown; "" if there is none."""
        return _markdown(self.fields[key]) if key in self.fields else ""

    def word(self, key: str, known: Iterable[str]) -> str:
        """One of a few words; "" if there is none."""
        if key not in self.fields:
            return ""
        word = self.fields[key].text()
        if word not in known:
            raise self.fields[key].error(
                N_("{key}={value} is unknown; choose {known}."), key=key, value=echo(word), known=listed(known)
            )
        return word

    def numbers(self, key: str) -> list[float]:
        """The numbers of a list, and of the lists in it."""
        return [_number(one) for one in _flat(self.fields[key])] if key in self.fields else []

    def name(self, asked: list[object]) -> str:
        """The id; without one, it follows from what is asked."""
        if "id" not in self.fields:
            return f"{OWN}-{hash_text(repr(asked)):08x}"
        name = self.fields["id"].text()
        if not SAFE_ID.fullmatch(name):
            raise self.fields["id"].error(
                N_("an id has up to 60 letters, digits, hyphens and underscores; change {id}."), id=echo(name)
            )
        return name

    def case(self) -> Case:
        """The layer and the tensor. Raises NormvizError if the layer does not take the tensor."""
        shape = tuple(map(int, self.numbers("shape")))
        if any(
            size != given or not 1 <= size <= MOST_SIZE
            for size, given in zip(shape, self.numbers("shape"), strict=True)
        ):
            raise self.fields["shape"].error(
                N_("the shape has whole numbers from 1 to {most:,}, such as [2, 3, 4, 4]."), most=MOST_SIZE
            )
        layout = self.fields["layout"].text() if "layout" in self.fields else ""
        if layout and not shape:
            raise self.fields["layout"].error(
                N_("{key} names the axes of a shape; write shape: [2, 3, 4, 4]."), key="layout"
            )
        try:
            if "layer" not in self.fields:
                layout = layout or LAYOUTS.get(len(shape), "")
                if shape:
                    parse_layout(layout, len(shape))
                return Case("", shape, layout)
            layer = Layer.parse(self.fields["layer"].text())
            if not isinstance(layer, Layer):
                raise NormvizError("write a layer of torch, such as BatchNorm2d(3).")
            if shape:
                describe(layer, shape, layout=layout or None)
            return Case(
                ONE_SIZE.sub(r"(\1", str(layer)), shape, layout or (layer.kind.layout(len(shape)) if shape else "")
            )
        except NormvizError as error:
            raise self.where("layer" if "layer" in self.fields else "shape").blame(error) from None

    def element(self, case: Case) -> tuple[int, ...]:
        given = tuple(self.numbers("at"))
        at = tuple(map(int, given))
        if given and (
            len(at) != len(case.shape)
            or at != given
            or not all(0 <= i < size for i, size in zip(at, case.shape, strict=True))
        ):
            raise self.fields["at"].error(
                N_("at={at} is not an element of x, whose shape is {shape}."), at=given, shape=case.shape
            )
        return at

    def values(self, case: Case) -> tuple[float, ...]:
        values = tuple(self.numbers("values"))
        if values and (len(values) != prod(case.shape) or len(values) > MOST_VALUES or not case.shape):
            raise self.fields["values"].error(
                N_("the number of values is {n}, and must be that of the elements of x, {count}, and at most {most}."),
                n=len(values), count=prod(case.shape) if case.shape else 0, most=MOST_VALUES,
            )  # fmt: skip
        nested = _shape_of(self.fields["values"]) if values else ()
        if len(nested) != 1 and nested != case.shape and values:
            raise self.fields["values"].error(
                N_(
                    "the lists of values do not have the shape of x, {shape}; write them as x has them, or in one list."
                ),
                shape=case.shape,
            )
        if long := next((value for value in values if float(f"{value:g}") != value), None):
            raise self.fields["values"].error(
                N_("the figure shows 6 digits of a value, and {value} has more; round it."), value=long
            )
        return values

    def options(self) -> tuple[tuple[str, str], ...]:
        """The text of each option, and why it tempts."""
        if "options" not in self.fields:
            return ()
        found = []
        for one in self.fields["options"].items():
            fields = one.fields(OPTION_KEYS) if isinstance(one.value, dict) else {"text": one}
            if "text" not in fields:
                raise one.error(N_("an option needs a text; write text: and the option."))
            why = _markdown(fields["why"]) if "why" in fields and fields["why"].value else ""
            found.append((_markdown(fields["text"]), why))
        texts = [_value_of(bare(text)) for text, _why in found]
        if not 2 <= len({*texts}) == len(texts) <= MOST_OPTIONS:
            raise self.fields["options"].error(
                N_("the number of options is from 2 to {most}, and all must differ; correct the list."),
                most=MOST_OPTIONS,
            )
        return tuple(found)

    def answer(
        self, kind: str, case: Case, at: tuple[int, ...], values: tuple[float, ...], options: Sequence[tuple[str, str]]
    ) -> float | str:
        """The right number, or the text of the right option. Raises NormvizError if torch computes another one."""
        given = self.fields["answer"].text() if "answer" in self.fields else ""
        if not kind:
            if not given:
                raise self.given.error(
                    N_("a question needs an answer, or a kind whose answer torch computes: {kinds}."),
                    kinds=listed(COMPUTED),
                )
            return given if options else _number(self.fields["answer"])
        try:
            computed = _compute(kind, case, at, values)
        except NormvizError as error:
            raise self.fields["kind"].blame(error) from None
        if given and not _same(given, computed):
            raise self.fields["answer"].error(
                N_("the answer is {answer}, and torch computes {computed}; correct the answer or the question."),
                answer=echo(given), computed=_shown(computed),
            )  # fmt: skip
        if options and not any(_same(text, computed) for text, _why in options):
            raise self.fields["options"].error(
                N_("torch computes {computed}, which is none of the options; add it."), computed=_shown(computed)
            )
        return computed


def _compute(kind: str, case: Case, at: tuple[int, ...], values: tuple[float, ...]) -> float:
    """What torch's own module gives. Raises NormvizError for what it needs."""
    if not case.text:
        raise NormvizError("kind={kind} needs a layer; write layer: BatchNorm2d(3).", kind=kind)
    if kind in ("gammas", "parameters"):
        return measured.gammas(case.text) if kind == "gammas" else measured.parameters(case.text)
    if not case.shape:
        raise NormvizError("kind={kind} needs the shape of x; write shape: [2, 3, 4, 4].", kind=kind)
    if kind != "output" and case.layer.running:
        raise NormvizError("{layer} computes no mean from x in eval mode; leave .eval() out.", layer=case.text)
    if kind in ("means", "elements_per_mean"):
        if prod(case.shape) > MOST_ELEMENTS:
            raise NormvizError(
                "the size of x is {n:,}, and may be {most:,} at most for kind={kind}; choose a smaller shape.",
                n=prod(case.shape),
                kind=kind,
                most=MOST_ELEMENTS,
            )
        groups = measured.groups(case.text, case.shape)
        return len(groups) if kind == "means" else len(groups[0])
    if not at or not values:
        raise NormvizError("kind={kind} needs the values of x and an element; write values: and at:.", kind=kind)
    if kind != "output" and not case.norm.center:
        raise NormvizError("{layer} subtracts no mean; write kind: output.", layer=case.text)
    x = torch.tensor(values, dtype=torch.float64).reshape(case.shape)
    if kind == "output":
        return round(measured.normalized(case.text, x, at), 2)
    return round(measured.statistics_of(case.text, x, at)[kind == "variance"], 2)


def _compute_set(kind: str, case: Case, at: tuple[int, ...]) -> Box:
    """The elements that share a mean, or a gamma, with an element in torch's own module, itself among them."""
    if not case.text or len(at) < 2:
        raise NormvizError(
            "kind={kind} needs a layer, an x of two axes or more, and an element of it; write layer:, shape: and at:.",
            kind=kind,
        )
    if prod(case.shape) > MOST_MARKED:
        raise NormvizError(
            "the size of x is {n:,}, and may be {most:,} at most for kind={kind}; choose a smaller shape.",
            n=prod(case.shape), kind=kind, most=MOST_MARKED,
        )  # fmt: skip
    if kind == "peers" and case.layer.running:
        raise NormvizError("{layer} computes no mean from x in eval mode; leave .eval() out.", layer=case.text)
    if kind == "parameter_peers" and not measured.gammas(case.text):
        raise NormvizError("{layer} has no gamma; write affine=True, or choose another layer.", layer=case.text)
    found = measured.group if kind == "peers" else measured.gamma_peers
    return measured.box_of(found(case.text, case.shape, at), len(case.shape))


def _tolerance(answer: Answer, is_computed: bool) -> float:
    """How far a reader's number may be off."""
    if not isinstance(answer, float):
        return 0.0
    return TOLERANCE if is_computed else min(TOLERANCE, abs(answer) / 100)


def _same(given: str, answer: float | str) -> bool:
    """Whether a text is an answer."""
    return _distance(given, answer) <= (TOLERANCE if isinstance(answer, float) else 0)


def _distance(given: str, answer: float | str) -> float:
    """How far a text is from an answer; infinite if the text is no number."""
    if isinstance(answer, str):
        return 0 if given == answer else inf
    try:
        return abs(float(bare(given)) - answer)
    except ValueError:
        return inf


def _value_of(text: str) -> float | str:
    """The number of a text, or the text if it is none: "3" and "3.0" are one answer."""
    try:
        return float(text)
    except ValueError:
        return text


def _shown(number: float) -> str:
    return format_number(number, 4) if isinstance(number, float) else str(number)


def _flat(given: Marked) -> list[Marked]:
    return [inner for one in given.items() for inner in (_flat(one) if isinstance(one.value, list) else [one])]


def _shape_of(given: Marked) -> tuple[int, ...]:
    """The shape of nested lists; (0, 0) if inner ones differ."""
    inner = {_shape_of(one) if isinstance(one.value, list) else () for one in given.items()}
    return (len(given.items()), *inner.pop()) if len(inner) == 1 else (0, 0)


def _number(given: Marked) -> float:
    """A number; an int if it is whole."""
    text = given.text()
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise given.error(
            N_("{value} is not a number; write one, such as 3 or 0.25, or give options."), value=echo(text)
        )
    return int(number) if number == int(number) else number


def _markdown(given: Marked) -> str:
    """A text. Raises NormvizError if it is too long, or has a link that could run code."""
    text = given.text(MOST_TEXT)
    for token in _links().parseInline(text) + _links().parse(text):
        for one in [token, *(token.children or [])]:
            address = str(one.attrGet("href") or one.attrGet("src") or "")
            scheme = SCHEME.match(address)
            if one.type == "image" or (scheme and scheme[1].lower() not in ("http", "https", "mailto")):
                raise given.error(
                    N_("{address} cannot be in a text: a link leads to a web page, and there are no pictures."),
                    address=echo(address),
                )
    return text


@lru_cache(1)
def _links() -> Any:
    """Markdown in which every link counts, also one that a page would not show."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    setattr(parser, "validateLink", lambda url: True)  # noqa: B010 - the name is that of the package
    return parser


# The folder that the app reads.


def content_names() -> list[str]:
    """The names of the sets in the folder of NORMVIZ_CONTENT, in order; none without a folder."""
    return sorted(_content_files())


def _content_files() -> dict[str, Path]:
    folder = environ.get(CONTENT, "").strip()
    if not folder or not Path(folder).is_dir():
        return {}
    return {
        file.stem: file for file in sorted(Path(folder).iterdir()) if file.suffix.lower() in ENDINGS and file.is_file()
    }


def content_set(name: str) -> OwnSet:
    """The set of this name. Raises NormvizError if there is none, or if its file is wrong."""
    file = _content_files().get(name)
    if file is None:
        raise NormvizError(
            "content={name} is not a set of this app; leave content out to practise with its exercises.",
            name=echo(name),
        )
    return _read_once(file, file.stat().st_mtime_ns)


@lru_cache(64)
def _read_once(file: Path, _changed: int) -> OwnSet:
    return read_file(file)
