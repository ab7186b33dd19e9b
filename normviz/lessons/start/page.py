"""Start here: the data of each step's figure, the steps, and the page. All numbers are torch's; the browser maps them by sliders, looks them up, and counts marks."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product
from math import prod
from typing import Any, ClassVar, Literal, Self

import torch
from torch import nn
from torch.nn import functional as F

from normviz.analysis.description import Description, describe
from normviz.figures.palette import THEMES
from normviz.figures.payload import NamedAxis, parameters_data, statistics_data
from normviz.figures.wire import Payload, left_out
from normviz.layers.layer import Layer, is_in_torch
from normviz.layers.sharing import Ids
from normviz.lessons.page import Page, Plan
from normviz.parts.html import Body, data, escape, line
from normviz.parts.part import Link, Part, SmallTensor
from normviz.parts.titles import LEARN, TITLES
from normviz.scene.grid import roles
from normviz.scene.setting import integer
from normviz.scene.view import View
from normviz.texts.errors import NormvizError, listed
from normviz.texts.languages import read_text
from normviz.texts.messages import N_, _, cache_by_language, format_number, join_sentences, language, ngettext, plain

# A small tensor as an SVG picture: each group that shares its statistics has a color of its own.


CELL, SIDE, GAP = 14, 13, 6
LIGHT, DARK = (theme.few + theme.more for theme in (THEMES["light"], THEMES["dark"]))
COLORS = [f"light-dark({light},{dark})" for light, dark in zip(LIGHT, DARK, strict=True)]


def groups_picture(e: Description, ids: Ids | None = None, colors: Sequence[str] = COLORS) -> str:
    """Facets stand side by side; of two axes of facets, the first goes down. Readers who do not see it need a caption.

    ids     the number of the group of each element; None: of those that share a mean
    colors  of the groups; they repeat
    """
    place, numbers = roles(e.axes), e.stat_ids if ids is None else ids
    down, across = place.facets[0] if len(place.facets) > 1 else None, place.facets[-1] if place.facets else None

    def size(axis: int | None) -> int:
        return 1 if axis is None else e.shape[axis]

    wide, high = size(place.col) * CELL + GAP, size(place.row) * CELL + GAP
    groups: dict[int, list[str]] = {}
    for index in product(*map(range, e.shape)):
        column, line, row = (0 if axis is None else index[axis] for axis in (across, down, place.row))
        left, top = column * wide + index[place.col] * CELL, line * high + row * CELL
        groups.setdefault(int(numbers[index]), []).append(f"M{left} {top}h{SIDE}v{SIDE}h-{SIDE}z")
    paths = "".join(
        f'<path d="{"".join(cells)}" style="fill:{colors[group % len(colors)]}"/>' for group, cells in groups.items()
    )
    width, height = size(across) * wide - GAP, size(down) * high - GAP
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true">{paths}</svg>'


Facts = Mapping[str, Any]
Index = tuple[int, ...]

LAYERS, WIDTH, BATCH = 10, 128, 64
# Sizes of the weights, as multiples of the size that keeps the spread.
SIZES = (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.4, 1.6, 1.8, 2)
FIRST_SIZE = 1.6
FOUR = (2.0, 5.0, 6.0, 9.0)
TABLE, FRAMED = ((1.0, 4.0, 10.0), (3.0, 8.0, 13.0)), (0, 1)
LARGER = (*TABLE, (2.0, 6.0, 4.0), (5.0, 9.0, 1.0), (7.0, 3.0, 8.0))  # the batch that arrives after the table
STREAM = (
    (6.0, 10.0, 8.0, 4.0),
    (6.0, 2.0, 7.0, 5.0),
    (6.0, 9.0, 10.0, 7.0),
    (6.0, 1.0, 4.0, 5.0),
    (6.0, 5.0, 9.0, 8.0),
    (6.0, 2.0, 8.0, 4.0),
)
PUSHED, MOMENTUM = (
    12,
    0.5,
)  # batches that are recorded; with torch's default, the running mean would follow too slowly to be watched
ASKED: dict[Literal["train", "eval"], int] = {"train": 3, "eval": 2}  # batches that the reader pushes in each mode
IMAGES, PIXEL = (2, 4, 2, 2), (0, 1, 0, 1)
SEQUENCES, TOKEN = (2, 4, 3), (0, 1, 2)
SAME_GROUPS = N_("The same groups as LayerNorm, no mean is subtracted.")
MARK_GAMMA = N_("Mark every element that is multiplied by the same gamma as the framed one.")
NO_GAMMA = N_("In PyTorch, it has no gamma and no beta by default.")
LEARNT = N_(
    "Subtract the mean and divide by the standard deviation; gamma and beta follow, if the layer has them. "
    "Layers differ above all in who shares a mean: each color is one group."
)


@dataclass(frozen=True)
class DepthData(Payload):
    """The spread of what each layer computes, by the size of the weights and the layer."""

    sizes: Sequence[float]
    first: int
    plain: list[list[float]]
    normalized: list[list[float]]
    kind: Literal["depth"] = "depth"


@cache
def depth() -> DepthData:
    """The standard deviation of what each layer of a network of linear layers with ReLU computes, with and without BatchNorm."""
    plain, normalized = ([_spreads(size, is_normalized) for size in SIZES] for is_normalized in (False, True))
    return DepthData(SIZES, SIZES.index(FIRST_SIZE), plain, normalized)


def _spreads(size: float, is_normalized: bool) -> list[float]:
    generator = torch.Generator().manual_seed(0)
    x, found = torch.randn(BATCH, WIDTH, generator=generator), []
    for _layer in range(LAYERS):
        weight = size * (2 / WIDTH) ** 0.5 * torch.randn(WIDTH, WIDTH, generator=generator)
        x = F.relu(x) @ weight.T
        if is_normalized:
            x = F.batch_norm(x, None, None, training=True)
        found.append(float(x.std(correction=0)))
    return found


@dataclass(frozen=True)
class LineMoments(Payload):
    """A mean and a standard deviation."""

    mean: float
    std: float

    @classmethod
    def of(cls, values: torch.Tensor) -> Self:
        return cls(float(values.mean()), float(values.std(correction=0)))


@dataclass(frozen=True)
class LineSlider(Payload):
    """A slider that moves the numbers."""

    name: str
    low: float
    high: float
    first: float
    goal: float
    step: float = 0.5


@dataclass(frozen=True)
class LineData(Payload):
    """Numbers on a line, and two sliders that move them. ``rings``: where they were."""

    kind: Literal["numbers", "affine"]
    values: list[float]
    mean: float
    std: float
    sliders: tuple[LineSlider, LineSlider]
    goal: LineMoments
    rings: list[float] | None = left_out(None)
    range: tuple[float, float] = (-6, 10)


@cache
def numbers() -> LineData:
    """Four numbers; the sliders subtract and divide."""
    x = torch.tensor(FOUR)
    found = LineMoments.of(x)
    sliders = LineSlider("subtract", 0, 10, 0, found.mean), LineSlider("divide", 0.5, 5, 1, found.std)
    return LineData("numbers", x.tolist(), found.mean, found.std, sliders, LineMoments(0, 1))


def numbers_facts() -> Facts:
    x = torch.tensor(FOUR)
    distances = " + ".join(f"{format_number(abs(value))}²" for value in (x - x.mean()).tolist())
    return {
        "mean": float(x.mean()),
        "squares": float(x.square().mean()),
        "squared": float(x.mean() ** 2),
        "distances": distances,
        "n": len(x),
        "variance": float(x.var(correction=0)),
        "std": float(x.std(correction=0)),
    }


@cache
def affine() -> LineData:
    """The four numbers as BatchNorm normalizes them; the sliders multiply and add."""
    layer, found = nn.BatchNorm1d(1).double(), numbers()
    with torch.no_grad():
        normalized = layer(torch.tensor(FOUR, dtype=torch.float64).reshape(-1, 1)).flatten()
    gamma = LineSlider("gamma", 0, 5, layer.weight.item(), found.std)
    beta = LineSlider("beta", -2, 8, layer.bias.item(), found.mean)
    now, goal = LineMoments.of(normalized), LineMoments(found.mean, found.std)
    return LineData("affine", normalized.tolist(), now.mean, now.std, (gamma, beta), goal, found.values)


def affine_facts() -> Facts:
    gamma, beta = affine().sliders
    return {"gamma": gamma.goal, "beta": beta.goal, "first_gamma": gamma.first, "first_beta": beta.first}


@dataclass(frozen=True, kw_only=True)
class MarkedTensor(SmallTensor):
    """The elements of a tensor, some of which a reader marks: those whose index along these axes is that of the framed one.

    texts  the text of each element, in row-major order; without it, the buttons are empty
    """

    at: Index
    axes: list[NamedAxis]
    texts: list[str] | None = left_out(None)


@dataclass(frozen=True)
class MarksTask(Payload):
    """A layer, and what shares a mean or a gamma in it.

    seen    what the colors show
    about   what a reader needs to know before marking
    hint    for wrong marks, instead of that of the step
    shares  what is shared, where a layer has a task for each: its statistic, or gamma
    """

    label: str
    task: MarkedTensor
    seen: str
    about: str = left_out("")
    hint: str = left_out("")
    shares: str = left_out("")


@dataclass(frozen=True)
class MarksData(Payload):
    """One or several layers to choose from."""

    tasks: list[MarksTask]
    kind: Literal["marks"] = "marks"


def _task(layer: str, x: torch.Tensor, at: Index, shared: str = "mean") -> MarkedTensor:
    """Marking the elements of a tensor that share a mean, or a gamma, with the framed one."""
    texts = [format_number(value) for value in x.flatten().tolist()]
    return _marked(describe(Layer.parse(layer), x), at, texts, shared)


def _marked(e: Description, at: Index, texts: list[str] | None = None, shared: str = "mean") -> MarkedTensor:
    sharing = parameters_data(e) if shared == "gamma" else statistics_data(e)
    axes, drawn = sharing.axes if sharing else [], vars(roles(e.axes))
    return MarkedTensor(shape=e.shape, names=e.axes, at=at, axes=axes, texts=texts, **drawn)


@cache_by_language()
def marks(layer: str) -> MarksData:
    """The table of the steps on BatchNorm and LayerNorm."""
    colors = _("Elements of one color share a mean and a variance.")
    return MarksData([MarksTask(layer, _task(layer, torch.tensor(TABLE), FRAMED), colors)])


@dataclass(frozen=True)
class GammasData(Payload):
    """The table of which a reader marks who shares a gamma, and the larger batch that arrives.

    gammas  how many the layer has
    """

    tasks: list[MarksTask]
    batch: list[list[str]]
    gammas: int
    kind: Literal["gammas"] = "gammas"


@cache_by_language()
def gammas() -> GammasData:
    """The table of the step on gamma."""
    colors = _("Elements of one color share a gamma and a beta.")
    task = MarksTask("LayerNorm(3)", _task("LayerNorm(3)", torch.tensor(TABLE), FRAMED, "gamma"), colors)
    return GammasData([task], [[format_number(x) for x in row] for row in LARGER], nn.LayerNorm(3).weight.numel())


def marks_facts(layer: str) -> Facts:
    x, task = torch.tensor(TABLE), marks(layer).tasks[0].task
    kept = [axis.axis for axis in task.axes]
    group = x[tuple(FRAMED[axis] if axis in kept else slice(None) for axis in range(x.dim()))]
    terms = " + ".join(map(format_number, group.tolist()))
    return {
        "layer": layer,
        "rows": x.shape[0],
        "columns": x.shape[1],
        "framed": float(x[FRAMED]),
        "terms": terms,
        "n": len(group),
        "mean": float(group.mean()),
    }


def gammas_facts() -> Facts:
    layer = nn.LayerNorm(3)
    gammas, betas = layer.weight.numel(), layer.bias.numel()
    larger = torch.tensor(LARGER)
    assert layer(larger).shape == larger.shape  # the same gammas
    return {"framed": TABLE[0][1], "gammas": gammas, "betas": betas, "rows": len(TABLE), "larger": len(LARGER)}


@dataclass(frozen=True)
class StreamData(Payload):
    """Batches, which come again after the last one; the first example of each is the same.

    means    of the batches
    stored   the running mean after each number of batches in train mode, from 0
    outputs  of the first example: in train mode in each batch, and in eval mode after each number of batches
    asked    how many batches the reader pushes
    """

    batches: list[list[float]]
    means: list[float]
    stored: list[float]
    outputs: dict[Literal["train", "eval"], list[float]]
    asked: dict[Literal["train", "eval"], int]
    range: tuple[float, float]
    kind: Literal["stream"] = "stream"


@cache
def stream() -> StreamData:
    """Batches that begin with the same example, as BatchNorm normalizes it in train mode, and as it would in eval mode after each batch."""
    layer = nn.BatchNorm1d(1, momentum=MOMENTUM).double()
    batches = torch.tensor(STREAM, dtype=torch.float64)
    first = batches[:1, :1]
    stored, evaluated, trained = [], [], []
    with torch.no_grad():
        for number in range(PUSHED + 1):
            assert layer.running_mean is not None
            stored.append(layer.running_mean.item())
            evaluated.append(layer.eval()(first).item())
            trained.append(layer.train()(batches[number % len(batches), :, None])[0].item())
    outputs: dict[Literal["train", "eval"], list[float]] = {"train": trained[: len(batches)], "eval": evaluated}
    return StreamData(batches.tolist(), batches.mean(dim=1).tolist(), stored, outputs, ASKED, (-1, 11))


def stream_facts() -> Facts:
    return {
        "size": len(STREAM[0]),
        "framed": STREAM[0][0],
        "momentum": MOMENTUM,
        "default": nn.BatchNorm1d(1).momentum,
        "train": ASKED["train"],
        "eval": ASKED["eval"],
    }


def _numbered() -> torch.Tensor:
    """Images whose elements differ, so that a reader can follow each one into the table."""
    return torch.arange(float(prod(IMAGES))).reshape(IMAGES)


@dataclass(frozen=True)
class PixelsData(Payload):
    """The images, and their table."""

    tasks: tuple[MarkedTensor, MarkedTensor]
    kind: Literal["pixels"] = "pixels"


@cache_by_language()
def pixels() -> PixelsData:
    """A batch of images, and the same numbers as a table: a row for each pixel, a column for each channel."""
    x, channels = _numbered(), IMAGES[1]
    table = x.permute(0, 2, 3, 1).reshape(-1, channels)
    at = tuple((table == x[PIXEL]).nonzero()[0].tolist())
    images, rows = _task(f"BatchNorm2d({channels})", x, PIXEL), _task(f"BatchNorm1d({channels})", table, at)
    return PixelsData((images, replace(rows, names=(_("pixel"), "c"))))


def pixels_facts() -> Facts:
    e = describe(Layer.parse(f"BatchNorm2d({IMAGES[1]})"), IMAGES)
    return {
        "shape": IMAGES,
        "layer": e.title,
        "framed": float(_numbered()[PIXEL]),
        "n": e.counts.elements_per_statistic,
        "means": e.counts.statistics,
    }


@dataclass(frozen=True)
class Asked:
    """A layer on images or on sequences.

    label   on its button
    layer   its constructor call
    shape   of x
    at      the framed element
    about   what a reader needs to know before marking, or ""
    layout  the axes of x, where another order is usual
    """

    label: str
    layer: str
    shape: Index
    at: Index
    about: str = ""
    layout: str | None = None

    @cached_property
    def description(self) -> Description:
        return describe(Layer.parse(self.layer), self.shape, layout=self.layout)


def asked() -> tuple[Asked, ...]:
    """The layers of the last step, in the order of their buttons."""
    (n, c, h, w), on_sequences = IMAGES, N_("Sequences: {layer}")
    last = _("It averages over the last axes of x; their sizes are its argument.")
    found = (
        Asked("BatchNorm", f"BatchNorm2d({c})", IMAGES, PIXEL),
        Asked("LayerNorm([C, H, W])", f"LayerNorm({[c, h, w]})", IMAGES, PIXEL, last),
        Asked("LayerNorm([H, W])", f"LayerNorm({[h, w]})", IMAGES, PIXEL, last),
        Asked(_("Pixels: {layer}", layer="LayerNorm(C)"), f"LayerNorm({c})", (n, h, w, c), (0, 0, 1, 1), last, "NHWC"),
        Asked("InstanceNorm", f"InstanceNorm2d({c})", IMAGES, PIXEL, _("It averages as BatchNorm does, but in each image alone.")),
        Asked(
            "GroupNorm", f"GroupNorm(2, {c})", IMAGES, PIXEL,
            _("It averages as LayerNorm does, but in each group of neighboring channels alone. Its first argument is the number of groups."),
        ),
        Asked(_(on_sequences, layer="LayerNorm(C)"), f"LayerNorm({SEQUENCES[-1]})", SEQUENCES, TOKEN, last),
        Asked(
            _(on_sequences, layer="RMSNorm(C)"), f"RMSNorm({SEQUENCES[-1]})", SEQUENCES, TOKEN,
            _("It divides by the root of a mean of squares. Mark what shares that mean."),
        ),
    )  # fmt: skip
    return tuple(one for one in found if is_in_torch(one.layer))


@cache_by_language()
def images() -> MarksData:
    """Layers to choose from, on images and on sequences; of each, first who shares a mean, then who shares a gamma."""
    return MarksData([task for one in asked() for task in _tasks(one)])


def _tasks(one: Asked) -> Iterator[MarksTask]:
    """``hint`` is for marks that are wrong, ``seen`` for those that are right."""
    e = one.description
    call = _("{layer} on ({axes}) = {shape}.", layer=one.layer, axes=", ".join(e.layout), shape=e.shape)
    about, hint = join_sentences(filter(None, [call, one.about])), _rule(e)
    seen = [hint, *_without_gamma(e)] if e.norm.center else [_(SAME_GROUPS), hint]
    shares = _("mean") if e.norm.center else _("mean of squares")
    yield MarksTask(one.label, _marked(e, one.at), join_sentences(seen), about, hint, shares)
    if e.counts.gamma_shape:
        rule = _gammas(e)
        yield MarksTask(
            one.label, _marked(e, one.at, shared="gamma"), rule, join_sentences([call, _(MARK_GAMMA)]), rule, "gamma"
        )


def _without_gamma(e: Description) -> list[str]:
    return [] if e.counts.gamma_shape else [_(NO_GAMMA)]


def _rule(e: Description) -> str:
    """The axes that are kept and the axes that are averaged."""
    elements = ngettext(
        "Each is the mean of {n} element.", "Each is the mean of {n} elements.", e.counts.elements_per_statistic
    )
    return join_sentences([_means(e), elements] if e.norm.center else [_means(e)])


def _means(e: Description) -> str:
    values = {"kept": _axes(e.norm.pattern.right), "reduced": _axes(e.norm.pattern.reduced)}
    if not e.norm.center:
        return ngettext(
            "One mean of squares for each {kept}, over {reduced}: {n} in all.",
            "One mean of squares for each {kept}, over {reduced}: {n} in all.",
            e.counts.statistics,
            **values,
        )
    return ngettext(
        "One mean for each {kept}, over {reduced}: {n} mean.",
        "One mean for each {kept}, over {reduced}: {n} means.",
        e.counts.statistics,
        **values,
    )


def _gammas(e: Description) -> str:
    kept = e.norm.gamma_axes
    return ngettext(
        "One gamma for each {kept}, the same for every {others}: {n} gamma.",
        "One gamma for each {kept}, the same for every {others}: {n} gammas.",
        prod(e.counts.gamma_shape or ()),
        kept=_axes(kept),
        others=_axes(name for name in e.axes if name not in kept),
    )


def _axes(names: Iterable[str]) -> str:
    return listed(map(_axis, names), "and")


def _axis(name: str) -> str:
    """An axis of a pattern as a newcomer reads it: GroupNorm splits the channels into groups."""
    return {"g": _("group"), "k": _("C of the group")}.get(name, name.upper())


# The steps as data: the prose of each, in a Markdown file, and its figure. Numbers in the prose are placeholders filled from torch's.
# The prose of the step ``depth`` is ``normviz/locale/<language>/start/depth.md``.

SECTIONS = {"Do": "act", "Hint": "hint", "Done": "done"}
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class StepProse:
    """The text of a step.

    title  its heading
    text   one or two sentences
    act    what the reader does
    hint   what helps a reader who has marked the wrong elements, or ""
    done   what the reader has seen
    """

    title: str
    text: str
    act: str
    done: str
    hint: str = ""


@dataclass(frozen=True)
class LessonStep:
    """A step: its identifier, the data of its figure, and the placeholders of its prose."""

    key: str
    figure: Callable[[], Payload]
    facts: Callable[[], Facts] = dict

    @property
    def prose(self) -> StepProse:
        """The text in the reader's language, or in English if there is no translation."""
        return _prose(self, language.get())


LESSON_STEPS = (
    LessonStep("depth", depth),
    LessonStep("numbers", numbers, numbers_facts),
    LessonStep("batchnorm", lambda: marks("BatchNorm1d(3)"), lambda: marks_facts("BatchNorm1d(3)")),
    LessonStep("layernorm", lambda: marks("LayerNorm(3)"), lambda: marks_facts("LayerNorm(3)")),
    LessonStep("affine", affine, affine_facts),
    LessonStep("gammas", gammas, gammas_facts),
    LessonStep("eval", stream, stream_facts),
    LessonStep("pixels", pixels, pixels_facts),
    LessonStep("images", images),
)


@cache
def _prose(step: LessonStep, name: str) -> StepProse:
    path = f"start/{step.key}.md"
    facts = step.facts().items()
    texts = {key: format_number(value) if isinstance(value, float) else str(value) for key, value in facts}
    return read_prose(read_text(path).format_map(texts), f"{name}/{path}")


def read_prose(text: str, name: str) -> StepProse:
    """The parts of a Markdown file. Raises NormvizError if one is missing.

    >>> read_prose("# Title\\n\\nText.\\n\\n## Do\\n\\nClick.\\n\\n## Done\\n\\nSeen.", "a.md").act
    'Click.'
    """
    begin, *rest = HEADING.split(text)
    title, _newline, first = begin.removeprefix("# ").partition("\n")
    parts = {SECTIONS.get(heading, heading): _line(body) for heading, body in zip(rest[::2], rest[1::2], strict=True)}
    if not begin.startswith("# ") or not {"act", "done"} <= parts.keys() <= set(SECTIONS.values()):
        raise NormvizError(f"{name} must have a title (#), a text, '## Do', '## Done', and perhaps '## Hint'.")
    return StepProse(title.strip(), _line(first), **parts)


def _line(text: str) -> str:
    return " ".join(text.split())


# The steps as one part of a page. The browser shows one step after the other, and judges what the reader does.


@dataclass(frozen=True)
class Lesson(Part):
    """All steps, and at their end what was learned.

    steps  in their order
    first  the number of the step that is shown first, from 1; 0: where the reader left off
    after  where to go on
    """

    steps: tuple[LessonStep, ...]
    first: int = 0
    after: Link | None = None
    name: ClassVar[str] = "panels"

    def html(self, body: Body) -> str:
        """Without scripts, all steps are shown as text."""
        body.exercises = True
        steps = "\n".join(map(_html, self.steps))
        after = self.after.html(body, " nv-start-after") if self.after else ""
        return f'<div class="nv-start" data-first="{self.first}">\n{steps}\n{_learnt_html()}\n{after}</div>'

    def plain_text(self) -> str:
        steps = [
            plain(f"{number}. {step.prose.title}\n\n{step.prose.text}\n\n{step.prose.done}")
            for number, step in enumerate(self.steps, 1)
        ]
        return "\n\n".join(
            [*steps, *(_("{title}: {caption}", title=one.label, caption=_learnt(one)) for one in asked())]
        )


def _html(step: LessonStep) -> str:
    prose = step.prose
    hint = f'<p class="nv-start-hint" hidden>{line(prose.hint)}</p>' if prose.hint else ""
    return (
        f'<section class="nv-start-step" data-key="{step.key}" data-figure="{escape(data(step.figure()))}">'
        f'<h2 tabindex="-1">{line(prose.title)}</h2><p class="nv-start-text">{line(prose.text)}</p>'
        f'<p class="nv-start-act">{line(prose.act)}</p><div class="nv-start-figure"></div>{hint}'
        f'<p class="nv-start-done">{line(prose.done)}</p></section>'
    )


def _learnt_html() -> str:
    """What was learned in pictures: of each layer of the last step, the elements that share a mean, and those that share a gamma."""
    cards = "".join(
        f"<figure><strong>{escape(one.label)}</strong>{''.join(_learnt_row(one, task) for task in _tasks(one))}"
        f"<figcaption>{escape(join_sentences(_also(one.description)))}</figcaption></figure>"
        for one in asked()
    )
    title, rule = _("What you have learned"), _(LEARNT)
    return f'<section class="nv-start-learnt"><h3>{escape(title)}</h3><p>{escape(rule)}</p><div>{cards}</div></section>'


def _learnt_row(one: Asked, task: MarksTask) -> str:
    e, is_gamma = one.description, task.shares == "gamma"
    ids, rule = (e.param_ids, _gammas(e)) if is_gamma else (e.stat_ids, _means(e))
    picture = groups_picture(e, ids)
    return f'<div class="nv-start-seen"><b>{escape(task.shares)}</b>{picture}<span>{escape(rule)}</span></div>'


def _learnt(one: Asked) -> str:
    e = one.description
    return join_sentences([_means(e), *([_gammas(e)] if e.counts.gamma_shape else []), *_also(e)])


def _also(e: Description) -> list[str]:
    if not e.norm.center:
        return [_(SAME_GROUPS)]
    stored = [_("It stores running means and variances for eval mode.")] if e.buffers else []
    return [*stored, *_without_gamma(e)]


def view_parts(view: View) -> Iterator[Part]:
    """The page Start here."""
    yield Lesson(LESSON_STEPS, view.settings["step"], Link(_("Next: {title}", title=_("Practice")), "practice"))


START_STEPS = len(LESSON_STEPS)
STEP = integer("step", 0, START_STEPS, 0, widget=None).described(
    "", N_("the step that is shown first; 0: where the reader left off"), "3"
)
PAGE = Page(
    "start",
    *TITLES["start"],
    view_parts,
    (STEP,),
    rows=lambda _view: (),
    group=LEARN,
    uses="nothing",
    plan=Plan(
        N_(
            "Students compute a mean and a variance by hand, and name the numbers of a table, a sequence or an image that share them."
        ),
        10,
        ("s1a", "s2e", "s3i"),
    ),
)
