"""Gradients: move one input and see which outputs move; the closed form term by term; the sums in the gradients of gamma and beta."""

from normviz.ui.page import show

show("gradients")
