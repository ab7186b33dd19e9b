"""Figures: pure functions from values to what Plotly draws. No Streamlit, no state, no global template."""

from normviz.figures.cube import Cube
from normviz.figures.palette import THEMES, Theme, theme
from normviz.figures.panels import Panel, sharing_panels, value_panels
from normviz.figures.picture import Marked, explanation_figure, heatmap, picture
from normviz.figures.themed import themed

__all__ = [
    "THEMES",
    "Cube",
    "Marked",
    "Panel",
    "Theme",
    "explanation_figure",
    "heatmap",
    "picture",
    "sharing_panels",
    "theme",
    "themed",
    "value_panels",
]
