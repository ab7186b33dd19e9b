"""The front page: one figure, the field for a layer or an error, and the pages in their groups."""

from normviz.ui.page import show

show("home")
