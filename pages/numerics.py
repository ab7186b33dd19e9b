"""Numerics: what rounding does to a mean, a variance and an eps."""

from normviz.ui.page import show

show("numerics")
