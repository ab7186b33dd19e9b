"""Numerics: what rounding does to a mean, a variance and an eps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from normviz.analysis.rounding.degenerate import Degenerate
from normviz.layers.messages import _
from normviz.lessons.figure_pages.numerics import charts, eps, variance, zero_variance
from normviz.lessons.parts.containers import Beside, Details
from normviz.lessons.parts.part import Chart, Part, Sentence, Text, texts
from normviz.lessons.parts.table import Table
from normviz.scene.view import View

Settings = Mapping[str, Any]


def view_parts(view: View) -> Iterator[Part]:
    return parts(view.settings, view.scene.seed)


def parts(settings: Settings, seed: int = 0) -> Iterator[Part]:
    """The sentence and the figure of the experiment ``settings["show"]``."""
    return EXPERIMENTS[settings["show"]](settings, seed)


def _variance(settings: Settings, seed: int) -> Iterator[Part]:
    exponent = settings["distance"]
    found = variance.estimates(settings["dtype"], seed)
    yield Sentence(variance.sentence(found, exponent))
    alt = _("Relative error of the variance by each method, over the distance from zero.")
    chart = Chart("errors_chart", charts.variance_errors(found, exponent), alt)
    yield Beside((chart,), (Table(variance.COLUMNS, variance.rows(found, exponent)),), (5, 4))
    yield from texts(variance.descriptions(found, exponent))
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
    yield from texts(zero_variance.descriptions(found))
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
