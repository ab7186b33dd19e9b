import re
import subprocess
from dataclasses import fields
from importlib.resources import files

import numpy as np
import plotly
import pytest
import torch

from normviz import explain
from normviz.analysis.explanation import describe
from normviz.figures import bundle
from normviz.figures.palette import THEMES, Theme
from normviz.figures.payload.view import view_payload
from normviz.figures.plotly_figure import cell_values
from normviz.layers.norm import Norm
from normviz.scene.grid import grid
from tests.figures.linked.javascript import NODE, evaluate


def test_the_module_is_one_es_module_with_one_door():
    source = bundle.module()
    assert source.count("export default function") == 1
    assert not re.search(r"^\s*import\b|\brequire\(|^export (?!default)", source, re.MULTILINE)
    checked = subprocess.run(
        [NODE, "--check", "--input-type=module"], input=source, capture_output=True, text=True, timeout=60
    )
    assert checked.returncode == 0, checked.stderr


def test_every_part_is_in_the_module():
    parts = {file.name for file in files("normviz.figures.bundle").iterdir() if file.name.endswith(".js")}
    assert parts == {f"{part}.js" for part in bundle.PARTS}


def test_the_module_fetches_nothing_but_the_plotly_that_it_is_told():
    text = bundle.module() + bundle.style()
    addresses = set(re.findall(r"https?://[^\s\"'`)]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\bfetch\(|XMLHttpRequest|@import|url\(\s*[\"']?(?!#)", text.replace("url(#${", "url(#"))


def test_every_colour_that_the_style_asks_for_is_one_of_the_themes():
    style = bundle.style()
    known = {field.name for field in fields(Theme) if isinstance(getattr(THEMES["light"], field.name), str)}
    made = set(re.findall(r"(--nv-[a-z-]+)\s*:", style)) | set(re.findall(r"\"(--nv-[a-z-]+)\"", bundle.module()))
    asked = set(re.findall(r"var\((--nv-[a-z-]+)", style + bundle.module()))
    assert asked <= made | {f"--nv-{name}" for name in known}


def test_every_rule_of_the_style_is_below_our_own_names():
    rules = re.sub(r"/\*.*?\*/|@media[^{]*\{", "", bundle.style(), flags=re.DOTALL)
    selectors = [part.strip() for rule in re.findall(r"([^{}]+)\{", rules) for part in rule.split(",")]
    assert len(selectors) > 40
    assert [selector for selector in selectors if not selector.startswith(".nv-")] == []


def test_plotly_js_is_the_one_of_the_installed_package():
    script = bundle.plotly_js()
    assert bundle.plotly_version() == plotly.__version__
    assert script == (files("plotly") / "package_data" / "plotly.min.js").read_bytes()
    assert len(script) > 1_000_000


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


def test_numbers_are_short_and_never_nothing():
    found = evaluate("args[0].map((value) => [number(value), short(value)])", [value for value, _, _ in NUMBERS])
    assert found == [[number, short] for _, number, short in NUMBERS]


def test_eps_is_told_as_it_is():
    assert evaluate("args[0].map((eps) => number(eps, 3))", [1e-3, 1e-5, 1e-12, 0.5, 0]) == [
        "0.001", "1e−5", "1e−12", "0.5", "0",
    ]  # fmt: skip


def test_numbers_that_are_not_finite_are_told():
    assert evaluate("[number(NaN), number(Infinity), number(-Infinity), short(null)]") == ["nan", "inf", "−inf", "nan"]


def test_ink_is_the_better_of_two():
    assert evaluate('["#ffffff", "#000000", "#8fbdf0", "#28456b"].map((fill) => inkOn(rgb(fill), ["#111111", "#ffffff"]))') == [
        "#111111", "#ffffff", "#111111", "#ffffff",
    ]  # fmt: skip


def test_a_fill_is_where_plotly_would_draw_it():
    scale = [[0, "#000000"], [0.5, "#646464"], [0.5, "#c80000"], [1, "#c80000"]]
    assert evaluate("[0, 0.25, 0.49999999, 0.75, 1, 2].map((at) => fillAt(args[0], at).map(Math.round))", scale) == [
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
    (Norm("n d ->", ""), (2, 3), None, ()),
    ("GroupNorm(32, 64)", (2, 64, 56, 56), None, (0, 41, 0, 0)),
    ("BatchNorm1d(200)", (300, 200), None, (172, 72)),
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
          const data = prepared(args[0]), geometry = new Geometry(data.grid, 600, 300, { most: 50 });
          const panel = Object.assign(Object.create(Panel.prototype), { geometry, data, figure, values: null });
          return [panel.drawn().map((line) => [...line]), geometry.edges(true).length, geometry.edges(false).length];
        })""",
        data,
    )
    for (lines, across, down), panel in zip(drawn, data["panels"][:2], strict=True):
        found = np.array([[np.nan if cell == "gap" else cell for cell in line] for line in lines])
        expected = cell_values(panel, data, drawing)
        np.testing.assert_array_equal(found, expected)
        assert (down, across) == (expected.shape[0] + 1, expected.shape[1] + 1)


@pytest.mark.parametrize(("layer", "shape", "layout", "start"), CASES, ids=IDS)
def test_every_element_is_found_under_the_pointer_and_gaps_are_nobody(layer, shape, layout, start):
    e, drawing = case(layer, shape, layout, start)
    found = evaluate(
        """(() => {
          const data = prepared(args[0]), g = new Geometry(data.grid, 600, 300, { most: 50 }), wrong = [];
          const panel = Object.assign(Object.create(Panel.prototype), { geometry: g, data });
          let count = 0;
          panel.each((index) => {
            const box = g.cell(index);
            for (const [x, y] of [[0.5, 0.5], [0.01, 0.01], [0.99, 0.99]])
              if (!same(g.hit(box.x + x * box.width, box.y + y * box.height), index)) wrong.push(index);
            count++;
          });
          const outside = [[-1, 1], [1, -1], [g.width + 1, 1], [1, g.height + 1]];
          if (g.gapX) outside.push([g.columns * g.cellW + g.gapX / 2, 1]);
          if (g.gapY) outside.push([1, g.rows * g.cellH + g.gapY / 2]);
          return { count, wrong, outside: outside.map(([x, y]) => g.hit(x, y)), width: g.width, height: g.height };
        })()""",
        view_payload(e, drawing),
    )
    assert found["count"] == np.prod(drawing.extent)
    assert found["wrong"] == []
    assert set(map(str, found["outside"])) == {"None"}
    assert found["width"] <= 600.5
    assert found["height"] <= 300.5


@pytest.mark.parametrize(("layer", "shape", "layout", "start"), CASES, ids=IDS)
def test_the_outline_covers_the_peers_and_nobody_else(layer, shape, layout, start):
    e, drawing = case(layer, shape, layout, start)
    covered = evaluate(
        """["stats", "params"].map((key) => {
          const data = prepared(args[0]), g = new Geometry(data.grid, 600, 300, { most: 50 });
          if (!data[key]) return null;
          const panel = Object.assign(Object.create(Panel.prototype), { geometry: g, data });
          const at = data.grid.extent.map((length) => length - 1), path = g.path(data[key].tables, at);
          const boxes = [...path.matchAll(/M([^,]+),([^H]+)H([^V]+)V([^H]+)H/g)].map((found) => found.slice(1).map(Number));
          const inside = [];
          panel.each((index) => {
            const box = g.cell(index), x = box.x + box.width / 2, y = box.y + box.height / 2;
            if (boxes.some(([left, top, right, bottom]) => left < x && x < right && top < y && y < bottom)) inside.push(index);
          });
          return inside;
        })""",
        view_payload(e, drawing),
    )
    last = tuple(part - 1 for part in drawing.extent)
    for inside, ids in zip(covered, (e.stat_ids, e.param_ids), strict=True):
        window = ids[drawing.slices]
        assert sorted(map(tuple, inside)) == [tuple(map(int, i)) for i in np.argwhere(window == window[last])]


def test_the_arrow_keys_move_through_all_facets():
    e, drawing = case("LayerNorm([3, 4, 4])", (2, 3, 4, 4), None, ())
    start = [0, 0, 0, 0]
    walks = evaluate(
        """args[1].map(([right, down, times]) => {
          const g = new Geometry(args[0].grid, 600, 300, { most: 50 });
          let at = args[2];
          for (let i = 0; i < times; i++) at = g.step(at, right, down);
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


def test_the_arrow_keys_reach_every_element_where_the_last_line_of_facets_is_short():
    e, drawing = case("LayerNorm(2)", (5, 2, 2), None, ())
    reached = evaluate(
        """(() => {
          const g = new Geometry(args[0].grid, 600, 300, { most: 50 }), seen = new Set(["0,0,0"]), open = [[0, 0, 0]];
          while (open.length) {
            const at = open.pop();
            for (const [right, down] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
              const next = g.step(at, right, down);
              if (!seen.has(String(next))) { seen.add(String(next)); open.push(next); }
            }
          }
          return seen.size;
        })()""",
        view_payload(e, drawing),
    )
    assert reached == 20


def view(e, start=()):
    return view_payload(e, grid(e.shape, e.axes, start))


# What the module says of an element, without a page: its read-out and its arithmetic.
SAY = """(() => {
  const data = prepared(args[0]), g = new Geometry(data.grid, 600, 300, { most: 50 });
  const panels = Object.fromEntries(data.panels.map((figure) => [figure.key, Object.assign(Object.create(Panel.prototype), {
    geometry: g, data, figure, values: figure.z ? decode(figure.z) : null })]));
  const fake = { data, valueAt: (key, index) => panels[key].valueAt(index) };
  return [spoken(readout(fake, args[1])), data.values ? worked(fake, args[1]) : null];
})()"""

X = torch.tensor([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])
SAID = [
    # layer, element, the read-out
    ("LayerNorm(3)", (0, 2), "x[0, 2] = 6 · shares its mean 3 and variance 4.667 with 2 others · meets gamma[2] = 1 and beta[2] = 0, as does 1 other"),
    ("BatchNorm1d(3)", (0, 2), "x[0, 2] = 6 · shares its mean 5 and variance 1 with 1 other · meets gamma[2] = 1 and beta[2] = 0, as does 1 other"),
    ("RMSNorm(3)", (0, 2), "x[0, 2] = 6 · shares its mean square 13.67 with 2 others · meets gamma[2] = 1, as does 1 other"),
    ("BatchNorm1d(3, affine=False).eval()", (0, 2), "x[0, 2] = 6 · shares its running mean 0 and running variance 1 with 1 other · no gamma, no beta"),
    (Norm("n d -> n d", "n d"), (1, 0), "x[1, 0] = 4 · has its mean 4 and variance 0 to itself · meets gamma[1, 0] = 1 and beta[1, 0] = 0, alone"),
    (Norm("n d ->", "", bias=False), (1, 0), "x[1, 0] = 4 · shares its mean 3.5 and variance 2.583 with 5 others · meets gamma = 1, as do 5 others"),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "index", "words"), SAID)
def test_the_read_out_says_who_shares_what(layer, index, words):
    assert evaluate(SAY, view(explain(layer, X)), list(index))[0] == words


def test_of_a_shape_alone_the_read_out_has_no_numbers():
    said, worked = evaluate(SAY, view(explain("LayerNorm(3)", (2, 3))), [0, 2])
    assert said == "x[0, 2] · shares its mean and variance with 2 others · meets gamma[2] and beta[2], as does 1 other"
    assert worked is None


def test_in_a_moved_window_the_read_out_names_the_elements_of_the_whole_tensor():
    data = view(explain("GroupNorm(32, 64)", (2, 64, 56, 56)), (0, 41, 0, 0))
    assert evaluate(SAY, data, [1, 1, 2, 3])[0] == (
        "x[1, 42, 2, 3] · shares its mean and variance with 6,271 others · meets gamma[42] and beta[42], as do 6,271 others"
    )


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
    assert evaluate(SAY, view(describe(layer, X)), [0, 2])[1] == lines


def test_long_sums_are_abbreviated_in_the_middle():
    lines = evaluate(SAY, view(explain("LayerNorm(8)", torch.arange(8.0).reshape(1, 8))), [0, 0])[1]
    assert lines[0] == ["sum", "0 + 1 + 2 + … + 7", "28"]
    assert lines[2] == ["squared deviations", "(0 − 3.5)² + (1 − 3.5)² + (2 − 3.5)² + … + (7 − 3.5)²", "42"]


def test_negative_numbers_stand_in_brackets():
    lines = evaluate(SAY, view(explain("LayerNorm(2)", torch.tensor([[-1.0, -3.0]]))), [0, 1])[1]
    assert lines[0] == ["sum", "(−1) + (−3)", "−4"]
    assert lines[2] == ["squared deviations", "(−1 − (−2))² + (−3 − (−2))²", "2"]


def test_where_a_group_is_drawn_in_part_its_sum_is_still_that_of_the_whole():
    x = torch.arange(2000.0).reshape(1000, 2)
    lines = evaluate(SAY, view(explain("BatchNorm1d(2)", x), (100, 0)), [0, 1])[1]
    assert lines[0] == ["sum", "201 + 203 + 205 + …", "1000000"]
    assert lines[1] == ["mean", "1000000 / 1,000", "1000"]


TABLES = [
    ("LayerNorm(3)", [[[0], 3, 14 / 3], [[1], 4, 0]]),
    ("BatchNorm1d(3)", [[[0], 2.5, 2.25], [[1], 3, 1], [[2], 5, 1]]),
    ("GroupNorm(1, 3)", [[[0, 0], 3, 14 / 3], [[1, 0], 4, 0]]),
    ("RMSNorm([2, 3])", [[[], 0, 89 / 6]]),
]


@pytest.mark.parametrize(("layer", "rows"), TABLES)
def test_the_table_lists_every_group_once(layer, rows):
    table = evaluate("statisticsRows(prepared(args[0]))", view(explain(layer, X)))
    assert [row["place"] for row in table] == [place for place, _, _ in rows]
    np.testing.assert_allclose([[row["mean"], row["variance"]] for row in table], [row[1:] for row in rows], rtol=1e-6)


def test_the_table_stops_at_a_hundred_groups():
    table = evaluate("statisticsRows(prepared(args[0]))", view(explain("LayerNorm(2)", torch.zeros(150, 2))))
    assert [row["place"] for row in table] == [[i] for i in range(100)]


TAKEN_OFF = """(async () => {
  const said = [];
  console.error = (error) => said.push(error.message);
  globalThis.window = { Plotly: {} };
  KINDS.view = class {
    line = {};
    set() { return new Promise((_, refuse) => setTimeout(() => refuse(new Error("purged")), 1)); }
    destroy() {}
  };
  for (const stays of [true, false]) {
    const clean = mount({ parentElement: { querySelector: () => ({}) }, data: { kind: "view", theme: "light" } });
    await Promise.resolve().then(() => Promise.resolve()).then(() => stays || clean());
    await new Promise((done) => setTimeout(done, 10));
  }
  return said;
})()"""


def test_a_view_that_is_taken_off_while_it_is_drawn_does_not_complain():
    assert evaluate(TAKEN_OFF) == ["purged"]  # the one that stayed
