"""Step by step: the forward pass from x to output, one step at a time, with the numbers of one element."""

from normviz.ui.page import show

show("step_by_step")
