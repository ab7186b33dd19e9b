"""The ready-made sets of the page Compare: layers that one should see side by side, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from normviz.analysis.comparison import Comparison, compare
from normviz.analysis.examples import example, parameters
from normviz.analysis.explanation import describe
from normviz.analysis.forward import Values, largest_difference, run_module
from normviz.analysis.number_format import format_difference
from normviz.layers.errors import NormvizError, listed

LOOPS = "Norm('n l c -> l c', 'l c')"  # for i in range(seq_len): for j in range(hidden): Norm(x[:, i, j])
MOST_VALUES = 2**18


@dataclass(frozen=True)
class ReadySet:
    """Layers to see side by side.

    key, title     for the URL, and for a reader
    shape, layout  of x
    layers         their texts
    note           why they are worth a look, for ``str.format``: ``{0.counts.parameters}`` is of the first Explanation;
                   code stands in backquotes
    """

    key: str
    title: str
    shape: tuple[int, ...]
    layout: str
    layers: tuple[str, ...]
    note: str

    @property
    def query(self) -> dict[str, str]:
        """The query of the page Compare that shows it."""
        shape = ",".join(map(str, self.shape))
        return {"shape": shape, "layout": self.layout, "layer": self.layers[0], "layers": ";".join(self.layers)}

    @cached_property
    def comparison(self) -> Comparison:
        """The layers on x."""
        return compare(self.layers, self.shape, self.layout)

    @cached_property
    def twin(self) -> str:
        """Where layers do the same on another shape: how far apart their outputs are; else nothing."""
        if LOOPS not in self.layers:
            return ""
        n, length, channels = self.shape
        flat = length * channels
        gap = flattened_twin((n, length, channels))
        return f"The loops on x beside `BatchNorm1d({flat})` on x flattened to ({n}, {flat}): largest difference **{format_difference(gap)}**."

    @cached_property
    def text(self) -> str:
        """The note with its numbers, computed.

        >>> READY_SETS["loops"].text.split(".")[0]
        'The loops average over N alone: **15** means'
        """
        return self.note.format(*self.comparison.explanations)


def ready_set(key: str) -> ReadySet:
    """The set of that key. Raises NormvizError for another."""
    if key not in READY_SETS:
        raise NormvizError(f"set={key!r} is unknown; choose {listed(READY_SETS)}.")
    return READY_SETS[key]


def flattened_twin(shape: tuple[int, int, int], seed: int = 0) -> float:
    """The largest difference between the loops on x, (N, L, C), and torch's ``BatchNorm1d(L*C)`` on ``x.flatten(1)``, (N, L*C).

    Both have the same random gamma and beta, (L, C) and flattened to (L*C,), and compute in float64.

    Raises NormvizError unless x has three axes, two examples at least, and at most 2^18 elements.

    >>> flattened_twin((2, 3, 4)) < 1e-12
    True
    """
    if len(shape) != 3 or prod(shape) > MOST_VALUES:
        raise NormvizError(f"shape={shape} must be N, L and C, of at most {MOST_VALUES:,} elements, as in (2, 3, 4).")
    x = example("normal", shape, ("n", "l", "c"), seed).double()
    gamma, beta = (number.double() for number in parameters("random", shape[1:], seed))
    loops = replace(describe(LOOPS, x), values=Values(gamma, beta))
    flat = describe(f"BatchNorm1d({shape[1] * shape[2]})", x.flatten(1))
    assert flat.layer is not None
    fresh = replace(flat.layer_values(), gamma=gamma.flatten(), beta=beta.flatten())
    return largest_difference(loops.trace.output.flatten(1), run_module(flat.layer, x.flatten(1), fresh))


IMAGES, IMAGES_LAST, SEQUENCES = (3, 4, 5, 2), (3, 5, 2, 4), (4, 3, 5)

READY_SETS: dict[str, ReadySet] = {
    ready.key: ready
    for ready in (
        ReadySet(
            "four", "The four on images", IMAGES, "NCHW",
            ("BatchNorm2d(4)", "LayerNorm([4, 5, 2])", "InstanceNorm2d(4)", "GroupNorm(2, 4)"),
            "One formula, four answers to who shares a mean: one channel of all examples, one example, one channel of one "
            "example, or a group of channels of one example. Only BatchNorm looks at other examples.",
        ),
        ReadySet(
            "layer-norms", "All called LayerNorm", IMAGES, "NCHW",
            ("LayerNorm([4, 5, 2])", "LayerNorm([5, 2])", "ChannelsFirstLayerNorm(4)", "GroupNorm(1, 4)"),
            "People call each of these LayerNorm. `GroupNorm(1, C)` has the means of `LayerNorm([C, H, W])` but "
            "**{3.counts.parameters}** parameters, not **{0.counts.parameters}**: a gamma per channel, not per element.",
        ),
        ReadySet(
            "sequences", "BatchNorm and LayerNorm on sequences", SEQUENCES, "NLC",
            ("Norm('n l c -> c', 'c')", "LayerNorm([5])"),
            "BatchNorm averages over N and L, LayerNorm over C. BatchNorm stands here as a pattern, without a mode: torch's "
            "`BatchNorm1d` takes axis 1 for channels, which is L; it needs x permuted to NCL.",
        ),
        ReadySet(
            "dim-0", "dim=0 is not BatchNorm", IMAGES_LAST, "NHWC",
            ("DimNorm(4, dim=0)", "Norm('n h w c -> c', 'c')"),
            "`dim=0` averages over N alone: **{0.counts.statistics}** means. BatchNorm averages over N, H and W: "
            "**{1.counts.statistics}**, one per channel; a pattern here, because torch's `BatchNorm2d` takes axis 1 for channels.",
        ),
        ReadySet(
            "loops", "The loops are another BatchNorm", SEQUENCES, "NLC",
            (LOOPS, "Norm('n l c -> c', 'c')"),
            "The loops average over N alone: **{0.counts.statistics}** means. `BatchNorm1d({1.counts.statistics})` on NCL, here "
            "a pattern, has **{1.counts.statistics}**. On x flattened to ND, `BatchNorm1d({0.counts.statistics})` does what the "
            "loops do.",
        ),
    )
}  # fmt: skip
