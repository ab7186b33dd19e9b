"""What the module writes: numbers, the read-out line, the arithmetic of an element, the table of statistics."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from normviz import explain
from normviz.analysis.description import describe
from normviz.figures.payload import compare_payload, view_payload
from normviz.layers.norm import Norm
from normviz.scene.grid import grid
from tests.support.javascript import evaluate

NUMBERS = [
    # a number, as a reader writes it, and in a cell
    (0, "0", "0"),
    (1, "1", "1"),
    (-0.5, "−0.5", "−0.5"),
    (1 / 3, "0.333", "0.33"),
    (2 / 3, "0.667", "0.67"),
    (1.23456, "1.235", "1.23"),
    (123.456, "123.5", "123"),
    (99999, "99999", "99999"),
    (1e7, "1e7", "1e7"),
    (-12345678, "−1.23e7", "−1e7"),
    (0.9999, "1", "1"),
    (0.0123, "0.0123", "0.01"),
    (0.001, "0.001", "0"),
    (0.00042, "0.00042", "0"),
    (0.00001, "1e−5", "0"),
    (-0.001, "−0.001", "0"),
]


def test_numbers_are_short_and_never_empty():
    found = evaluate(
        "args[0].map((value) => [formatNumber(value), formatShort(value)])", [value for value, _, _ in NUMBERS]
    )
    assert found == [[number, short] for _, number, short in NUMBERS]


def test_small_numbers_beside_small_ones_are_not_zero():
    short = "args[0].map((value) => formatShort(value, args[1]))"
    assert evaluate(short, [-0.0013, 0.0067, 0.0123, 0, 1e-12, 0.003], 0.003) == [
        "−1e−3", "7e−3", "0.01", "0", "0", "3e−3",
    ]  # fmt: skip
    assert evaluate(short, [4e-6, -4e-6, 1e-6], 4e-6) == ["4e−6", "−4e−6", "1e−6"]
    assert evaluate(short, [-0.0013, 0.5], 2) == ["0", "0.5"]


def test_a_mean_has_the_same_digits_in_float32_and_in_float64():
    both = [0.041249990463256836, 0.04125000740168616]  # the mean of 32 values with two decimals each
    assert evaluate("args[0].map((value) => formatNumber(value))", both) == ["0.0413", "0.0413"]
    assert evaluate("args[0].map(formatShort)", [0.12499999, 0.1250001, -0.345]) == ["0.13", "0.13", "−0.35"]


def test_eps_is_written_with_three_digits():
    assert evaluate("args[0].map((eps) => formatNumber(eps, 3))", [1e-3, 1e-5, 1e-12, 0.5, 0]) == [
        "0.001", "1e−5", "1e−12", "0.5", "0",
    ]  # fmt: skip


def test_a_mean_beside_a_panel_is_named_as_a_cell_is():
    assert evaluate("[Infinity, -Infinity, NaN].map(formatShort)") == ["inf", "−inf", "nan"]


def test_numbers_that_are_not_finite_have_names():
    assert evaluate("[formatNumber(NaN), formatNumber(Infinity), formatNumber(-Infinity), formatShort(NaN)]") == [
        "nan",
        "inf",
        "−inf",
        "nan",
    ]


def view(e, start=()):
    return view_payload(e, grid(e.shape, e.axes, start))


# The read-out line and the arithmetic of an element, without a page.
DESCRIBE = """(() => {
  const data = decodeData(args[0]), g = new Geometry(data.grid, 600, 300, { most: 50 });
  const panels = Object.fromEntries(data.panels.map((figure) => [figure.key, Object.assign(Object.create(Panel.prototype), {
    geometry: g, data, figure, values: figure.z ? decodeFloats(figure.z) : null })]));
  const fake = { data, valueAt: (key, index) => panels[key].valueAt(index) };
  const inText = (lines) => lines?.map(([quantity, expression, result]) => [quantity, textOf(expression), result.text]);
  return [plainText(describeElement(fake, args[1])), data.values ? inText(arithmeticLines(fake, args[1])) : null];
})()"""

X = torch.tensor([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])
READOUTS = [
    # layer, element, the read-out
    ("LayerNorm(3)", (0, 2), "x[0, 2] = 6 · shares its mean 3 and variance 4.667 with 2 others · shares gamma[2] = 1 and beta[2] = 0 with 1 other"),
    ("BatchNorm1d(3)", (0, 2), "x[0, 2] = 6 · shares its mean 5 and variance 1 with 1 other · shares gamma[2] = 1 and beta[2] = 0 with 1 other"),
    ("RMSNorm(3)", (0, 2), "x[0, 2] = 6 · shares its mean square 13.67 with 2 others · shares gamma[2] = 1 with 1 other"),
    ("BatchNorm1d(3, affine=False).eval()", (0, 2), "x[0, 2] = 6 · shares its running mean 0 and running variance 1 with 1 other · this layer has no gamma and no beta"),
    (Norm("n d -> n d", "n d"), (1, 0), "x[1, 0] = 4 · shares its mean 4 and variance 0 with no other element · shares gamma[1, 0] = 1 and beta[1, 0] = 0 with no other element"),
    (Norm("n d ->", "", bias=False), (1, 0), "x[1, 0] = 4 · shares its mean 3.5 and variance 2.583 with 5 others · shares gamma = 1 with 5 others"),
    (Norm("n d -> n d", "n d", center=False, bias=False), (1, 0), "x[1, 0] = 4 · shares its mean square 16 with no other element · shares gamma[1, 0] = 1 with no other element"),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "index", "text"), READOUTS)
def test_the_read_out_says_what_an_element_shares(layer, index, text):
    assert evaluate(DESCRIBE, view(explain(layer, X)), list(index))[0] == text


SHAPE_READOUTS = [
    ("LayerNorm(3)", "x[0, 2] · shares its mean and variance with 2 others · shares gamma[2] and beta[2] with 1 other"),
    ("RMSNorm(3)", "x[0, 2] · shares its mean square with 2 others · shares gamma[2] with 1 other"),
    ("BatchNorm1d(3, affine=False).eval()", "x[0, 2] · shares its running mean and running variance with 1 other · this layer has no gamma and no beta"),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "text"), SHAPE_READOUTS)
def test_the_read_out_of_a_shape_has_no_numbers(layer, text):
    assert evaluate(DESCRIBE, view(explain(layer, (2, 3))), [0, 2]) == [text, None]


def test_the_read_out_of_a_schematic_has_the_indices_of_the_whole_tensor():
    data = view(explain("GroupNorm(32, 64)", (2, 64, 56, 56)), (0, 41, 0, 0))
    assert evaluate(DESCRIBE, data, [1, 1, 2, 3])[0] == (
        "x[1, 42, 2, 55] · shares its mean and variance with 6,271 others · shares gamma[42] and beta[42] with 6,271 others"
    )


COMPARED = [
    ("LayerNorm(3)", "2 share its mean, 1 shares its gamma"),
    ("BatchNorm1d(3, affine=False)", "1 shares its mean, no gamma"),
    (Norm("n d -> n d", "n d", center=False, bias=False), "none shares its mean square, none shares its gamma"),
]


@pytest.mark.parametrize(("layer", "text"), COMPARED)
def test_the_read_out_of_a_comparison_counts_the_others(layer, text):
    e = explain(layer, (2, 3))
    data = compare_payload([e, e], grid(e.shape, e.axes))
    script = "plainText([Object.assign(Object.create(CompareView.prototype), {data: args[0]}).describeLayer(1)])"
    assert evaluate(script, data) == text
    assert evaluate(script, replace(data, hidden=["params"])) == text.partition(",")[0]


ARITHMETIC = [
    (
        "LayerNorm(3)",
        [
            ["sum", "1 + 2 + 6", "9"],
            ["mean", "9 / 3", "3"],
            ["squared deviations", "(1 − 3)² + (2 − 3)² + (6 − 3)²", "14"],
            ["variance", "14 / 3", "4.667"],
            ["deviation", "6 − 3", "3"],
            ["normalized", "(6 − 3) / √(4.667 + 1e−5)", "1.389"],
            ["output", "1.389 · 1 + 0", "1.389"],
        ],
    ),
    (
        "RMSNorm(3, eps=0.001)",
        [
            ["squares", "1² + 2² + 6²", "41"],
            ["mean square", "41 / 3", "13.67"],
            ["normalized", "6 / √(13.67 + 0.001)", "1.623"],
            ["output", "1.623 · 1", "1.623"],
        ],
    ),
    (
        "RMSNorm(3, eps=-0.5)",
        [
            ["squares", "1² + 2² + 6²", "41"],
            ["mean square", "41 / 3", "13.67"],
            ["normalized", "6 / √(13.67 − 0.5)", "1.654"],
            ["output", "1.654 · 1", "1.654"],
        ],
    ),
    (
        "BatchNorm1d(3, affine=False).eval()",
        [
            ["mean", "running_mean[2]", "0"],
            ["variance", "running_var[2]", "1"],
            ["deviation", "6 − 0", "6"],
            ["normalized", "(6 − 0) / √(1 + 1e−5)", "6"],
            ["output", "as normalized", "6"],
        ],
    ),
]


@pytest.mark.parametrize(("layer", "lines"), ARITHMETIC)
def test_the_arithmetic_of_an_element(layer, lines):
    assert evaluate(DESCRIBE, view(describe(layer, X)), [0, 2])[1] == lines


def test_long_sums_are_abbreviated_in_the_middle():
    lines = evaluate(DESCRIBE, view(explain("LayerNorm(8)", torch.arange(8.0).reshape(1, 8))), [0, 0])[1]
    assert lines[0] == ["sum", "0 + 1 + 2 + … + 7", "28"]
    assert lines[2] == ["squared deviations", "(0 − 3.5)² + (1 − 3.5)² + (2 − 3.5)² + … + (7 − 3.5)²", "42"]


def test_negative_numbers_are_in_parentheses():
    lines = evaluate(DESCRIBE, view(explain("LayerNorm(2)", torch.tensor([[-1.0, -3.0]]))), [0, 1])[1]
    assert lines[0] == ["sum", "(−1) + (−3)", "−4"]
    assert lines[2] == ["squared deviations", "(−1 − (−2))² + (−3 − (−2))²", "2"]


def test_the_sum_of_a_group_that_is_drawn_in_part_is_that_of_the_whole_group():
    x = torch.arange(2000.0).reshape(1000, 2)
    lines = evaluate(DESCRIBE, view(explain("BatchNorm1d(2)", x), (100, 0)), [0, 1])[1]
    assert lines[0] == ["sum", "201 + 203 + 205 + …", "1000000"]
    assert lines[1] == ["mean", "1000000 / 1,000", "1000"]


STATISTICS = "((data) => listStatistics(data, data.values, data.grid))(decodeData(args[0]))"
TABLES = [
    ("LayerNorm(3)", [[[0], 3, 14 / 3], [[1], 4, 0]]),
    ("BatchNorm1d(3)", [[[0], 2.5, 2.25], [[1], 3, 1], [[2], 5, 1]]),
    ("GroupNorm(1, 3)", [[[0, 0], 3, 14 / 3], [[1, 0], 4, 0]]),
    ("RMSNorm([2, 3])", [[[], 0, 89 / 6]]),
]


@pytest.mark.parametrize(("layer", "rows"), TABLES)
def test_the_table_lists_every_group_once(layer, rows):
    table = evaluate(STATISTICS, view(explain(layer, X)))
    assert [row["index"] for row in table] == [index for index, _, _ in rows]
    np.testing.assert_allclose([[row["mean"], row["variance"]] for row in table], [row[1:] for row in rows], rtol=1e-6)


def test_the_table_stops_at_a_hundred_groups():
    table = evaluate(STATISTICS, view(explain(Norm("n d -> n d"), torch.zeros(12, 10))))
    assert [row["index"] for row in table] == [[i // 10, i % 10] for i in range(100)]


def test_the_table_has_the_groups_that_are_drawn():
    table = evaluate(STATISTICS, view(explain("LayerNorm(2)", torch.arange(300.0).reshape(150, 2))))
    assert [(row["index"], row["mean"]) for row in table] == [([n], 2 * n + 0.5) for n in (0, 1, 2, 3, 4, 149)]
