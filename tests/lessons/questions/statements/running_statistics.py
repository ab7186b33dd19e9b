"""What the answers on running statistics state."""

from __future__ import annotations

import numpy as np
import pytest

from normviz.analysis.description import describe
from normviz.analysis.running.momentum import half_life, other_momentum, two_forms
from normviz.analysis.running.stream import START_MEAN, START_VAR, Stream, run, settle
from normviz.analysis.running.torch_module import buffers
from normviz.lessons.questions.facts import keras_default, module_of
from normviz.lessons.questions.topics.running_statistics import STEPPED, WEIGHTED
from tests.lessons.questions.statements.measure import Statements, facts


def s2a() -> Statements:
    module, history = module_of("BatchNorm1d(1)"), run(Stream(batch_size=64))
    close_distances = (history.true_mean - history.expected_mean) / (history.true_mean - START_MEAN)
    return {
        "eval mode uses the running statistics": describe("BatchNorm1d(1).eval()", (2, 1)).norm.running,
        "they are saved with the weights": {"running_mean", "running_var"} <= set(module.state_dict()),
        "the running mean starts there": module.get_buffer("running_mean").item() == START_MEAN,
        "the running variance starts there": module.get_buffer("running_var").item() == START_VAR,
        "LayerNorm has no buffers": buffers("LayerNorm(6)") == {},
        "with momentum=1 one batch is enough": settle(Stream(batch_size=64, momentum=1.0)).expected_mean_steps == 1,
        "with Keras's default it takes hundreds": settle(
            Stream(batch_size=64, momentum=other_momentum(keras_default("momentum")), steps=500)
        ).expected_mean_steps
        > 100,
        "the weight of an old value halves much sooner": half_life(0.1) < facts("s2a")["steps"],
        "each batch leaves 0.9 of the distance": close_distances == pytest.approx(0.9 ** np.arange(1, 61)),
    }


def q12() -> Statements:
    history = run(Stream(batch_size=4))
    return {
        "an average of biased variances is lower by (m - 1) / m in the long run": history.running_var[-1]
        / history.running_var_biased[-1]
        == pytest.approx(4 / 3, rel=0.01)
    }


def s3l() -> Statements:
    f, history = facts("s3l"), run(Stream(batch_size=8))
    average = two_forms(history.batch_mean, f["momentum"], dtype="float64").weighted[-1]
    numbers = {"moving": 2.0, "batch": 3.0, "momentum": 0.75, "rest": 0.25}
    return {
        "both forms give the same": eval(WEIGHTED, numbers.copy()) == eval(STEPPED, numbers.copy()) == 2.25,
        "the second form has one addition more": STEPPED.count("-") == WEIGHTED.count("+") + 1,
        "the average is torch's own running mean": average == pytest.approx(history.running_mean[-1], abs=1e-12),
    }
