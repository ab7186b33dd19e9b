"""The charts of the page Numerics show their numbers, within their axes, in the colors of both themes."""

import json
from math import inf, isfinite, log10, nan

import pytest

from normviz.analysis.rounding import DISTANCES, DTYPES, Estimate
from normviz.figures.charts import LIGHT, chart_payload
from normviz.figures.palette import THEMES
from normviz.figures.wire import sent
from normviz.lessons.numerics import page as numerics
from normviz.lessons.numerics.page import (
    BROKEN_SIZE,
    INFINITE_DIFFERENCE,
    NAN_ERROR,
    NO_DIFFERENCE,
    ONE_PASS,
    ZERO_DIFFERENCE,
    ZERO_ERROR,
    ZERO_SIZE,
)
from normviz.texts.errors import NormvizError
from normviz.texts.messages import format_number
from tests.support.colors import contrast, rgb
from tests.support.needs import needs_half

TYPES = pytest.mark.parametrize("dtype", list(DTYPES))
VISIBLE = 3.0  # WCAG 2.2 AA, lines and marks


def named(figure):
    return {trace.name: trace for trace in figure.data}


def drawn_inside(figure):
    """Every point lies within the axes' ranges."""
    for trace in figure.data:
        for axis, values in ((figure.layout.xaxis, trace.x), (figure.layout.yaxis, trace.y)):
            if axis.range is None:  # categories
                continue
            low, high = axis.range
            for value in values:
                place = log10(value) if axis.type == "log" else value
                assert low <= place <= high, (trace.name, value)


def by_hand(distance, var, exact, size=1.0, method=ONE_PASS):
    return Estimate(method, "float32", distance, var, exact, size)


# One method at eight distances: right, wrong, exact, negative, overflowed; then equal numbers, and infinite.
EIGHT = [
    by_hand(1.0, 1.5, 1.0),
    by_hand(10.0, 8.0, 1.0),
    by_hand(100.0, 1.0, 1.0),
    by_hand(1e3, -4.0, 1.0, nan),
    by_hand(1e4, nan, 1.0, nan),
    by_hand(1e5, 0.0, 0.0, 0.0),
    by_hand(1e6, nan, nan, nan),
    by_hand(1e7, nan, nan, nan),
]


def test_errors_by_hand():
    figure = numerics.variance_errors(EIGHT, 3).figure()
    one, broken = named(figure)["E[x²] − E[x]²"], named(figure)["output is NaN"]
    assert list(one.x) == [1, 10, 100, 1e3, 1e4]
    assert list(one.y) == [0.5, 7, ZERO_ERROR, 5, NAN_ERROR]
    assert list(one.text) == ["0.5", "7", "0", "5", "NaN"]
    assert (list(broken.x), list(broken.y)) == ([1e3, 1e4], [5, NAN_ERROR])
    assert [text.strip() for text in broken.text] == ["−4", "NaN"]
    assert list(figure.data[0].x) == [1e3, 1e3]


def test_three_methods_are_drawn_first_and_the_others_on_request():
    methods = {numerics.method_label(method).removeprefix("torch ") for method in numerics.STYLES}
    traces = {
        name: trace for name, trace in named(numerics.variance_errors(EIGHT, 3).figure()).items() if name in methods
    }
    assert traces.keys() == methods
    assert [name for name, trace in traces.items() if trace.visible is True] == [
        "E[x²] − E[x]²",
        "two passes",
        "LayerNorm",
    ]
    assert {trace.visible for trace in traces.values()} == {True, "legendonly"}


def test_no_variance_stands_on_the_axis_of_errors():
    assert not [trace.name for trace in numerics.variance_errors(EIGHT, 3).figure().data if "text" in trace.mode]


def test_a_range_without_an_error_is_gray_with_the_reason():
    figure = numerics.variance_errors(EIGHT, 3).figure()
    said = [note.text.replace("<br>", " ") for note in figure.layout.annotations]
    assert said == ["all numbers round to the same value", "x is infinite"]
    spans = [(log10(shape.x0), log10(shape.x1)) for shape in figure.layout.shapes]
    assert spans == [pytest.approx((4.6, 5.4)), pytest.approx((5.6, 7.4))]


@TYPES
@pytest.mark.parametrize("exponent", [0, 7])
def test_errors_of_every_type_are_drawn_within_the_axes(dtype, exponent):
    found = numerics.estimates(dtype)
    figure = numerics.variance_errors(found, exponent).figure()
    drawn_inside(figure)
    for method in numerics.STYLES:
        drawable = [one for one in found if one.method == method and one.exact > 0]
        trace = named(figure)[numerics.method_label(method).removeprefix("torch ")]
        assert list(trace.x) == [one.distance for one in drawable]
        assert [y for y in trace.y if y not in (ZERO_ERROR, NAN_ERROR)] == [
            one.error for one in drawable if isfinite(one.error) and one.error
        ]
    assert ("output is NaN" in named(figure)) == any(
        one.method == ONE_PASS and one.exact > 0 and one.is_nan for one in found
    )


def test_the_axes_name_0_and_nan():
    ticks = numerics.variance_errors(EIGHT, 0).figure().layout.yaxis
    names = dict(zip(ticks.tickvals, ticks.ticktext, strict=True))
    assert (names[ZERO_ERROR], names[NAN_ERROR]) == ("0", "NaN")
    assert all(names[10.0**i] == f"10<sup>{i}</sup>" for i in (-16, 0, 8))
    assert list(numerics.variance_errors(EIGHT, 0).figure().layout.xaxis.tickvals) == list(DISTANCES)


@TYPES
@pytest.mark.parametrize("exponent", [-12, -8, -4, 3])
def test_sizes_are_drawn_at_their_variance(dtype, exponent):
    found = numerics.of_dtype(numerics.eps_outcomes(exponent), dtype)
    figure = numerics.output_sizes(numerics.size_curves(found), found, exponent).figure()
    drawn_inside(figure)
    hand, layer = named(figure)["by hand"], named(figure)["LayerNorm"]
    assert set(hand.x) == {10.0 ** (2 * exponent)}
    assert list(hand.y) == [max(one.by_hand, ZERO_SIZE) if isfinite(one.by_hand) else BROKEN_SIZE for one in found]
    assert list(layer.y) == [max(one.by_torch["LayerNorm"], ZERO_SIZE) for one in found]
    assert list(hand.text) == [format_number(one.by_hand, 3) for one in found]
    assert [trace.name for trace in figure.data[:4]] == ["eps=1e-3", "eps=1e-5", "eps=1e-6", "eps=1e-12"]


@TYPES
@pytest.mark.parametrize("value", [-65504.0, 0.0, 1e-30, 1234.567, 65504.0])
def test_every_layer_has_a_mark_on_a_constant_x(dtype, value):
    check_differences(numerics.constant(value, dtype))


@TYPES
@pytest.mark.parametrize("scale", [0.0, 1e-8, 1000.0, 10000.0])
def test_every_layer_has_a_mark_on_groups_of_one(dtype, scale):
    figure = check_differences(numerics.single(scale, dtype))
    assert "refused" in figure.layout.xaxis.ticktext


def check_differences(found):
    figure = numerics.differences_from_beta(found).figure()
    drawn_inside(figure)
    places = {name: x for trace in figure.data for name, x in zip(trace.y, trace.x, strict=True)}
    assert list(places) != []
    assert set(places) == set(numerics.short_names(found)) == set(figure.layout.yaxis.categoryarray)
    for name, one in zip(numerics.short_names(found), found, strict=True):
        if one.refusal:
            assert places[name] == NO_DIFFERENCE
        elif isfinite(one.from_beta):
            assert places[name] == max(one.from_beta, ZERO_DIFFERENCE)
        else:
            assert places[name] == INFINITE_DIFFERENCE
            assert "∞" in figure.layout.xaxis.ticktext
    return figure


@needs_half
def test_float16_overflows_if_no_mean_is_subtracted():
    found = numerics.constant(65504.0, "float16")
    assert [one.from_beta for one in found if one.layer == "BatchNorm2d(3).eval()"] == [inf]


@pytest.mark.parametrize("eps", [1e-12, 1e-5, 1.0])
def test_both_places_of_eps(eps):
    found = numerics.placements(eps)
    figure = numerics.inside_and_outside(found, eps).figure()
    assert [list(trace.y) for trace in figure.data] == [[p.inside for p in found], [p.outside for p in found]]
    assert [shape.x0 for shape in figure.layout.shapes] == [eps, eps**2]
    drawn_inside(figure)


LINES = {
    "errors": lambda: numerics.variance_errors(numerics.estimates("float32"), 6),
    "sizes": lambda: numerics.output_sizes(
        numerics.size_curves(found := numerics.of_dtype(numerics.eps_outcomes(-4), next(iter(DTYPES)))), found, -4
    ),
    "constant": lambda: numerics.differences_from_beta(numerics.constant(1234.567, "float32")),
    "single": lambda: numerics.differences_from_beta(numerics.single(1000.0, "float32")),
    "placement": lambda: numerics.inside_and_outside(numerics.placements(1e-5), 1e-5),
}


@pytest.mark.parametrize("name", list(LINES))
def test_every_color_has_enough_contrast_in_both_themes(name):
    for trace in LINES[name]().figure().data:
        key, _, at = trace.meta["color"].partition(".")
        for colors in THEMES.values():
            found = getattr(colors, key)
            color = found[int(at)] if at else found
            assert contrast(rgb(color), rgb(colors.card)) >= VISIBLE
        light = getattr(LIGHT, key)
        assert (trace.line.color or trace.marker.color) == (light[int(at)] if at else light)


@pytest.mark.parametrize("name", list(LINES))
def test_no_two_series_look_alike(name):
    looks = [
        (trace.meta["color"], trace.line.dash, trace.marker.symbol)
        for trace in LINES[name]().figure().data
        if trace.name
    ]
    assert len(set(looks)) == len(looks)


@pytest.mark.parametrize("name", list(LINES))
def test_every_figure_is_sent_as_strict_json(name):
    data = sent(chart_payload(LINES[name](), "a chart"))
    assert data["figure"]["alt"] == "a chart"
    assert json.dumps(data, allow_nan=False)


@needs_half
def test_another_dtype_is_refused():
    with pytest.raises(NormvizError, match="dtype='int8' is unknown; choose float16, bfloat16, float32 or float64"):
        numerics.estimates("int8")
