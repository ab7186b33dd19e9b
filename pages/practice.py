"""Practice: a set of exercises, chosen by a seed, and a summary of the answers."""

from normviz.ui.page import show

show("practice")
