"""Numerics: what rounding does to a mean, a variance and an eps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isclose, log10
from typing import Any

from normviz.analysis.rounding.degenerate import Degenerate
from normviz.analysis.rounding.groups import DISTANCES, DTYPES
from normviz.layers.errors import NormvizError, echo
from normviz.lessons.numerics import charts as figures
from normviz.lessons.numerics import numbers, zero_variance
from normviz.lessons.parts.part import Beside, Chart, Details, Part, Sentence, Text, texts
from normviz.lessons.parts.table import Table
from normviz.scene.settings import Field, choice, real
from normviz.scene.view import View

TITLES = {
    "variance": "Four ways to a variance",
    "eps": "How small may eps be?",
    "constant": "A constant x",
    "single": "Groups of one",
    "placement": "eps inside or outside",
}
POWERS = {"distance": (0, len(DISTANCES) - 1), "spread": (-12, 3)}


def _power_of_ten(name: str, usual: int) -> Field:
    """A power of ten, kept as the exponent: ``distance=1e6`` is 6."""
    low, high = POWERS[name]
    number = real(name, 10**low, 10**high, 10**usual)

    def read(text: str) -> int:
        value = number.read(text)
        exponent = round(log10(value))
        if not isclose(value, 10.0**exponent):
            raise NormvizError(f"{name}={echo(text)} must be a power of ten, such as 1e{exponent}.")
        return exponent

    def near(text: str) -> int:
        assert number.near
        return round(log10(number.near(text)))

    return Field(name, usual, read, lambda exponent: f"1e{exponent}", near)


FIELDS: tuple[Field, ...] = (
    choice("show", tuple(TITLES)),
    choice("dtype", tuple(DTYPES), "float32"),
    _power_of_ten("distance", 6),
    _power_of_ten("spread", -4),
    real("value", -zero_variance.LARGEST_CONSTANT, zero_variance.LARGEST_CONSTANT, 1234.567),
    real("scale", 0, zero_variance.LARGEST_SCALE, 1000),
    real("eps", numbers.SMALLEST_EPS, 1, 1e-5),
)
Settings = Mapping[str, Any]


def view_parts(view: View) -> Iterator[Part]:
    yield from parts(view.settings, view.scene.seed)


def parts(settings: Settings, seed: int = 0) -> Iterator[Part]:
    """The sentence and the figure of one of ``TITLES``."""
    yield from EXPERIMENTS[settings["show"]](settings, seed)


def _variance(settings: Settings, seed: int) -> Iterator[Part]:
    exponent = settings["distance"]
    found = numbers.variances(settings["dtype"], seed)
    yield Sentence(numbers.variance_sentence(found, exponent))
    alt = "Relative error of the variance by each way of computing it, over the distance from zero."
    chart = Chart("errors_chart", figures.variance_errors(found, exponent), alt)
    yield Beside((chart,), (Table(numbers.VARIANCE_COLUMNS, tuple(numbers.variance_rows(found, exponent))),), (5, 4))
    yield from texts(numbers.variance_lines(found, exponent))
    yield Details("What each way does", (Text("\n".join(numbers.WAYS)),))


def _eps(settings: Settings, seed: int) -> Iterator[Part]:
    exponent = settings["spread"]
    found = numbers.of_dtype(numbers.eps_outcomes(exponent, seed), settings["dtype"])
    yield Sentence(numbers.eps_sentence(found, exponent))
    sizes = figures.output_sizes(numbers.size_curves(found), found, exponent)
    chart = Chart("sizes_chart", sizes, "Size of the output over the variance, for four values of eps.")
    yield Beside(
        (chart,),
        (Table(numbers.eps_columns(found[0].dtype), tuple(numbers.eps_rows(found)), "eps", transposed=True),),
        (5, 4),
    )
    yield from texts(numbers.eps_lines(found, exponent, seed))


def _constant(settings: Settings, seed: int) -> Iterator[Part]:
    found = zero_variance.constant(settings["value"], settings["dtype"])
    yield Sentence(zero_variance.constant_sentence(found))
    yield from _degenerate(found)


def _single(settings: Settings, seed: int) -> Iterator[Part]:
    found = zero_variance.single(settings["scale"], settings["dtype"], seed)
    yield Sentence(zero_variance.single_sentence(found))
    yield from _degenerate(found)


def _degenerate(found: tuple[Degenerate, ...]) -> Iterator[Part]:
    yield Chart("gaps_chart", figures.gaps_to_beta(found), "How far each layer's output is from beta.")
    yield from texts(zero_variance.degenerate_lines(found))
    yield Table(zero_variance.COLUMNS, tuple(zero_variance.degenerate_rows(found)))


def _placement(settings: Settings, seed: int) -> Iterator[Part]:
    eps = settings["eps"]
    found = numbers.placements(eps)
    yield Sentence(numbers.placement_sentence(eps, found))
    alt = "Size of the output over the variance, with eps inside and outside the square root."
    yield Chart("placement_chart", figures.inside_and_outside(found, eps), alt)
    yield from texts(numbers.placement_lines(eps))


EXPERIMENTS: dict[str, Callable[[Settings, int], Iterator[Part]]] = {
    "variance": _variance,
    "eps": _eps,
    "constant": _constant,
    "single": _single,
    "placement": _placement,
}
