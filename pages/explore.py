"""Explore: one layer on one tensor. Which elements share statistics and parameters, how many parameters there are, and the values."""

from normviz.ui.page import show

show("explore")
