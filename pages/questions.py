"""Questions that learners ask: predict the answer, then see torch's own numbers and the view that shows it."""

from normviz.scene.settings.page_settings import PAGE_SETTINGS
from normviz.ui.controls.questions import show_list, show_question
from normviz.ui.share.panel import share
from normviz.ui.state import current
from normviz.ui.text import show_problem

view = current(PAGE_SETTINGS["questions"])
show_problem(view.problem)
if view.settings["q"]:
    show_question(view)
else:
    show_list(view)
share("questions", view, PAGE_SETTINGS["questions"])
