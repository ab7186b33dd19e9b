"""The pages with figures, by name. The page of questions shows views of them."""

from __future__ import annotations

from normviz.layers.messages import N_
from normviz.lessons import explore, step_by_step
from normviz.lessons.compare import page as compare
from normviz.lessons.gradients import page as gradients
from normviz.lessons.numerics import page as numerics
from normviz.lessons.page.page_type import PageType
from normviz.lessons.train_and_eval import page as train_and_eval
from normviz.scene.settings.page_settings import PAGE_SETTINGS

FIGURE_PAGES: dict[str, PageType] = {
    "explore": PageType(N_("Explore"), PAGE_SETTINGS["explore"], explore.view_parts),
    "compare": PageType(N_("Compare"), PAGE_SETTINGS["compare"], compare.view_parts, compare.problem),
    "step_by_step": PageType(N_("Step by step"), PAGE_SETTINGS["step_by_step"], step_by_step.view_parts),
    "train_and_eval": PageType(
        N_("Train and eval"), PAGE_SETTINGS["train_and_eval"], train_and_eval.view_parts, whole_in_answer=True
    ),
    "gradients": PageType(N_("Gradients"), PAGE_SETTINGS["gradients"], gradients.view_parts, whole_in_answer=True),
    "numerics": PageType(N_("Numerics"), PAGE_SETTINGS["numerics"], numerics.view_parts, whole_in_answer=True),
}
