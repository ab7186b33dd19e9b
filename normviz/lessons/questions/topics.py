"""The topics of the questions, in the order of the list."""

from __future__ import annotations

from normviz.layers.messages import N_
from normviz.lessons.questions.question import Topic

STATISTICS = Topic("statistics", N_("Shared means and variances"))
PARAMETERS = Topic("parameters", N_("Gamma and beta"))
DEPENDENCE = Topic("dependence", N_("What an output depends on"))
SHAPES = Topic("shapes", N_("Axes and shapes"))
TRAIN_AND_EVAL = Topic("train_and_eval", N_("Train and eval"))
RUNNING_STATISTICS = Topic("running_statistics", N_("Running statistics"))
SMALL_BATCHES = Topic("small_batches", N_("Small batches and several devices"))
NUMBERS = Topic("numbers", N_("Numbers and rounding"))
CODE = Topic("code", N_("Layers written by hand"))
FRAMEWORKS = Topic("frameworks", N_("Other frameworks"))
BUGS = Topic("bugs", N_("Bugs in real models"))
