from math import nan, prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import normviz
from normviz.analysis.description import describe
from normviz.layers.axes import parse_layout
from normviz.lessons.practice.case import Case
from normviz.lessons.practice.exercise import Exercise
from normviz.lessons.practice.formats.quiz import CELL, svg
from normviz.scene.grid import MOST_COLUMNS, MOST_ROWS, grid, pixels, start_with
from tests.support.javascript import evaluate
from tests.support.strategies import shapes

_ = nan  # a gutter

BY_HAND = [
    # layout, shape of 0, 1, 2, ...: the drawing
    ("D", (3,), [[0, 1, 2]]),
    ("ND", (2, 3), [[0, 1, 2], [3, 4, 5]]),
    ("CL", (2, 3), [[0, 1, 2], [3, 4, 5]]),
    ("NLC", (2, 2, 2), [[0, 1, _, 4, 5], [2, 3, _, 6, 7]]),
    ("NCL", (2, 2, 2), [[0, 1, _, 4, 5], [2, 3, _, 6, 7]]),
    ("LNC", (2, 2, 2), [[0, 1, _, 2, 3], [4, 5, _, 6, 7]]),
    ("CHW", (2, 2, 2), [[0, 1, _, 4, 5], [2, 3, _, 6, 7]]),
    ("NCHW", (2, 2, 2, 2), [[0, 1, _, 4, 5], [2, 3, _, 6, 7], [_, _, _, _, _], [8, 9, _, 12, 13], [10, 11, _, 14, 15]]),
    ("NHWC", (2, 2, 2, 2), [[0, 2, _, 1, 3], [4, 6, _, 5, 7], [_, _, _, _, _], [8, 10, _, 9, 11], [12, 14, _, 13, 15]]),
    ("NCDHW", (1, 2, 2, 2, 1), [[0, _, 2, _, 4, _, 6], [1, _, 3, _, 5, _, 7]]),
    (
        "NLC",
        (5, 2, 2),  # the place of a sixth facet stays empty
        [
            [0, 1, _, 4, 5, _, 8, 9],
            [2, 3, _, 6, 7, _, 10, 11],
            [_, _, _, _, _, _, _, _],
            [12, 13, _, 16, 17, _, _, _],
            [14, 15, _, 18, 19, _, _, _],
        ],
    ),
]


def drawing(layout, shape, start=()):
    return grid(shape, parse_layout(layout, len(shape)), start)


def counting(shape):
    return np.arange(prod(shape)).reshape(shape)


@pytest.mark.parametrize(("layout", "shape", "drawn"), BY_HAND)
def test_the_drawing_of_a_tensor_by_hand(layout, shape, drawn):
    np.testing.assert_array_equal(drawing(layout, shape).flatten(counting(shape)), np.array(drawn))


ROLES = [
    # layout, the axes that number the facets, the rows, the columns
    ("D", "", None, "d"),
    ("ND", "", "n", "d"),
    ("NLC", "n", "l", "c"),
    ("NCL", "n", "c", "l"),
    ("LNC", "n", "l", "c"),
    ("NCHW", "nc", "h", "w"),
    ("NHWC", "nc", "h", "w"),
    ("NCDHW", "ncd", "h", "w"),
    ("NDHWC", "ndc", "h", "w"),
    ("CDHW", "cd", "h", "w"),
    ("WCH", "c", "h", "w"),
    ("ABCD", "ab", "c", "d"),
    ("ABNC", "an", "b", "c"),
]


@pytest.mark.parametrize(("layout", "facets", "row", "col"), ROLES)
def test_the_letter_of_an_axis_decides_where_it_is_drawn(layout, facets, row, col):
    axes = parse_layout(layout, len(layout))
    made = grid((2,) * len(axes), axes)
    assert "".join(axes[axis] for axis in made.facets) == facets
    assert (None if made.row is None else axes[made.row]) == row
    assert axes[made.col] == col


WHOLE = [
    ("NCHW", (2, 3, 4, 4)),
    ("NCHW", (2, 16, 4, 4)),  # each example in two lines
    ("ND", (32, 40)),
    ("NLC", (65, 1, 2)),
]


@pytest.mark.parametrize(("layout", "shape"), WHOLE)
def test_a_tensor_is_drawn_whole_if_its_cells_are_large_enough(layout, shape):
    made = drawing(layout, shape)
    assert (made.extent, made.partial) == (shape, ())


SCHEMATICS = [
    # layout, shape, the slices that are drawn
    ("ND", (33, 40), ((0, 1, 2, 3, 4, 32), (0, 1, 2, 3, 4, 39))),
    ("NCHW", (2, 64, 4, 4), ((0, 1), (0, 1, 2, 63), (0, 1, 2, 3), (0, 1, 2, 3))),
    ("NCHW", (8, 96, 56, 56), ((0, 1, 7), (0, 1, 95), (0, 1, 2, 55), (0, 1, 2, 55))),
    ("NHWC", (8, 56, 56, 96), ((0, 1, 7), (0, 1, 2, 55), (0, 1, 2, 55), (0, 1, 95))),
    ("NLC", (32, 128, 768), ((0, 1, 2, 3, 31), (0, 1, 2, 3, 127), (0, 1, 2, 767))),
    ("NCHW", (1, 32, 4096, 128), ((0,), (0, 1, 31), (0, 1, 2, 3, 4, 4095), (0, 1, 2, 127))),
    ("D", (2**40,), ((0, 1, 2, 3, 4, 2**40 - 1),)),
]


@pytest.mark.parametrize(("layout", "shape", "indices"), SCHEMATICS)
def test_of_a_long_axis_the_first_slices_and_the_last_are_drawn(layout, shape, indices):
    made = drawing(layout, shape)
    assert made.indices == indices
    assert made.partial == tuple(axis for axis in range(len(shape)) if len(indices[axis]) < shape[axis])


def test_a_schematic_has_a_gap_where_slices_are_left_out():
    made = drawing("ND", (100, 100), (40, 94))
    assert made.indices == ((40, 41, 42, 43, 44, 99), (94, 95, 96, 97, 98, 99))
    assert (made.gaps(0), made.gaps(1)) == ([5], [])
    drawn = made.flatten(made.take(counting((100, 100))))
    assert drawn[4:, 0].tolist() == [4494, pytest.approx(nan, nan_ok=True), 9994]


def test_counts_stay_those_of_the_whole_tensor():
    e = describe("GroupNorm(32, 64)", (2, 64, 56, 56))
    assert grid(e.shape, e.axes).partial == (1, 2, 3)
    assert (e.counts.statistics, e.counts.elements_per_statistic, e.counts.parameters) == (64, 6272, 128)


STARTS = [
    # start asked for, the channels that are drawn
    ((), (0, 1, 2, 63)),
    ((0, 8, 0, 0), (8, 9, 10, 63)),
    ((0, 60, 0, 0), (60, 61, 62, 63)),
    ((0, 63, 0, 0), (60, 61, 62, 63)),
    ((9, 10**30, 9, -9), (60, 61, 62, 63)),
    ((0, -1, 0, 0), (0, 1, 2, 63)),
    ((8, 0), (0, 1, 2, 63)),  # not one number for each axis
]


@pytest.mark.parametrize(("wanted", "channels"), STARTS)
def test_the_slices_begin_where_a_link_says_within_the_tensor(wanted, channels):
    made = drawing("NCHW", (2, 64, 4, 4), wanted)
    assert made.indices == ((0, 1), channels, (0, 1, 2, 3), (0, 1, 2, 3))
    assert made.start == (0, channels[0], 0, 0)


def test_an_element_is_shown_if_all_its_slices_are_drawn():
    made = drawing("NCHW", (2, 64, 4, 4), (0, 8, 0, 0))
    assert made.shows((1, 9, 3, 0))
    assert made.shows((1, 63, 3, 0))
    assert not made.shows((1, 11, 3, 0))


def test_a_part_of_what_broadcasts_over_x_is_taken():
    made = drawing("NCHW", (2, 64, 4, 4))
    assert made.take(np.arange(64).reshape(1, 64, 1, 1)).tolist() == [[[[0]], [[1]], [[2]], [[63]]]]


@given(st.tuples(st.integers(1, 70), st.integers(1, 9), st.integers(1, 90)), st.data())
def test_there_is_a_drawing_that_shows_an_element(shape, data):
    at = tuple(data.draw(st.integers(0, size - 1)) for size in shape)
    axes = parse_layout("NLC", 3)
    assert grid(shape, axes, start_with(at, shape, axes)).shows(at)


def test_a_matrix_can_be_drawn_in_pixels():
    made = pixels((96, 200), ("o", "i"))
    assert made.extent == (96, 128)
    assert made.gaps(1) == []


@given(shapes(1, 6, 5), st.data())
def test_every_drawn_element_is_drawn_once_and_the_rest_is_gutter(shape, data):
    letters = data.draw(st.permutations("NCDHWL").map(lambda order: "".join(order[: len(shape)])))
    made = drawing(letters, shape)
    drawn = made.flatten(counting(made.extent))
    assert sorted(drawn[~np.isnan(drawn)].tolist()) == list(range(prod(made.extent)))
    rows, columns = (1 if axis is None else made.extent[axis] + len(made.gaps(axis)) for axis in (made.row, made.col))
    assert drawn.shape == (made.layout.down * (rows + 1) - 1, made.layout.across * (columns + 1) - 1)
    assert np.isnan(drawn[rows :: rows + 1]).all()
    assert np.isnan(drawn[:, columns :: columns + 1]).all()


SIZES = st.sampled_from([1, 2, 3, 7, 16, 56, 128, 600, 4097, 16_384, 10**6, 2**40])


@given(st.lists(SIZES, min_size=1, max_size=6).map(tuple), st.data())
def test_any_tensor_has_a_drawing_with_large_cells(shape, data):
    letters = data.draw(st.permutations("NCDHWL").map(lambda order: "".join(order[: len(shape)])))
    start = tuple(data.draw(st.integers(-5, 2**41)) for _ in shape)
    made = drawing(letters, shape, start)
    for drawn, size in zip(made.indices, shape, strict=True):
        assert 1 <= len(drawn) <= size
        assert list(drawn) == sorted(set(drawn))
        assert 0 <= drawn[0] <= drawn[-1] < size
    lines, columns = made.flatten(np.zeros(made.extent)).shape
    assert lines <= MOST_ROWS
    assert columns <= MOST_COLUMNS
    assert made.extent == drawing(letters, shape).extent


# Calls drawTensor with elements that only remember what is put into them: each facet's caption and the numbers of its rows.
TABLES = """(tensor) => {
  const make = (tag) => ({
    tag, textContent: "", children: [], style: { setProperty() {} }, classList: { toggle() {} },
    append(...added) { this.children.push(...added); },
    appendChild(child) { this.children.push(child); },
    insertRow() { return this.add("tr"); },
    insertCell() { return this.add("td"); },
    add(tag) { this.children.push(make(tag)); return this.children.at(-1); },
    all(tag) { return this.children.flatMap((child) => [...(child.tag === tag ? [child] : []), ...(child.all?.(tag) ?? [])]); },
  });
  globalThis.document = { createElement: make };
  const place = make("div");
  drawTensor(place, tensor);
  const table = place.all("table")[0], numbers = table.all("tr").map((row) => row.all("td").map((cell) => Number(cell.textContent)));
  return [table.all("caption")[0]?.textContent ?? "", numbers.filter((row) => row.length)];
}"""
TENSOR = Path(normviz.__file__).with_name("parts") / "browser" / "tensor.ts"


@pytest.mark.parametrize(
    "layout", ["D", "ND", "CL", "NLC", "NCL", "LNC", "BLC", "CHW", "HWC", "NCHW", "NHWC", "HWNC", "NCDHW", "NDHWC"]
)
def test_tables_and_pictures_of_exercises_have_the_facets_of_the_figures(layout):
    """The first facet: its name, and the numbers 0, 1, 2, ... of x in its rows and columns."""
    shape = (2,) * len(layout)
    exercise = Exercise(
        "value", "mean", 1, Case("LayerNorm(2)", shape, layout), (0,) * len(shape), tuple(range(prod(shape))), 0.0, ()
    )
    drawing = grid(shape, exercise.case.axes)
    name = ", ".join(f"{drawing.axes[axis]} = 0" for axis in drawing.facets)
    numbers = drawing.flatten(np.arange(prod(shape)).reshape(shape))[: 1 if drawing.row is None else 2, :2].tolist()
    assert evaluate(f"({TABLES})(args[0])", exercise.data(), entry=TENSOR) == [name, numbers]
    labels = list(etree.fromstring(svg(exercise)).iter("{*}text"))
    assert next((text.text for text in labels if "=" in text.text), "") == name
    at = {(int(text.get("x")), int(text.get("y"))): int(text.text) for text in labels if text.text.isdigit()}
    left, top = next(place for place, number in at.items() if number == 0)
    rows = range(len(numbers))
    assert [[at[left + CELL * column, top + CELL * row] for column in range(2)] for row in rows] == numbers
