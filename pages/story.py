"""Why five layers?: an article with live figures."""

from normviz.ui.page import show

show("story")
