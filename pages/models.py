"""In real models: the normalizations of well-known models, in order."""

from normviz.ui.page import show

show("models")
