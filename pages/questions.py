"""Questions: what people really ask. Predict, then see torch's own numbers and the view that settles it."""

from normviz.scene.settings.page_settings import PAGE_SETTINGS
from normviz.ui.controls.questions import listing, one
from normviz.ui.share.panel import share
from normviz.ui.state import current
from normviz.ui.text import show_problem

view = current(PAGE_SETTINGS["questions"])
show_problem(view.problem)
if view.settings["q"]:
    one(view)
else:
    listing(view)
share("questions", view, PAGE_SETTINGS["questions"])
