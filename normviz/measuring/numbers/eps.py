"""Measures eps and its place, from how much it shrinks the output for small x."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from normviz.measuring.inputs import probes
from normviz.measuring.numbers.formula import Formula, Groups, Quotient, Run

SMALLEST = {torch.float64: -22, torch.float32: -15}  # powers of ten: squares of smaller x may vanish
SEEN = 0.05  # eps must remove at least this share of the output, and leave at least as much
ELEMENTS = 500  # at most this many outputs are examined
SPREAD = 0.02  # largest relative spread of the estimates: a wrong formula gives another eps for each group


@dataclass(frozen=True)
class Eps:
    """value: eps. place: "inside" the root, "outside", or "maximum" of the denominator and eps; "" if it is elsewhere."""

    value: float
    place: str

    def applied(self, denominator: Tensor) -> Tensor:
        """The denominator with eps."""
        if self.place == "inside":
            return (denominator.square() + self.value).sqrt()
        return denominator + self.value if self.place == "outside" else denominator.clamp(min=self.value)


def measure_eps(
    run: Run, formula: Formula, kind: Quotient, groups: Groups, constant: float, dtype: torch.dtype
) -> Eps | None:
    """eps of the function; None if x has no influence, as in groups of one element.

    constant  the factor without gamma: the denominator is that of ``kind``, divided by it
    """
    x = probes.generic(groups.shape, dtype)

    def without_eps(small: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The positions of some elements, their outputs without eps and offset, and their denominators."""
        expected = (kind.normalized(small.double(), groups) * formula.factor).flatten()
        chosen = (expected.abs() > 0.1 * formula.factor.abs().flatten()).nonzero().flatten()[:ELEMENTS]
        denominator = kind.terms(small.double(), groups)[1].sqrt() / constant
        return chosen, expected[chosen], denominator.flatten()[chosen]

    whole = without_eps(x)

    def rest(power: float) -> tuple[Tensor, Tensor]:
        """What eps leaves of the output of x times a power of ten, for some elements, and their denominators."""
        small, scale = x * 10.0**power, 10.0**power
        chosen, expected, denominator = whole
        if dtype not in SMALLEST:  # float16 rounds small numbers
            (chosen, expected, denominator), scale = without_eps(small), 1.0
        output = run(small).flatten()[chosen].double() - formula.offset.flatten()[chosen]
        return output / expected, denominator * scale

    moderate: list[int] = []
    for power in range(5, SMALLEST.get(dtype, -3), -1):
        left = rest(power)[0]
        if not len(left):
            return None
        if not left.isfinite().all() or float(left.median()) <= SEEN:
            break
        if float(left.median()) < 1 - SEEN:
            moderate.append(power)
    if not moderate:
        return Eps(0.0, "inside")
    measured = [rest(power / 2) for power in range(2 * moderate[-1] - 1, 2 * moderate[0] + 2)]
    left, denominator = (torch.cat(parts) for parts in zip(*measured, strict=True))
    seen = (left > SEEN) & (left < 1 - SEEN)
    left, denominator = left[seen], denominator[seen]
    estimates = {
        "inside": (1 / left.square() - 1) * denominator.square(),
        "outside": (1 / left - 1) * denominator,
        "maximum": denominator / left,
    }
    for place, values in estimates.items():
        middle = float(values.median())
        if middle > 0 and float((values / middle - 1).abs().quantile(0.9)) < SPREAD:
            return Eps(_rounded(middle), place)
    return Eps(0.0, "")


def _rounded(value: float) -> float:
    """The value with two digits if it is as close to that as it can be measured, else with six."""
    short = float(f"{value:.1e}")
    return short if abs(value / short - 1) < 1e-3 else float(f"{value:.5e}")
