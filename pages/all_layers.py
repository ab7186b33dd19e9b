"""All layers: a map of every layer that there can be on one tensor, by the axes of its mean and of its gamma."""

from normviz.ui.page import show

show("all_layers")
