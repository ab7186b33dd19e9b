"""The pages with figures, by name. The page of questions shows views of them."""

from __future__ import annotations

from normviz.lessons import compare as compare
from normviz.lessons import explore, step_by_step
from normviz.lessons import gradients as gradients
from normviz.lessons import numerics as numerics
from normviz.lessons import train_and_eval as train_and_eval
from normviz.lessons.compare import READY_SETS
from normviz.lessons.page_type import PageType
from normviz.scene.page_settings import PAGE_SETTINGS
from normviz.texts.messages import N_

FIGURE_PAGES: dict[str, PageType] = {
    "explore": PageType(
        N_("Explore"),
        N_("Which elements of a tensor share a mean and a variance, and which share gamma and beta."),
        PAGE_SETTINGS["explore"],
        explore.view_parts,
    ),
    "compare": PageType(
        N_("Compare"),
        N_("Several layers on one tensor, element by element."),
        PAGE_SETTINGS["compare"],
        compare.view_parts,
        compare.problem,
        start=READY_SETS["four"].query,
    ),
    "step_by_step": PageType(
        N_("Step by step"),
        N_("The forward pass from x to the output, with the numbers of one element."),
        PAGE_SETTINGS["step_by_step"],
        step_by_step.view_parts,
    ),
    "train_and_eval": PageType(
        N_("Train and eval"),
        N_("What BatchNorm stores from batch to batch, what that changes, and where it fails."),
        PAGE_SETTINGS["train_and_eval"],
        train_and_eval.view_parts,
        whole_in_answer=True,
    ),
    "gradients": PageType(
        N_("Gradients"),
        N_("Which outputs move when one input moves, and what the backward pass sums."),
        PAGE_SETTINGS["gradients"],
        gradients.view_parts,
        whole_in_answer=True,
    ),
    "numerics": PageType(
        N_("Numerics"),
        N_("What rounding does to a mean, a variance and eps."),
        PAGE_SETTINGS["numerics"],
        numerics.view_parts,
        whole_in_answer=True,
    ),
}
