"""The topics of the questions: an identifier and a heading for each, in the order of the list."""

from __future__ import annotations

from normviz.layers.messages import N_, _

STATISTICS = "statistics"
PARAMETERS = "parameters"
DEPENDENCE = "dependence"
SHAPES = "shapes"
TRAIN_AND_EVAL = "train_and_eval"
RUNNING_STATISTICS = "running_statistics"
SMALL_BATCHES = "small_batches"
NUMBERS = "numbers"
CODE = "code"
FRAMEWORKS = "frameworks"

HEADINGS = {
    STATISTICS: N_("Shared means and variances"),
    PARAMETERS: N_("Gamma and beta"),
    DEPENDENCE: N_("What an output depends on"),
    SHAPES: N_("Axes and shapes"),
    TRAIN_AND_EVAL: N_("Train and eval"),
    RUNNING_STATISTICS: N_("Running statistics"),
    SMALL_BATCHES: N_("Small batches and several devices"),
    NUMBERS: N_("Numbers and rounding"),
    CODE: N_("Layers written by hand"),
    FRAMEWORKS: N_("Other frameworks"),
}


def heading(topic: str) -> str:
    """The heading of a topic.

    >>> heading("shapes")
    'Axes and shapes'
    """
    return _(HEADINGS[topic])
