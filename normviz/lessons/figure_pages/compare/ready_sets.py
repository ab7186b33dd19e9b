"""The ready-made sets of the page Compare: layers to see side by side, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from normviz.analysis.comparing.comparison import Comparison, compare
from normviz.analysis.description import describe
from normviz.analysis.examples import example, parameters
from normviz.analysis.forward import Values, largest_difference, run_module
from normviz.analysis.number_format import format_difference
from normviz.layers.errors import NormvizError
from normviz.layers.messages import N_, _, ngettext

LOOPS = "Norm('n l c -> l c', 'l c')"  # for i in range(seq_len): for j in range(hidden): Norm(x[:, i, j])
MOST_VALUES = 2**18


@dataclass(frozen=True)
class ReadySet:
    """Layers to see side by side.

    key            in the link
    label          the title, displayed through ``_``
    shape, layout  of x
    layers         as text
    note           what to look at; ``{0.counts.parameters}`` is a number of the first Description, code is in backquotes
    """

    key: str
    label: str
    shape: tuple[int, ...]
    layout: str
    layers: tuple[str, ...]
    note: str

    @property
    def title(self) -> str:
        return _(self.label)

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
    def _loops_difference(self) -> float:
        n, length, channels = self.shape
        return loops_difference((n, length, channels))

    @property
    def loops_text(self) -> str:
        """For the loops: their difference from BatchNorm1d on the flattened x; empty for other sets."""
        if LOOPS not in self.layers:
            return ""
        n, length, channels = self.shape
        return _(
            "The loops on x and `BatchNorm1d({flat})` on x flattened to ({n}, {flat}): largest difference **{difference}**.",
            n=n,
            flat=length * channels,
            difference=format_difference(self._loops_difference),
        )

    @property
    def text(self) -> str:
        """The note with its numbers.

        >>> READY_SETS["loops"].text.split(".")[0]
        'The loops average over N only: **15** means'
        """
        return _(self.note).format(*self.comparison.descriptions)


def loops_difference(shape: tuple[int, int, int], seed: int = 0) -> float:
    """The largest difference between the loops on x, (N, L, C), and torch's ``BatchNorm1d(L*C)`` on ``x.flatten(1)``, (N, L*C).

    Both have the same random gamma and beta, (L, C) and flattened to (L*C,), and compute in float64.

    Raises NormvizError unless x has three axes, two examples at least, and at most 2^18 elements.

    >>> loops_difference((2, 3, 4)) < 1e-12
    True
    """
    if len(shape) != 3 or prod(shape) > MOST_VALUES:
        raise NormvizError(
            ngettext(
                "shape={shape} must have the three sizes N, L and C and at most {n:,} element, as in (2, 3, 4).",
                "shape={shape} must have the three sizes N, L and C and at most {n:,} elements, as in (2, 3, 4).",
                MOST_VALUES,
                shape=shape,
            )
        )
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
            "four", N_("The four on images"), IMAGES, "NCHW",
            ("BatchNorm2d(4)", "LayerNorm([4, 5, 2])", "InstanceNorm2d(4)", "GroupNorm(2, 4)"),
            N_("One formula, four groups of elements that share a mean: one channel of all examples, one example, one channel of "
               "one example, or a group of channels of one example. In training, only BatchNorm depends on other examples."),
        ),
        ReadySet(
            "layer-norms", N_("All called LayerNorm"), IMAGES, "NCHW",
            ("LayerNorm([4, 5, 2])", "LayerNorm([5, 2])", "ChannelsFirstLayerNorm(4)", "GroupNorm(1, 4)"),
            N_("Each of these is called LayerNorm. `GroupNorm(1, C)` has the means of `LayerNorm([C, H, W])` but "
               "**{3.counts.parameters}** parameters, not **{0.counts.parameters}**: one gamma per channel, not per element."),
        ),
        ReadySet(
            "sequences", N_("BatchNorm and LayerNorm on sequences"), SEQUENCES, "NLC",
            ("Norm('n l c -> c', 'c')", "LayerNorm([5])"),
            N_("BatchNorm averages over N and L, LayerNorm over C. BatchNorm is written as a pattern here and has no mode. "
               "torch's `BatchNorm1d` uses axis 1 as channels, which is L here: permute x to NCL for it."),
        ),
        ReadySet(
            "dim-0", N_("dim=0 is not BatchNorm"), IMAGES_LAST, "NHWC",
            ("DimNorm(4, dim=0)", "Norm('n h w c -> c', 'c')"),
            N_("`dim=0` averages over N only: **{0.counts.statistics}** means. BatchNorm averages over N, H and W: "
               "**{1.counts.statistics}**, one per channel. It is a pattern here because torch's `BatchNorm2d` uses axis 1 as channels."),
        ),
        ReadySet(
            "loops", N_("The loops compute a different BatchNorm"), SEQUENCES, "NLC",
            (LOOPS, "Norm('n l c -> c', 'c')"),
            N_("The loops average over N only: **{0.counts.statistics}** means. `BatchNorm1d({1.counts.statistics})` on NCL, "
               "written as a pattern here, has **{1.counts.statistics}**. On x flattened to ND, `BatchNorm1d({0.counts.statistics})` equals the loops."),
        ),
    )
}  # fmt: skip
