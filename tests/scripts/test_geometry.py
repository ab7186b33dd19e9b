"""Where the browser draws each element, and which elements it outlines."""

from itertools import pairwise

import numpy as np
import pytest

from normviz.analysis.description import describe
from normviz.figures.payload import view_payload
from normviz.figures.plotly_figure import cell_values
from normviz.layers.norm import Norm
from normviz.scene.grid import grid
from tests.support.javascript import evaluate


def test_the_text_color_has_the_higher_contrast():
    assert evaluate('["#ffffff", "#000000", "#8fbdf0", "#28456b"].map((fill) => readableInk(parseHex(fill), ["#111111", "#ffffff"]))') == [
        "#111111", "#ffffff", "#111111", "#ffffff",
    ]  # fmt: skip


def test_a_cell_has_the_color_that_plotly_draws():
    scale = [[0, "#000000"], [0.5, "#646464"], [0.5, "#c80000"], [1, "#c80000"]]
    assert evaluate("[0, 0.25, 0.49999999, 0.75, 1, 2].map((at) => colorAt(args[0], at).map(Math.round))", scale) == [
        [0, 0, 0], [50, 50, 50], [100, 100, 100], [200, 0, 0], [200, 0, 0], [200, 0, 0],
    ]  # fmt: skip


CASES = [
    # layer, shape, layout, start
    ("LayerNorm(3)", (3,), None, ()),
    ("LayerNorm(3)", (2, 3), None, ()),
    ("BatchNorm1d(3)", (2, 3), None, ()),
    ("LayerNorm(3)", (5, 2, 3), None, ()),
    ("BatchNorm1d(2)", (3, 2, 4), "LNC", ()),
    ("GroupNorm(2, 4)", (2, 4, 3, 3), None, ()),
    ("InstanceNorm2d(3, affine=True)", (2, 3, 2, 4), None, ()),
    ("LayerNorm(3)", (2, 2, 4, 3), "NHWC", ()),
    ("BatchNorm3d(2)", (2, 2, 3, 2, 2), None, ()),
    (Norm("n (g k) h w -> g", "k", sizes={"g": 2}), (2, 4, 2, 2), None, ()),
    (Norm("n c h w -> n h w", "h w"), (2, 3, 4, 5), None, ()),
    (Norm("n (g k) h w -> g h", None, sizes={"g": 2}), (2, 4, 2, 3), None, ()),
    (Norm("n d ->", ""), (2, 3), None, ()),
    ("GroupNorm(32, 64)", (2, 64, 56, 56), None, (0, 41, 0, 0)),
    ("BatchNorm1d(200)", (300, 200), None, (172, 72)),
    ("LayerNorm(768)", (32, 128, 768), None, ()),
    ("GroupNorm(4, 16)", (2, 16, 4, 4), None, ()),
]
IDS = [f"{layer} on {shape} from {start}" for layer, shape, _, start in CASES]


def case(layer, shape, layout, start):
    e = describe(layer, shape, layout=layout)
    return e, grid(e.shape, e.axes, start)


@pytest.mark.parametrize(("layer", "shape", "layout", "start"), CASES, ids=IDS)
def test_the_browser_draws_the_same_ids_in_the_same_places(layer, shape, layout, start):
    e, drawing = case(layer, shape, layout, start)
    data = view_payload(e, drawing)
    drawn = evaluate(
        """args[0].panels.slice(0, 2).map((figure) => {
          const data = decodeData(args[0]), geometry = new Geometry(data.grid, 600, 300, { most: 50 });
          const panel = Object.assign(Object.create(Panel.prototype), { geometry, data, figure, values: null });
          panel.ranks = rankGroups(panel.tables() ?? []);
          const x = geometry.raster(true), y = geometry.raster(false), ids = [...panel.ranks.keys()];
          const lines = panel.heatmap(x.cells, y.cells).map((line) => [...line].map((rank) => (Number.isNaN(rank) ? NaN : ids[rank])));
          return [lines, x.edges.length, y.edges.length];
        })""",
        data,
    )
    for (lines, across, down), panel in zip(drawn, data.panels[:2], strict=True):
        found = np.array([[np.nan if cell == "gap" else cell for cell in line] for line in lines])
        expected = cell_values(panel, data)
        np.testing.assert_array_equal(found, expected)
        assert (down, across) == (expected.shape[0] + 1, expected.shape[1] + 1)


@pytest.mark.parametrize(("layer", "shape", "layout", "start"), CASES, ids=IDS)
def test_every_element_is_found_under_the_pointer_and_nothing_in_a_gap(layer, shape, layout, start):
    e, drawing = case(layer, shape, layout, start)
    found = evaluate(
        """(() => {
          const data = decodeData(args[0]), g = new Geometry(data.grid, 600, 300, { most: 50 }), wrong = [];
          const panel = Object.assign(Object.create(Panel.prototype), { geometry: g, data });
          let count = 0;
          panel.each((index) => {
            const box = g.cellBox(index);
            for (const [x, y] of [[0.5, 0.5], [0.01, 0.01], [0.99, 0.99]])
              if (!sameIndex(g.elementAt(box.x + x * box.width, box.y + y * box.height), index)) wrong.push(index);
            count++;
          });
          const outside = [[-1, 1], [1, -1], [g.width + 1, 1], [1, g.height + 1]];
          if (g.across > 1) outside.push([(g.facetW + g.lefts[1]) / 2, 1]);
          if (g.down > 1) outside.push([1, (g.facetH + g.tops[1]) / 2]);
          for (const column of g.apart.columns) outside.push([g.xs[column] - 1, 1]);
          for (const row of g.apart.rows) outside.push([1, g.ys[row] - 1]);
          return { count, wrong, outside: outside.map(([x, y]) => g.elementAt(x, y)), width: g.width, height: g.height };
        })()""",
        view_payload(e, drawing),
    )
    assert found["count"] == np.prod(drawing.extent)
    assert found["wrong"] == []
    assert set(map(str, found["outside"])) == {"None"}
    assert found["width"] <= 600.5
    assert found["height"] <= 300.5


@pytest.mark.parametrize(("layer", "shape", "layout", "start"), CASES, ids=IDS)
def test_the_outline_covers_the_peers_and_no_other_element(layer, shape, layout, start):
    e, drawing = case(layer, shape, layout, start)
    count = int(np.prod(drawing.extent))
    places = [np.array(np.unravel_index(flat, drawing.extent)).tolist() for flat in (0, count * 3 // 5, count - 1)]
    covered = evaluate(
        """["stats", "params"].map((key) => {
          const data = decodeData(args[0]), g = new Geometry(data.grid, 600, 300, { most: 50 });
          if (!data[key]) return null;
          const panel = Object.assign(Object.create(Panel.prototype), { geometry: g, data });
          return args[1].map((at) => {
            const path = g.outline(data[key].tables, at);
            const boxes = [...path.matchAll(/M([^,]+),([^H]+)H([^V]+)V([^H]+)H/g)].map((found) => found.slice(1).map(Number));
            const inside = [];
            panel.each((index) => {
              const box = g.cellBox(index), x = box.x + box.width / 2, y = box.y + box.height / 2;
              if (boxes.some(([left, top, right, bottom]) => left < x && x < right && top < y && y < bottom)) inside.push(index);
            });
            return inside;
          });
        })""",
        view_payload(e, drawing),
        places,
    )
    for found, ids in zip(covered, (e.stat_ids, e.param_ids), strict=True):
        if ids is None:
            assert found is None
            continue
        window = drawing.take(ids)
        for at, inside in zip(places, found, strict=True):
            peers = np.argwhere(window == window[tuple(at)]).tolist()
            assert sorted(inside) == peers, at


def test_the_arrow_keys_move_through_all_facets():
    e, drawing = case("LayerNorm([3, 4, 4])", (2, 3, 4, 4), None, ())
    start = [0, 0, 0, 0]
    walks = evaluate(
        """args[1].map(([right, down, times]) => {
          const g = new Geometry(args[0].grid, 600, 300, { most: 50 });
          let at = args[2];
          for (let i = 0; i < times; i++) at = g.neighbor(at, right, down);
          return at;
        })""",
        view_payload(e, drawing),
        [[1, 0, 3], [1, 0, 4], [1, 0, 11], [1, 0, 99], [0, 1, 3], [0, 1, 4], [0, 1, 99], [-1, 0, 1], [0, -1, 1]],
        start,
    )
    assert walks == [
        [0, 0, 0, 3],
        [0, 1, 0, 0],  # into the next channel
        [0, 2, 0, 3],
        [0, 2, 0, 3],  # no further than the border
        [0, 0, 3, 0],
        [1, 0, 0, 0],  # into the next example
        [1, 0, 3, 0],
        start,
        start,
    ]


def test_the_arrow_keys_reach_every_element_if_the_last_line_of_facets_is_short():
    e, drawing = case("LayerNorm(2)", (5, 2, 2), None, ())
    reached = evaluate(
        """(() => {
          const g = new Geometry(args[0].grid, 600, 300, { most: 50 }), seen = new Set(["0,0,0"]), open = [[0, 0, 0]];
          while (open.length) {
            const at = open.pop();
            for (const [right, down] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
              const next = g.neighbor(at, right, down);
              if (!seen.has(String(next))) { seen.add(String(next)); open.push(next); }
            }
          }
          return seen.size;
        })()""",
        view_payload(e, drawing),
    )
    assert reached == 20


def geometry(shape, layout, expression, width=440, height=290):
    """A value of the browser's geometry ``g`` of a tensor in a panel of a laptop."""
    e = describe(Norm(f"{' '.join(layout.lower())} ->"), shape)
    data = view_payload(e, grid(e.shape, e.axes))
    return evaluate(
        f"((g) => {expression})(new Geometry(args[0].grid, args[1], args[2], {{ most: 50 }}))", data, width, height
    )


REAL = [((2, 64, 4, 4), "NCHW"), ((8, 96, 56, 56), "NCHW"), ((32, 128, 768), "NLC"), ((1, 32, 4096, 128), "NCHW")]


@pytest.mark.parametrize(("shape", "layout"), REAL)
def test_the_cells_of_a_real_tensor_have_room_for_numbers(shape, layout):
    width, height, wide, high = geometry(shape, layout, "[g.cellW, g.cellH, g.width, g.height]")
    assert min(width, height) >= 13
    assert (wide <= 440, high <= 290) == (True, True)


@pytest.mark.parametrize(("width", "across", "down"), [(440, 8, 2), (280, 4, 4), (120, 2, 8)])
def test_facets_wrap_before_they_are_narrower_than_40_pixels(width, across, down):
    found = geometry((2, 8, 4, 4), "NCHW", "[g.across, g.down, g.facetW, g.cellH]", width)
    assert found[:2] == [across, down]
    assert found[2] >= 40
    assert found[3] >= 7


def test_the_four_layers_of_compare_keep_their_channels_in_one_line_on_a_phone():
    across, down, cell = geometry((3, 4, 5, 2), "NCHW", "[g.across, g.down, g.cellW]", 94)  # half of 390 pixels
    assert (across, down) == (4, 3)
    assert cell >= 8


def test_an_ellipsis_has_room_where_slices_are_left_out():
    xs, cell, lefts, facet, apart = geometry((2, 64, 4, 4), "NCHW", "[g.xs, g.cellW, g.lefts, g.facetW, g.apart]")
    assert apart == {"columns": [], "rows": [], "places": [3], "lines": []}
    assert [right - left for left, right in pairwise(xs)] == [cell] * 3
    between = [right - left - facet for left, right in pairwise(lefts)]
    assert between[0] == between[1] == between[2] - 14
