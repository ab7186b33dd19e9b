"""A network on two spirals, trained with each layer and each batch size: what ``python -m tools.record_training`` has recorded.

Numbers in texts are in ``**``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from normviz.figures.wire import Payload
from normviz.parts.html import Body, line, text
from normviz.parts.part import Caption, Details, Hides, Part, Sentence, Table, Text, without_hidden
from normviz.scene.setting import word
from normviz.scene.view import View
from normviz.texts.languages import paragraphs
from normviz.texts.messages import N_, _, cache_by_language, format_fixed

FILE = Path(__file__).with_name("training.json")
NO_NORM = "none"
NORMS: Mapping[str, str] = {
    "BatchNorm": "BatchNorm",
    "GroupNorm": "GroupNorm",
    "LayerNorm": "LayerNorm",
    NO_NORM: N_("no normalization"),
}
SIZES = (2, 4, 8, 16, 32, 64, 128)
SEEDS = 6
MODES = ("eval", "train")


@dataclass(frozen=True, eq=False)
class Cell:
    """What the networks with one layer and one batch size did. Accuracies are of the test points, from 0 to 1.

    train, eval  the accuracy in each mode: (seeds, steps)
    exact        at the end in eval(), with the statistics of all training points in the buffers: (seeds,)
    plane        of the first seed at the end, in eval(): the probability of class 1 at each place of a grid, as digits from 0 to 9, the lowest row first
    in_train     of the first seed at the end, in train(): the class of each test point, as digits
    in_eval      the same in eval()
    """

    train: NDArray[np.float64]
    eval: NDArray[np.float64]
    exact: NDArray[np.float64]
    plane: str
    in_train: str
    in_eval: str

    def end(self, mode: str) -> Accuracy:
        """The accuracy after the last step in "train" or "eval", or "exact"."""
        values = getattr(self, mode)
        return Accuracy(values if mode == "exact" else values[:, -1])


@dataclass(frozen=True, eq=False)
class Accuracy:
    """One accuracy for each seed."""

    seeds: NDArray[np.float64]

    @property
    def mean(self) -> float:
        return float(self.seeds.mean())

    def overlaps(self, other: Accuracy) -> bool:
        """Whether a seed of one is as good as a seed of the other: a difference of the means then says little."""
        return bool(self.seeds.min() <= other.seeds.max() and other.seeds.min() <= self.seeds.max())

    def __str__(self) -> str:
        """The mean in percent, and the lowest and the highest."""
        low, high = percent(self.seeds.min()), percent(self.seeds.max())
        return _("{mean} % ({low} to {high})", mean=percent(self.mean), low=low, high=high)


@cache
def recorded_data() -> Any:
    """The whole file."""
    return json.loads(FILE.read_text(encoding="utf-8"))


@cache
def recorded(norm: str, size: int) -> Cell:
    """The networks with this layer and this batch size."""
    data = recorded_data()
    cell, points = data["cells"][f"{norm} {size}"], len(data["points"])
    in_train, in_eval, exact = (np.array(cell[name]) / points for name in ("train", "eval", "exact"))
    return Cell(in_train, in_eval, exact, cell["plane"], cell["train_classes"], cell["eval_classes"])


def digits(given: str) -> NDArray[np.uint8]:
    """Digits as numbers: ``"012"``."""
    return np.frombuffer(given.encode(), np.uint8) - ord("0")


def percent(accuracy: float) -> str:
    """An accuracy in percent, without its sign; only one without errors is 100.0.

    >>> percent(0.985), percent(0.9996), percent(1)
    ('98.5', '99.96', '100.0')
    """
    value = 100 * float(accuracy)
    return format_fixed(value, 2 if 99.95 <= value < 100 else 1)


def true_classes() -> NDArray[np.uint8]:
    """The spiral of each test point."""
    return digits(recorded_data()["spirals"])


# The texts.


def end_sentence(norm: str, size: int) -> str:
    """The accuracy at the end, in both modes and without a normalization."""
    found, plain = recorded(norm, size), recorded(NO_NORM, size)
    values = {"size": size, "norm": norm, "plain": percent(plain.end("eval").mean)}
    values |= {mode: percent(found.end(mode).mean) for mode in MODES}
    if norm == NO_NORM:
        return _(
            "Trained on batches of **{size}** without a normalization, the networks get **{plain} %** of the test points right.",
            **values,
        )
    if has_modes(norm):
        return _(
            "Trained on batches of **{size}** with {norm}, the networks get **{eval} %** of the test points right in eval() and **{train} %** "
            "in train(); without a normalization, **{plain} %**.",
            **values,
        )
    return _(
        "Trained on batches of **{size}** with {norm}, the networks get **{eval} %** of the test points right in eval() and in train(); "
        "without a normalization, **{plain} %**.",
        **values,
    )


def has_modes(norm: str) -> bool:
    """Whether the layer stores running statistics."""
    return norm == "BatchNorm"


def norm_texts(norm: str, size: int) -> Iterator[str]:
    """What follows for the layer with this batch size."""
    cell, plain = recorded(norm, size), recorded(NO_NORM, size)
    if norm != NO_NORM:
        yield against_text(norm, cell.end("eval"), plain.end("eval"))
    if has_modes(norm):
        yield modes_text(cell)
        if not cell.end("eval").overlaps(plain.end("eval")) and not cell.end("exact").overlaps(plain.end("eval")):
            yield exact_text(cell, plain)
        if size == SIZES[0]:
            yield pairs_text(cell)
    elif norm != NO_NORM:
        yield _("{norm} takes its statistics from each point alone, so train() and eval() compute the same.", norm=norm)
    yield sizes_text(norm)


def against_text(norm: str, found: Accuracy, plain: Accuracy) -> str:
    """Whether the layer differs from no layer by more than the networks do that differ in their seed."""
    if found.overlaps(plain):
        return _(
            "In eval(), the networks with {norm} have **{found}**, those without a normalization **{plain}**: the ranges overlap, so the "
            "difference says little.",
            norm=norm,
            found=found,
            plain=plain,
        )
    return _(
        "In eval(), the networks with {norm} have **{found}**, those without a normalization **{plain}**: the ranges do not overlap.",
        norm=norm,
        found=found,
        plain=plain,
    )


def modes_text(cell: Cell) -> str:
    """Which mode is better."""
    in_train, in_eval = cell.end("train"), cell.end("eval")
    return _(
        "train() is worse than eval() in **{worse}** of the networks and better in **{better}**. In train(), the answer for a point depends on "
        "the other points of its batch.",
        worse=int((in_train.seeds < in_eval.seeds).sum()),
        better=int((in_train.seeds > in_eval.seeds).sum()),
    )


def exact_text(cell: Cell, plain: Cell) -> str:
    """That the networks have learned something worse: the running statistics are not the only reason."""
    return _(
        "A usual explanation is that the running statistics are noisy. With the exact statistics of all training points in their place, eval() "
        "goes from **{eval} %** to **{exact} %**; without a normalization, it has **{plain} %**. So the statistics are at most a "
        "part of the reason: the weights themselves are worse, too.",
        eval=percent(cell.end("eval").mean),
        exact=percent(cell.end("exact").mean),
        plain=percent(plain.end("eval").mean),
    )


def pairs_text(cell: Cell) -> str:
    """What BatchNorm makes of two values, and what follows for two points of the same spiral."""
    (_low, near), (_also_low, far) = normalized(0, NEAR), normalized(0, FAR)
    first, second = true_classes().reshape(-1, 2).T
    given, other = digits(cell.in_train).reshape(-1, 2).T
    alike = first == second
    return paragraphs(
        "training_pairs",
        near_value=f"{NEAR:g}",
        far_value=f"{FAR:g}",
        near=near,
        far=far,
        pairs=int(alike.sum()),
        apart=int((given != other)[alike].sum()),
    )


NEAR, FAR = 0.1, 10


def normalized(*values: float) -> list[str]:
    """The values of a channel after BatchNorm in train()."""
    x = torch.tensor(values, dtype=torch.float64).reshape(-1, 1)
    layer = torch.nn.BatchNorm1d(1, dtype=torch.float64)
    return [format_fixed(value, 3) for value in layer(x).flatten().tolist()]


def sizes_text(norm: str) -> str:
    """The accuracies in eval() over the batch sizes."""
    means = [recorded(norm, size).end("eval").mean for size in SIZES]
    return _(
        "Over all batch sizes, from {small} to {large}, networks with {norm} have between **{low} %** and **{high} %** in eval().",
        small=SIZES[0],
        large=SIZES[-1],
        norm=_(NORMS[norm]),
        low=percent(min(means)),
        high=percent(max(means)),
    )


def legend_text() -> str:
    """How to read the figure."""
    return paragraphs("training_figure", n=SEEDS)


def made_text() -> str:
    """How the networks were trained."""
    data = recorded_data()
    steps = data["steps"][-1]
    return paragraphs(
        "training_networks",
        width=data["width"],
        groups=data["groups"],
        rate=data["rate"],
        steps=steps,
        small=SIZES[0],
        few=SIZES[0] * steps,
        large=SIZES[-1],
        many=SIZES[-1] * steps,
        training=data["training_points"],
        points=len(data["points"]),
        torch=data["torch"],
    )


def end_table() -> Table:
    """The accuracy at the end for each layer and batch size."""

    def row(norm: str, mode: str) -> tuple[str, ...]:
        name = _("{layer} in {mode}", layer=_(NORMS[norm]), mode=f"{mode}()")
        return name, *(str(recorded(norm, size).end(mode)) for size in SIZES)

    rows = tuple(row(norm, mode) for norm in NORMS for mode in (MODES if has_modes(norm) else MODES[:1]))
    return Table((_("right at the end: mean (worst to best)"), *(_("batches of {n}", n=size) for size in SIZES)), rows)


# The figure.


@dataclass(frozen=True)
class Trained(Payload):
    """The layer and the batch size of trained networks, as a link has them."""

    norm: str
    batch: str


@dataclass(frozen=True)
class Accuracies(Payload):
    """The accuracies of the networks over the steps, in percent."""

    mean: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class Classes(Payload):
    """The class that the first network gives each test point, in each mode, as digits."""

    eval: str
    train: str


@dataclass(frozen=True)
class TrainedCell(Payload):
    """What the networks with one layer and one batch size did.

    plane     of the first network in eval(): how sure it is of class 1 at each place of a grid, as digits from 0 to 9, the lowest row first
    sentence  HTML; "" if it is hidden
    texts     HTML; "" if they are hidden
    alt       the accuracies at the end, in a sentence
    """

    eval: Accuracies
    train: Accuracies
    plane: str
    classes: Classes
    sentence: str
    texts: str
    alt: str


@dataclass(frozen=True, kw_only=True)
class TrainingPayload(Payload):
    """The figure of the trained networks.

    edge     the plane goes from -edge to edge
    side     the number of places in a row of its grid
    points   the test points
    spirals  the class of each test point as a digit
    """

    kind: Literal["training"] = "training"
    norms: list[tuple[str, str]]
    sizes: Sequence[int]
    steps: list[int]
    edge: float
    side: int
    points: list[tuple[float, float]]
    spirals: str
    cells: dict[str, TrainedCell]
    trained: Trained


@cache_by_language()
def cells() -> dict[str, TrainedCell]:
    """What the figure shows of each layer and batch size, by both."""
    return {f"{norm} {size}": _cell(norm, size) for norm in NORMS for size in SIZES}


def _cell(norm: str, size: int) -> TrainedCell:
    cell = recorded(norm, size)
    alt = _(
        "The share of right test points over the steps: at the end {eval} in eval(), {train} in train().",
        **{mode: str(cell.end(mode)) for mode in MODES},
    )
    return TrainedCell(
        eval=_over_steps(cell.eval),
        train=_over_steps(cell.train),
        plane=cell.plane,
        classes=Classes(cell.in_eval, cell.in_train),
        sentence=line(end_sentence(norm, size)),
        texts="".join(f"<p>{line(one)}</p>" for one in norm_texts(norm, size)),
        alt=alt,
    )


def _over_steps(accuracies: NDArray[np.float64]) -> Accuracies:
    found = (accuracies.mean(0), accuracies.min(0), accuracies.max(0))
    return Accuracies(*((100 * values).round(1).tolist() for values in found))


@dataclass(frozen=True)
class Training(Part):
    """The networks of all layers and batch sizes, with the texts about them, of which the reader chooses one after another.

    norm, batch   what is shown first, as a link has them
    has_sentence  whether a link shows the sentence; ``has_texts``: the texts below the figure
    """

    norm: str
    batch: str
    has_sentence: bool = True
    has_texts: bool = True
    name: ClassVar[str] = "panels"

    @property
    def names(self) -> frozenset[str]:
        texts = (Sentence.name, self.has_sentence), (Text.name, self.has_texts)
        return frozenset({self.name, *(name for name, is_shown in texts if is_shown)})

    def html(self, body: Body) -> str:
        body.exercises = True
        data = recorded_data()

        def drawn(cell: TrainedCell) -> TrainedCell:
            sentence, texts = cell.sentence if self.has_sentence else "", cell.texts if self.has_texts else ""
            return replace(cell, sentence=sentence, texts=texts)

        payload = TrainingPayload(
            norms=[(norm, _(title)) for norm, title in NORMS.items()],
            sizes=SIZES,
            **{name: data[name] for name in ("steps", "edge", "side", "points", "spirals")},
            cells={key: drawn(cell) for key, cell in cells().items()},
            trained=Trained(self.norm, self.batch),
        )
        return body.figure(payload, sends=True, table=f"<p>{line(end_sentence(self.norm, int(self.batch)))}</p>")

    def plain_text(self) -> str:
        names = self.names
        return text(part for part in self._without_figure() if part.name in names)

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        if hides(self, self.name):
            return without_hidden(self._without_figure(), hides)
        return (replace(self, has_sentence=not hides(self, Sentence.name), has_texts=not hides(self, Text.name)),)

    def _without_figure(self) -> tuple[Part, ...]:
        size = int(self.batch)
        return Sentence(end_sentence(self.norm, size)), *map(Text, norm_texts(self.norm, size))


def training_parts(view: View) -> Iterable[Part]:
    """The figure, how to read it, and how the networks were trained."""
    return (
        Training(view.settings["norm"], view.settings["batch"]),
        Caption(legend_text()),
        Details(_("The numbers as a table"), (end_table(),)),
        Details(_("How the networks were trained"), (Text(made_text()),)),
    )


TRAINING_SETTINGS = (  # the reader changes them in the figure
    word("norm", NORMS, "BatchNorm").described(
        "", N_("the layer of the trained networks: BatchNorm, GroupNorm, LayerNorm or none"), "GroupNorm"
    ),
    word("batch", map(str, SIZES), "2").described(
        "", N_("the examples in a batch of the training: 2, 4, 8, 16, 32, 64 or 128"), "32"
    ),
)
