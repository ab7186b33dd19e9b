"""train() and eval() of one layer on x: the texts, values and rows of the experiment "modes"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from normviz.analysis.comparing.comparison import one_of_each_family
from normviz.analysis.description import Description
from normviz.analysis.examples import from_array
from normviz.analysis.running.modes import TrainAndEval, example_alone, train_and_eval
from normviz.analysis.running.torch_module import buffers
from normviz.analysis.running.warm_up import most_warm_up
from normviz.figures.payload.panels import PanelValues
from normviz.layers.axes import example_axis
from normviz.layers.errors import NormvizError
from normviz.layers.layer import Layer
from normviz.layers.messages import N_, _, join_sentences, ngettext
from normviz.layers.norm import Norm
from normviz.lessons.parts.table import Column, Row

if TYPE_CHECKING:
    from torch import Tensor

MOST_WARMED = 2**17  # elements in all batches of a warm-up, so that a page appears at once
MOST_COMPARED = 2**17  # elements of x; on a larger x, other layers are not compared
COLUMNS = (
    Column("layer", N_("layer"), code=True),
    Column("difference", N_("largest difference")),
    Column("buffers", N_("elements in buffers")),
    Column("running", N_("eval() uses running statistics")),
)


def both_modes(e: Description, seed: int) -> TrainAndEval:
    """The layer on x in train mode and in eval mode. Raises NormvizError if torch does not have the layer."""
    return train_and_eval(_layer(e), _x(e), _warm_up(e), seed, e.layout)


def _layer(e: Description) -> Layer:
    if e.layer is None:
        raise NormvizError(_("a pattern has neither train() nor eval(); choose a layer of torch.nn."))
    return e.layer


def _x(e: Description) -> Tensor:
    if e.x is None:
        raise NormvizError(_("this tensor is too large to compute values here; make it smaller."))
    return e.x


def _warm_up(e: Description) -> int:
    elements = _x(e).numel()
    return min(20, most_warm_up(elements), max(1, MOST_WARMED // elements))


def sentence(found: TrainAndEval) -> str:
    """How many elements differ between the modes, and how many buffers one forward pass changes."""
    differing = int(found.differs.sum())
    if not differing and any(buffers(found.layer)):
        return _(
            "`{layer}` gives the same output in train() and eval() on this x; on another x it may not, because it stores running statistics.",
            layer=found.layer,
        )
    if not differing:
        return _(
            "`{layer}` gives the same output in train() and eval(): it stores nothing between batches.",
            layer=found.layer,
        )
    outputs = ngettext(
        "`{layer}` differs in **{differing:,}** of **{n:,}** element, by up to **{largest:.3g}**.",
        "`{layer}` differs in **{differing:,}** of **{n:,}** elements, by up to **{largest:.3g}**.",
        found.differs.size,
        layer=found.layer,
        differing=differing,
        largest=found.largest_difference,
    )
    changed = ngettext(
        "One forward pass in train() changes **{n}** buffer, without any optimizer.",
        "One forward pass in train() changes **{n}** buffers, without any optimizer.",
        found.buffers_changed,
    )
    return join_sentences([outputs, changed])


def outputs(found: TrainAndEval) -> Iterator[PanelValues]:
    """The outputs of both modes, and their difference."""
    yield PanelValues("train", "train()", _used(found.train_norm), from_array(found.train))
    yield PanelValues("eval", "eval()", _used(found.eval_norm), from_array(found.eval))
    yield PanelValues("gap", "train() − eval()", _("zero where they agree"), from_array(found.train - found.eval))


def _used(norm: Norm) -> str:
    """Which statistics an output is normalized with."""
    if norm.running:
        return _("with running statistics")
    example = example_axis(norm.axes)
    if example is None:
        return _("with this input's statistics")
    if norm.axes[example] in norm.pattern.right:
        return _("with each example's own statistics")
    return _("with this batch's statistics")


def one_example_texts(found: TrainAndEval) -> Iterator[str]:
    """The first example alone, as in inference."""
    if example_axis(found.warmed_up.axes) is None:
        return
    alone = example_alone(found.warmed_up)
    for mode, outcome in (("train()", alone.train), ("eval()", alone.eval)):
        if outcome.refusal:
            yield _(
                "The first example alone, in {mode}: torch refuses. `{refusal}`", mode=mode, refusal=outcome.refusal
            )
        elif outcome.difference is not None:
            yield _(
                "The first example alone, in {mode}: largest difference from its output within the batch **{difference:.2g}**.",
                mode=mode,
                difference=outcome.difference,
            )


def rows(e: Description, seed: int, known: TrainAndEval) -> tuple[Row, ...]:
    """The largest difference between the modes for each family of layers, and for BatchNorm without running statistics.

    known  ``both_modes(e, seed)``: if its layer is among them, it is not computed again

    Raises NormvizError above 2^17 elements.
    """
    if _x(e).numel() > MOST_COMPARED:
        raise NormvizError(
            ngettext(
                "other layers are compared on an x of up to {n:,} element, and this one has {elements:,}; make it smaller.",
                "other layers are compared on an x of up to {n:,} elements, and this one has {elements:,}; make it smaller.",
                MOST_COMPARED,
                elements=_x(e).numel(),
            )
        )
    layers = [layer for layer in one_of_each_family(e.shape, e.layout).values() if layer.kind.module]
    untracked = [layer.with_(track_running_stats=False) for layer in layers if layer.tracks]
    return tuple(row for layer in (*layers, *untracked) for row in _row(layer, e, seed, known))


def _row(layer: Layer, e: Description, seed: int, known: TrainAndEval) -> Iterator[Row]:
    try:
        found = known if layer == known.layer else train_and_eval(layer, _x(e), _warm_up(e), seed, e.layout)
    except NormvizError:  # torch refuses this x
        return
    yield {
        "layer": str(layer),
        "difference": f"{found.largest_difference:.3g}",
        "buffers": sum(buffer.elements for buffer in buffers(layer)),
        "running": found.eval_norm.running,
    }
