"""Gradients: move one input and see which outputs move; the closed form, term by term; what is summed into gamma and beta."""

from normviz.ui.page import page

page("gradients")
