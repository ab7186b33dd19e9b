"""Compare: two to six layers on one tensor. Point at an element and see its peers under every layer at once."""

from normviz.ui.page import show

show("compare")
