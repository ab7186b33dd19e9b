import json
import re
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest
import torch

import normviz as nv
from normviz import explain
from normviz.figures.palette import GROUP_COLORS, theme
from normviz.figures.payload import ComparePayload, view_payload
from normviz.figures.plotly_figure import group_ids, panels_figure
from normviz.lessons.pages import PAGES
from normviz.parts.part import Panels, flat
from normviz.scene.grid import grid
from normviz.texts.errors import NormvizError

BOTH = pytest.mark.parametrize("name", ["light", "dark"])
VIEWS = [
    "/",
    "/?shape=4,6&layer=BatchNorm1d(6)",
    "/?shape=5,3,4&layer=RMSNorm([3,4])&at=none",
    "/?shape=2,3,2,4,4&layer=BatchNorm3d(3)",
    "/?shape=2,64,56,56&layer=GroupNorm(32,64)&from=0,40,0,0",
    "/compare?layers=BatchNorm2d(3);LayerNorm([3,4,4]);InstanceNorm2d(3);GroupNorm(1,3)",
    "/step_by_step?step=3",
    "/train_and_eval?show=modes&layer=BatchNorm2d(3)",
    "/gradients?show=column",
    "/gradients?show=matrix",
]


def view(link):
    """The data of the first linked view of a page."""
    return next(part for part in flat(nv.open(link).parts) if isinstance(part, Panels)).data


def cells_of(panel, data):
    """The values that a panel's cells hold, from its payload."""
    drawing = data.grid
    if panel.z is not None:
        return drawing.flatten(panel.z)
    if not panel.links:
        return drawing.flatten(np.zeros(drawing.extent))
    sharings = data.sharings if isinstance(data, ComparePayload) else {"stats": data.stats, "params": data.params}
    return drawing.flatten(group_ids(sharings[panel.links].axes, drawing))


def numbers_of(names):
    """The numbers of groups, which have names such as "gamma 49"."""
    return np.array([[float(name.split()[-1]) if name else np.nan for name in line] for line in names])


def labels(axis):
    return list(axis.ticktext)


def test_layer_norm_on_a_matrix():
    figure = explain("LayerNorm(3)", (2, 3)).figure()
    stats, params = figure.data
    assert type(figure) is go.Figure
    assert [stats.type, params.type] == ["heatmap", "heatmap"]
    assert stats.z.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert params.z.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert (stats.zmin, stats.zmax) == (-0.5, 1.5)
    assert [list(line) for line in stats.text] == [["", "mean 0", ""], ["", "mean 1", ""]]
    assert [list(line) for line in params.text] == [["gamma 0", "gamma 1", "gamma 2"], ["", "", ""]]
    assert stats.hovertext[1] == ["mean 1"] * 3
    first, second = theme("light").few[:2]
    assert [color for _place, color in stats.colorscale] == [first, first, second, second]
    assert figure.layout.title.text == "<b>LayerNorm([3]) on x of shape (2, 3)</b>"
    for annotation, words in zip(
        figure.layout.annotations,
        [
            ["Who shares my mean and variance?", "n d → n · 2 groups of 3"],
            ["Who shares my gamma and beta?", "d · 3 + 3 = 6 parameters"],
        ],
        strict=True,
    ):
        assert all(word in annotation.text for word in words)
    assert (labels(figure.layout.xaxis), labels(figure.layout.yaxis)) == (
        ["d = 0", "d = 1", "d = 2"],
        ["n = 0", "n = 1"],
    )


@BOTH
@pytest.mark.parametrize("link", VIEWS)
def test_every_panel_is_a_heatmap_with_its_values_in_the_colors_of_the_theme(link, name):
    data, colors = view(link), theme(name)
    figure = panels_figure(data, name)
    assert json.loads(figure.to_json())
    assert (figure.layout.paper_bgcolor, figure.layout.font.color) == (colors.background, colors.text)
    panels = {panel.title: panel for panel in data.panels if panel.scale != "cube"}
    assert {trace.name for trace in figure.data} == set(panels)
    for trace in figure.data:
        panel = panels[trace.name]
        expected = cells_of(panel, data)
        if panel.scale == "values":
            np.testing.assert_array_equal(trace.z, expected)
            assert (trace.zmin, trace.zmax) == (panel.low, panel.high)
        else:
            named = trace.hovertext or [["" if np.isnan(id) else "0" for id in line] for line in expected]
            np.testing.assert_array_equal(numbers_of(named), expected)
            if trace.text is not None:
                numbers = numbers_of(trace.text)
                written = numbers[~np.isnan(numbers)]
                assert len(set(written)) == len(written)  # once in its group
                assert (numbers == expected)[~np.isnan(numbers)].all()  # in a cell of its group
            ids = sorted(set(expected[~np.isnan(expected)]))
            colors_of = min(len(ids), GROUP_COLORS) if panel.scale == "groups" else len(ids)
            ranks = [[np.nan if np.isnan(id) else ids.index(id) % colors_of for id in line] for line in expected]
            np.testing.assert_array_equal(trace.z, ranks)
            assert (trace.zmin, trace.zmax) == (-0.5, colors_of - 0.5)
    frames = [shape for shape in figure.layout.shapes if shape.line.color == colors.accent]
    assert len(frames) == (len(panels) if data.at is not None else 0)


def test_the_views_are_of_every_page_with_panels():
    with_panels = {
        name
        for name, page in PAGES.items()
        if any(isinstance(part, Panels) for part in flat(page.parts(page.view(""))))
    }
    assert with_panels <= {re.match(r"/(\w*)", link)[1] or "explore" for link in VIEWS}


def test_the_frame_is_around_the_selected_element():
    figure = panels_figure(view("/?shape=2,3,4,4&layer=LayerNorm([3,4,4])&at=1,2,0,3"))
    frame = figure.layout.shapes[0]
    # facets are 4 x 4 with one empty line between them: n = 1 begins at line 5, c = 2 at column 10
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (12.5, 13.5, 4.5, 5.5)


AXES = [
    ("LayerNorm(3)", (3,), ["d = 0", "d = 1", "d = 2"], []),
    ("LayerNorm(6)", (2, 5, 6), ["n = 0", "n = 1"], []),
    ("LayerNorm(4)", (5, 3, 4), [], ["n = 0 … 2", "n = 3 … 4"]),
    ("BatchNorm2d(3)", (2, 3, 4, 4), ["c = 0", "c = 1", "c = 2"], ["n = 0", "n = 1"]),
    ("BatchNorm3d(1)", (2, 1, 2, 4, 4), ["c = 0, d = 0", "c = 0, d = 1"], ["n = 0", "n = 1"]),
    ("LayerNorm(24)", (1, 24), [f"d = {i}" for i in range(0, 24, 3)], ["n = 0"]),
]


@pytest.mark.parametrize(("layer", "shape", "columns", "rows"), AXES)
def test_columns_and_rows_are_labeled_if_there_is_room(layer, shape, columns, rows):
    layout = explain(layer, shape).figure().layout
    assert (labels(layout.xaxis), labels(layout.yaxis)) == (columns, rows)


def test_labels_are_in_the_middle_of_their_facets():
    layout = explain("BatchNorm2d(3)", (2, 3, 4, 4)).figure().layout
    assert (layout.xaxis.tickvals, layout.yaxis.tickvals) == ((1.5, 6.5, 11.5), (1.5, 6.5))


def test_rows_run_downwards():
    assert explain("LayerNorm(3)", (2, 3)).figure().layout.yaxis.range == (1.5, -0.5)


def test_names_stand_in_groups_and_numbers_in_cells_that_have_room():
    small, large = explain("LayerNorm(3)", (2, 3)).figure(), explain("LayerNorm(40)", (32, 40)).figure()
    without_gamma = explain("LayerNorm(3, elementwise_affine=False)", (2, 3)).figure()
    printed = [
        [[*filter(None, np.ravel(trace.text or []))] for trace in figure.data]
        for figure in (small, large, without_gamma)
    ]
    assert printed[0] == [["mean 0", "mean 1"], ["gamma 0", "gamma 1", "gamma 2"]]
    assert printed[1:] == [[[], []], [["mean 0", "mean 1"], []]]
    assert large.data[1].hovertext[3][39] == "gamma 39"  # only the pointer tells it
    e = explain("LayerNorm(3)", torch.ones(2, 3))
    assert panels_figure(view_payload(e, grid(e.shape, e.axes))).data[2].texttemplate == "%{z:.3~g}"


def test_a_figure_has_no_template(monkeypatch):
    monkeypatch.setattr(plotly.io.templates, "default", "plotly_dark")
    figure = explain("LayerNorm(3)", (2, 3)).figure()
    assert figure.layout.template.to_plotly_json() == plotly.io.templates["none"].to_plotly_json()


def test_an_explanations_figure_does_not_depend_on_the_values():
    of_shape, of_values = explain("LayerNorm(3)", (2, 3)), explain("LayerNorm(3)", torch.ones(2, 3))
    assert of_shape.figure() == of_values.figure()


def test_statistics_parameters_and_values_have_their_own_rows_and_empty_cells_have_no_axes():
    figure = panels_figure(view(VIEWS[5]))
    places = [
        (trace.name.split(": ")[-1][:5], figure.layout[trace.yaxis.replace("y", "yaxis")].domain[1])
        for trace in figure.data
    ]
    tops = sorted({top for _name, top in places}, reverse=True)
    assert [tops.index(top) for _name, top in places] == [0, 0, 0, 1, 2, 2, 2, 3]
    assert len([name for name in figure.layout if name.startswith("xaxis")]) == 8


def test_a_hidden_panel_is_left_out():
    assert [trace.name for trace in panels_figure(view("/?hide=stats,params,normalized")).data] == ["x", "output"]
    compared = panels_figure(view("/compare?shape=2,3,4,4&layers=BatchNorm2d(3);LayerNorm([3,4,4])&hide=stats"))
    assert [trace.name for trace in compared.data] == [
        "BatchNorm2d(3): gamma and beta",
        "LayerNorm([3, 4, 4]): gamma and beta",
    ]
    with pytest.raises(NormvizError, match="Every panel of this view is hidden; show one to get a figure"):
        panels_figure(replace(view("/"), hidden=["stats", "params", "x", "normalized", "output"]))


def test_hostile_text_is_shown_as_text():
    hostile = "<b>x</b><a href='javascript:alert(1)'>y</a><img src=x>"
    data = view("/")
    panels = [replace(panel, title=hostile, caption=hostile, pattern=hostile) for panel in data.panels]
    figure = panels_figure(replace(data, layer=hostile, panels=panels))
    for text in (figure.layout.title.text, *(annotation.text for annotation in figure.layout.annotations)):
        assert not re.search(r"<a|<img", text)
        assert "&lt;img" in text


def test_another_theme_is_refused():
    with pytest.raises(NormvizError, match=re.escape("'sepia' is not a theme; choose light or dark.")):
        explain("LayerNorm(3)", (2, 3)).figure("sepia")
