import re

import pytest

from normviz.figures.charts import bars, chart, dots, line
from normviz.figures.palette import theme
from normviz.texts.errors import NormvizError


def chart_of_every_kind():
    traces = [
        line("a line", [0, 1], [1, 2], "accent", dash="dash"),
        dots("points", [0, 1], [2, 1], "few.2", size=9),
        bars("bars", [0, 1], [1, 1], "muted"),
        line("both", [0, 1], [0, 0], "values.0", mode="lines+markers", marker={"symbol": "square"}),
    ]
    return chart(traces, "x", "y", height=300)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_every_trace_has_the_color_that_it_names(name):
    colors, figure = theme(name), chart_of_every_kind().figure(name)
    a_line, points, columns, both = figure.data
    assert (a_line.line.color, a_line.line.dash) == (colors.accent, "dash")
    assert (points.marker.color, points.marker.size) == (colors.few[2], 9)
    assert columns.marker.color == colors.muted
    assert (both.line.color, both.marker.color, both.marker.symbol) == (colors.values[0],) * 2 + ("square",)
    assert figure.layout.paper_bgcolor == colors.background
    assert (figure.layout.font.color, figure.layout.xaxis.gridcolor) == (colors.text, colors.border)


def test_a_figure_in_another_theme_leaves_the_chart_unchanged():
    given = chart_of_every_kind()
    before = given.figure()
    given.figure("dark")
    assert given.figure() == before


def test_another_theme_is_refused():
    with pytest.raises(NormvizError, match=re.escape("'sepia' is not a theme; choose light or dark.")):
        chart_of_every_kind().figure("sepia")
