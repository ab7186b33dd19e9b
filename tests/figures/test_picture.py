import json
import re
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest
import torch

from normviz import explain
from normviz.figures import Marked, explanation_figure, heatmap, picture, sharing_panels, theme, value_panels
from normviz.figures.labels import facet_label, plain, short
from normviz.figures.palette import stops
from normviz.layers.errors import NormvizError
from normviz.layers.norm import Norm
from normviz.layers.sharing import param_tables, stat_tables
from normviz.scene.grid import grid
from tests.figures.colours import contrast, mixed, rgb
from tests.figures.linked.javascript import evaluate

CASES = [
    ("LayerNorm(3)", (2, 3)),
    ("LayerNorm(3)", (3,)),
    ("LayerNorm([3, 4, 4])", (2, 3, 4, 4)),
    ("RMSNorm(6)", (2, 5, 6)),
    ("BatchNorm1d(6)", (2, 6)),
    ("BatchNorm3d(3)", (2, 3, 2, 4, 4)),
    ("BatchNorm2d(3).eval()", (2, 3, 4, 4)),
    ("InstanceNorm2d(3)", (2, 3, 4, 4)),
    ("GroupNorm(4, 64)", (2, 64, 56, 56)),
    (Norm("n c h w -> n h w", ""), (2, 3, 4, 4)),
]


def drawn(e):
    return sharing_panels(e, grid(e.shape, e.axes))


def heatmaps(figure):
    return [trace for trace in figure.data if trace.type == "heatmap" and trace.name != "veil"]


def named(figure, name, panel=0):
    """The trace of that name that belongs to a panel, or None."""
    axis = f"x{panel + 1}" if panel else "x"
    return next((trace for trace in figure.data if (trace.name, trace.xaxis) == (name, axis)), None)


def texts(trace):
    """Where each text stands: the number of the drawn line and column, and the text."""
    return {(int(y), int(x)): text for x, y, text in zip(trace.x, trace.y, trace.text, strict=True)}


def test_a_picture_of_two_by_three():
    figure = explain("LayerNorm(3)", (2, 3)).figure()
    assert texts(named(figure, "numbers", 0)) == {(i, j): str(i) for i in range(2) for j in range(3)}
    assert texts(named(figure, "numbers", 1)) == {(i, j): str(j) for i in range(2) for j in range(3)}
    assert list(named(figure, "names").text) == ["d = 0", "d = 1", "d = 2", "n = 0", "n = 1"]


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize(("layer", "shape"), CASES)
def test_a_figure_has_both_panels_with_their_titles(layer, shape, name):
    e = explain(layer, shape)
    figure = e.figure(name)
    assert type(figure) is go.Figure
    for number, (trace, annotation, panel) in enumerate(
        zip(heatmaps(figure), figure.layout.annotations, drawn(e), strict=True)
    ):
        np.testing.assert_array_equal(trace.z, panel.z)
        assert annotation.text.startswith(f"<b>{panel.title}</b>")
        assert panel.caption in annotation.text
        assert panel.pattern in annotation.text
        assert len(trace.x) == panel.z.shape[1] + 1
        assert len(trace.y) == panel.z.shape[0] + 1
        assert (np.diff(trace.x) > 0).all()
        numbers = named(figure, "numbers", number)
        if numbers is not None:
            said = sorted(int(text) for text in numbers.text)
            assert said == sorted(panel.z[~np.isnan(panel.z)].astype(int).tolist())
    assert figure.layout.paper_bgcolor == theme(name).background
    assert json.loads(figure.to_json())


def test_nothing_reaches_over_the_edge_or_over_another_panel():
    for layer, shape in CASES:
        figure = explain(layer, shape).figure()
        boxes = []
        for trace in heatmaps(figure):
            across = figure.layout[f"xaxis{trace.xaxis[1:]}"].domain
            down = figure.layout[f"yaxis{trace.yaxis[1:]}"].domain
            assert 0 <= across[0] < across[1] <= 1
            assert 0 <= down[0] < down[1] <= 1
            boxes.append(across)
        assert boxes[0][1] <= boxes[1][0]


def test_cells_are_as_large_in_every_panel_of_a_row_and_whole_pixels():
    figure = explain("LayerNorm([3, 4, 4])", (2, 3, 4, 4)).figure()
    sizes = []
    for trace in heatmaps(figure):
        axis = figure.layout[f"xaxis{trace.xaxis[1:]}"]
        sizes.append(figure.layout.width * (axis.domain[1] - axis.domain[0]) / (axis.range[1] - axis.range[0]))
    assert sizes == pytest.approx([round(sizes[0])] * 2)


def test_a_figure_takes_no_template_from_anybody(monkeypatch):
    monkeypatch.setattr(plotly.io.templates, "default", "plotly_dark")
    figure = explain("LayerNorm(3)", (2, 3)).figure()
    assert figure.layout.template.to_plotly_json() == plotly.io.templates["none"].to_plotly_json()
    assert figure.layout.font.color == theme("light").text


def test_values_are_not_needed_and_change_nothing():
    of_shape, of_values = explain("LayerNorm(3)", (2, 3)), explain("LayerNorm(3)", torch.ones(2, 3))
    assert of_shape.figure() == of_values.figure()


def test_ids_are_printed_where_they_can_be_read():
    small, large = explain("LayerNorm(3)", (2, 3)).figure(), explain("LayerNorm(60)", (40, 60)).figure()
    assert [named(small, "numbers", panel) is not None for panel in (0, 1)] == [True, True]
    assert [named(large, "numbers", panel) for panel in (0, 1)] == [None, None]
    nobody = explain("LayerNorm(3, elementwise_affine=False)", (2, 3)).figure()
    assert [named(nobody, "numbers", panel) is not None for panel in (0, 1)] == [True, False]


AXES = [
    ("LayerNorm(3)", (3,), ["d = 0", "d = 1", "d = 2"]),
    ("LayerNorm(3)", (2, 3), ["d = 0", "d = 1", "d = 2", "n = 0", "n = 1"]),
    ("LayerNorm(6)", (2, 5, 6), ["n = 0", "n = 1", "c →", "l ↓"]),
    ("LayerNorm(6)", (3, 2, 2), ["n = 0", "n = 1", "n = 2", "c →", "l ↓"]),
    ("BatchNorm2d(3)", (2, 3, 4, 4), ["c = 0", "c = 1", "c = 2", "n = 0", "n = 1", "w →", "h ↓"]),
    ("BatchNorm3d(1)", (2, 1, 2, 4, 4), ["c = 0, d = 0", "c = 0, d = 1", "n = 0", "n = 1", "w →", "h ↓"]),
    ("LayerNorm(24)", (1, 24), [f"d = {i}" for i in range(0, 24, 3)] + ["n = 0"]),
]


@pytest.mark.parametrize(("layer", "shape", "names"), AXES)
def test_the_axis_letters_stand_on_the_figure(layer, shape, names):
    layer = layer if layer != "LayerNorm(6)" else f"LayerNorm({shape[-1]})"
    assert list(named(explain(layer, shape).figure(), "names").text) == names


def test_rows_run_downwards():
    low, high = explain("LayerNorm(3)", (2, 3)).figure().layout.yaxis.range
    assert low > 2
    assert high < 0


def test_gaps_between_facets_are_narrower_than_cells():
    trace = explain("InstanceNorm2d(2)", (1, 2, 2, 2)).figure().data[0]
    np.testing.assert_allclose(trace.x, [0, 1, 2, 2.35, 3.35, 4.35])
    np.testing.assert_allclose(trace.y, [0, 1, 2])


def test_facets_are_named_by_their_indices():
    drawing = grid((2, 64, 56, 56), ("n", "c", "h", "w"), (0, 8, 0, 0))
    assert [facet_label(drawing, number, False) for number in range(4)] == [
        "n = 0, c = 8",
        "n = 0, c = 9",
        "n = 1, c = 8",
        "n = 1, c = 9",
    ]
    assert facet_label(drawing, 3, True) == "c = 9"


def test_the_trace_has_the_panels_range_and_colours():
    trace = heatmap(drawn(explain("LayerNorm(3)", (2, 3)))[0], theme("dark"))
    assert (trace["zmin"], trace["zmax"]) == (-0.5, 1.5)
    assert [colour for _, colour in trace["colorscale"]] == [*theme("dark").few[:1] * 2, *theme("dark").few[1:2] * 2]


def test_values_are_printed_with_their_strips():
    e = explain("LayerNorm(3)", torch.tensor([[1.0, 2.0, 3.0], [4.0, 4.0, 7.0]]))
    drawing = grid(e.shape, e.axes)
    figure = picture(value_panels(e, drawing), drawing)
    assert texts(named(figure, "numbers")) == {(i, j): short(float(e.x[i, j])) for i in range(2) for j in range(3)}
    names = list(named(figure, "names").text)
    assert names[-14:] == ["mean", "2", "5", "var", "0.67", "2", "mean", "2.5", "3", "5", "var", "2.25", "1", "4"]


def test_sharing_and_values_stand_in_rows_of_their_own():
    e = explain("LayerNorm(3)", torch.ones(2, 3))
    drawing = grid(e.shape, e.axes)
    figure = picture((*sharing_panels(e, drawing), *value_panels(e, drawing)), drawing, "light", 2)
    tops = [figure.layout[f"yaxis{number or ''}"].domain[1] for number in ("", 2, 3, 4, 5)]
    assert tops[0] == tops[1] > tops[2] == tops[3] > tops[4]


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize(("layer", "shape"), [case for case in CASES if np.prod(case[1]) < 10_000])
def test_the_veil_leaves_exactly_the_peers_open(layer, shape, name):
    e = explain(layer, shape)
    drawing, at = grid(e.shape, e.axes), tuple(size - 1 for size in shape)
    tables = {"stats": stat_tables(e.norm, e.shape), "params": param_tables(e.norm, e.shape)}
    marked = Marked(at, {key: found for key, found in tables.items() if found is not None})
    figure = picture(sharing_panels(e, drawing), drawing, name, 2, marked=marked)
    colours = theme(name)
    for number, (panel, peers) in enumerate(zip(drawn(e), (e.peers(at), e.parameter_peers(at)), strict=True)):
        veil = named(figure, "veil", number)
        if not panel.links:
            assert veil is None
            continue
        assert veil.colorscale[0][1] == colours.veil
        open_ones = np.zeros(shape)
        for index in (at, *peers):
            open_ones[index] = 1
        laid = drawing.lay(open_ones)
        np.testing.assert_array_equal(~np.isnan(veil.z), laid == 0)
        numbers = named(figure, "numbers", number)
        if numbers is None:
            continue
        assert list(numbers.textfont.color).count(colours.faint) == (laid == 0).sum()
    frames = [shape for shape in figure.layout.shapes if shape.type == "rect" and shape.line.color == colours.accent]
    assert len(frames) == 2


@pytest.mark.parametrize("name", ["light", "dark"])
def test_what_is_printed_can_be_read_on_its_cell(name):
    e = explain("LayerNorm([3, 4, 4])", torch.randn(2, 3, 4, 4, generator=torch.Generator().manual_seed(0)))
    drawing = grid(e.shape, e.axes)
    panels = (*sharing_panels(e, drawing), *value_panels(e, drawing))
    figure = picture(panels, drawing, name, 2)
    read = 0
    for number, panel in enumerate(panels):
        numbers = named(figure, "numbers", number)
        scale = stops(theme(name), panel.scale, panel.groups)
        values = panel.z[~np.isnan(panel.z)]
        for value, ink in zip(values, numbers.textfont.color, strict=True):
            assert contrast(rgb(ink), ground(scale, (value - panel.low) / (panel.high - panel.low))) >= 4.5
            read += 1
    assert read == 5 * 96


def ground(scale, place):
    low, high = max(stop for stop in scale if stop[0] <= place), min(stop for stop in scale if stop[0] >= place)
    return rgb(low[1]) if high[0] == low[0] else mixed(low[1], high[1], (place - low[0]) / (high[0] - low[0]))


def test_numbers_are_as_short_as_in_the_app():
    values = [0, 1, -0.5, 1 / 3, 2 / 3, 1.23456, 9.999, 12.34, -99.96, 123.456, 99999, 123456.0, -1.5e7, 0.001, -0.001]
    assert [short(value) for value in values] == evaluate("args[0].map(short)", values)
    assert [short(float(text)) for text in ("nan", "inf", "-inf")] == ["nan", "inf", "−inf"]


def test_a_title_is_shown_as_text():
    hostile = "<b>x</b><a href='javascript:alert(1)'>y</a>&amp;"
    e = explain("LayerNorm(3)", (2, 3))
    drawing = grid(e.shape, e.axes)
    figure = picture(sharing_panels(e, drawing), drawing, title=hostile)
    said = figure.layout.annotations[0].text
    assert said == f"<b>{plain(hostile)}</b>"
    assert re.findall(r"<[^>]*>", said) == ["<b>", "</b>"]


def test_a_hostile_caption_is_shown_as_text():
    e = explain("LayerNorm(3)", (2, 3))
    drawing = grid(e.shape, e.axes)
    hostile = "<img src=x onerror=alert(1)>"
    panels = [replace(panel, title=hostile, caption=hostile, pattern=hostile) for panel in sharing_panels(e, drawing)]
    for annotation in picture(panels, drawing).layout.annotations:
        assert "<img" not in annotation.text
        assert annotation.text.count("&lt;img src=x") == 3


def test_another_theme_is_refused():
    with pytest.raises(NormvizError, match=re.escape("'sepia' is no theme; choose light or dark.")):
        explanation_figure(explain("LayerNorm(3)", (2, 3)), "sepia")
