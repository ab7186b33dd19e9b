from math import ceil, nan, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.analysis.description import describe
from normviz.layers.axes import parse_layout
from normviz.scene.grid import MOST_CELLS, MOST_LINES, grid
from tests.strategies import shapes

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
    (
        "NCHW",
        (2, 2, 2, 2),
        [
            [0, 1, _, 4, 5],
            [2, 3, _, 6, 7],
            [_, _, _, _, _],
            [8, 9, _, 12, 13],
            [10, 11, _, 14, 15],
        ],
    ),
    (
        "NHWC",
        (2, 2, 2, 2),
        [
            [0, 2, _, 1, 3],
            [4, 6, _, 5, 7],
            [_, _, _, _, _],
            [8, 10, _, 9, 11],
            [12, 14, _, 13, 15],
        ],
    ),
    (
        "NCDHW",
        (1, 2, 2, 2, 1),
        [
            [0, _, 2, _, 4, _, 6],
            [1, _, 3, _, 5, _, 7],
        ],
    ),
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


WINDOWS = [
    # layout, shape, the window that is drawn
    ("NCHW", (2, 3, 4, 4), (2, 3, 4, 4)),
    ("NCHW", (4, 16, 16, 16), (4, 16, 16, 16)),  # 16,384 elements exactly
    ("ND", (128, 128), (128, 128)),
    ("ND", (129, 128), (128, 128)),
    ("NCHW", (2, 64, 56, 56), (2, 2, 56, 56)),
    ("NHWC", (2, 56, 56, 64), (2, 56, 56, 2)),
    ("ND", (1, 10_000), (1, 599)),
    ("D", (10_000,), (599,)),
    ("ND", (10_000, 1), (599, 1)),
    ("ND", (100_000, 100_000), (128, 128)),
]


@pytest.mark.parametrize(("layout", "shape", "extent"), WINDOWS)
def test_a_window_of_a_large_tensor_is_drawn(layout, shape, extent):
    made = drawing(layout, shape)
    assert made.extent == extent
    assert made.partial == tuple(axis for axis in range(len(shape)) if extent[axis] < shape[axis])


def test_counts_stay_those_of_the_whole_tensor():
    e = describe("GroupNorm(32, 64)", (2, 64, 56, 56))
    assert grid(e.shape, e.axes).partial == (1,)
    assert (e.counts.statistics, e.counts.elements_per_statistic, e.counts.parameters) == (64, 6272, 128)


STARTS = [
    # the requested start, the first channel and row that are drawn
    ((), (0, 0, 0, 0)),
    ((0, 8, 0, 0), (0, 8, 0, 0)),
    ((0, 62, 0, 0), (0, 62, 0, 0)),
    ((0, 63, 0, 0), (0, 62, 0, 0)),
    ((9, 10**30, 9, -9), (0, 62, 0, 0)),
    ((0, -1, 0, 0), (0, 0, 0, 0)),
    ((8, 0), (0, 0, 0, 0)),  # too few numbers
]


@pytest.mark.parametrize(("wanted", "first"), STARTS)
def test_a_window_stays_within_the_tensor(wanted, first):
    made = drawing("NCHW", (2, 64, 56, 56), wanted)
    assert made.start == first
    assert made.window[1] == range(first[1], first[1] + 2)


def test_a_moved_window_draws_the_elements_that_are_there():
    made = drawing("ND", (1, 10_000), (0, 5000))
    x = counting((1, 10_000))
    assert made.slices == (slice(0, 1), slice(5000, 5599))
    assert made.flatten(x[made.slices]).tolist() == [list(range(5000, 5599))]


def test_an_element_is_shown_if_the_window_contains_it():
    made = drawing("NCHW", (2, 64, 56, 56), (0, 8, 0, 0))
    assert made.shows((1, 9, 55, 0))
    assert not made.shows((1, 10, 55, 0))


@given(shapes(1, 6, 5), st.data())
def test_every_element_is_drawn_once_and_the_rest_is_gutter(shape, data):
    letters = data.draw(st.permutations("NCDHWL").map(lambda order: "".join(order[: len(shape)])))
    made = drawing(letters, shape)
    drawn = made.flatten(counting(made.extent))
    assert sorted(drawn[~np.isnan(drawn)].tolist()) == list(range(prod(made.extent)))
    across, rows = made.facet_columns, 1 if made.row is None else made.extent[made.row]
    down = ceil(made.facet_count / across)
    assert drawn.shape == (down * (rows + 1) - 1, across * (made.extent[made.col] + 1) - 1)
    assert np.isnan(drawn[rows :: rows + 1]).all()
    assert np.isnan(drawn[:, made.extent[made.col] :: made.extent[made.col] + 1]).all()


SIZES = st.sampled_from([1, 2, 3, 7, 16, 56, 128, 600, 4097, 16_384, 10**6, 2**40])


@given(st.lists(SIZES, min_size=1, max_size=6).map(tuple), st.data())
def test_any_tensor_has_a_window_that_can_be_drawn(shape, data):
    letters = data.draw(st.permutations("NCDHWL").map(lambda order: "".join(order[: len(shape)])))
    start = tuple(data.draw(st.integers(-5, 2**41)) for _ in shape)
    made = drawing(letters, shape, start)
    assert all(1 <= part <= size for part, size in zip(made.extent, shape, strict=True))
    assert all(0 <= first <= size - part for first, part, size in zip(made.start, made.extent, shape, strict=True))
    assert prod(made.extent) <= MOST_CELLS
    lines = made.flatten(np.zeros(made.extent)).shape
    assert max(lines) <= MOST_LINES
    assert made.extent == drawing(letters, shape).extent


@given(st.lists(st.sampled_from([1, 2, 8, 64, 600, 4097]), min_size=1, max_size=4).map(tuple))
def test_no_axis_of_the_window_could_be_longer(shape):
    made = drawing("NCHW"[: len(shape)], shape)
    for axis in made.partial:
        longer = tuple(size + (i == axis) for i, size in enumerate(made.extent))
        assert drawing("NCHW"[: len(shape)], longer).extent != longer
