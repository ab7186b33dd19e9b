"""Numerics: what rounding does to a mean, a variance and an eps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isclose, log10
from typing import Any

from normviz.analysis.rounding.degenerate import Degenerate
from normviz.analysis.rounding.groups import DISTANCES, DTYPES
from normviz.layers.errors import NormvizError, echo
from normviz.layers.messages import N_, _
from normviz.lessons.numerics import charts, eps, numbers, variance, zero_variance
from normviz.lessons.parts.part import Beside, Chart, Details, Part, Sentence, Text, texts
from normviz.lessons.parts.table import Table
from normviz.scene.settings import Field, choice, real
from normviz.scene.view import View

TITLES = {
    "variance": N_("Four ways to a variance"),
    "eps": N_("How small may eps be?"),
    "constant": N_("A constant x"),
    "single": N_("Groups of one"),
    "placement": N_("eps inside or outside"),
}
POWERS = {"distance": (0, len(DISTANCES) - 1), "spread": (-12, 3)}


def _power_of_ten(name: str, usual: int) -> Field:
    """A power of ten, stored as its exponent: ``distance=1e6`` is 6."""
    low, high = POWERS[name]
    number = real(name, 10**low, 10**high, 10**usual)

    def read(text: str) -> int:
        value = number.read(text)
        exponent = round(log10(value))
        if not isclose(value, 10.0**exponent):
            raise NormvizError(
                _(
                    "{name}={text} must be a power of ten, such as 1e{exponent}.",
                    name=name,
                    text=echo(text),
                    exponent=exponent,
                )
            )
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
    return parts(view.settings, view.scene.seed)


def parts(settings: Settings, seed: int = 0) -> Iterator[Part]:
    """The sentence and the figure of the experiment ``settings["show"]``, one of ``TITLES``."""
    return EXPERIMENTS[settings["show"]](settings, seed)


def _variance(settings: Settings, seed: int) -> Iterator[Part]:
    exponent = settings["distance"]
    found = variance.estimates(settings["dtype"], seed)
    yield Sentence(variance.sentence(found, exponent))
    alt = _("Relative error of the variance by each method, over the distance from zero.")
    chart = Chart("errors_chart", charts.variance_errors(found, exponent), alt)
    yield Beside((chart,), (Table(variance.COLUMNS, variance.rows(found, exponent)),), (5, 4))
    yield from texts(variance.explanations(found, exponent))
    yield Details(_("The methods"), (Text(variance.methods_text()),))


def _eps(settings: Settings, seed: int) -> Iterator[Part]:
    exponent = settings["spread"]
    found = eps.of_dtype(eps.eps_outcomes(exponent, seed), settings["dtype"])
    yield Sentence(eps.eps_sentence(found, exponent))
    sizes = charts.output_sizes(eps.size_curves(found), found, exponent)
    chart = Chart("sizes_chart", sizes, _("Size of the output over the variance, for four values of eps."))
    table = Table(eps.eps_columns(settings["dtype"]), eps.eps_rows(found), "eps", transposed=True)
    yield Beside((chart,), (table,), (5, 4))
    yield from texts(eps.eps_texts(found, exponent, seed))


def _constant(settings: Settings, seed: int) -> Iterator[Part]:
    found = zero_variance.constant(settings["value"], settings["dtype"])
    yield Sentence(zero_variance.constant_sentence(found))
    yield from _zero_variance(found)


def _single(settings: Settings, seed: int) -> Iterator[Part]:
    found = zero_variance.single(settings["scale"], settings["dtype"], seed)
    yield Sentence(zero_variance.single_sentence(found))
    yield from _zero_variance(found)


def _zero_variance(found: tuple[Degenerate, ...]) -> Iterator[Part]:
    alt = _("Largest difference of each layer's output from beta.")
    yield Chart("gaps_chart", charts.differences_from_beta(found), alt)
    yield from texts(zero_variance.explanations(found))
    yield Table(zero_variance.COLUMNS, zero_variance.rows(found))


def _placement(settings: Settings, seed: int) -> Iterator[Part]:
    value = settings["eps"]
    found = eps.placements(value)
    yield Sentence(eps.placement_sentence(value, found))
    alt = _("Size of the output over the variance, with eps inside and outside the square root.")
    yield Chart("placement_chart", charts.inside_and_outside(found, value), alt)
    yield from texts(eps.placement_texts(value))


EXPERIMENTS: dict[str, Callable[[Settings, int], Iterator[Part]]] = {
    "variance": _variance,
    "eps": _eps,
    "constant": _constant,
    "single": _single,
    "placement": _placement,
}
