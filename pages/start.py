"""Start here: short steps for a reader who knows only that BatchNorm normalizes."""

from normviz.ui.page import show

show("start")
