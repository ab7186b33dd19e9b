"""Explore: one layer on one tensor. Who shares what, how many parameters that makes, and with which numbers."""

from normviz.ui.page import page

page("explore")
