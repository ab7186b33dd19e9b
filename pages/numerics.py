"""Numerics: what rounding does to a mean, a variance and an eps."""

from normviz.ui.page import page

page("numerics", notes=False)
