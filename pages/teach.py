"""For teachers: projecting, tours, sets of exercises, embedding, and answer sheets."""

from normviz.ui.page import show

show("teach")
