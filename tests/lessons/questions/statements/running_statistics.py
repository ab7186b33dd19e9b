"""What the answers on running statistics state."""

from __future__ import annotations

import pytest

from normviz.analysis.description import describe
from normviz.analysis.running.momentum import WEIGHTED_VALUE, half_life, to_torch, two_forms
from normviz.analysis.running.stream import START_MEAN, START_VAR, Stream, run
from normviz.analysis.running.torch_module import buffers
from normviz.lessons.questions.bank.running_statistics import STEPPED, WEIGHTED
from normviz.lessons.questions.facts import ROUNDING, module_of
from tests.lessons.questions.statements.measure import Statements, facts


def s2a() -> Statements:
    module = module_of("BatchNorm1d(1)")
    return {
        "eval mode uses the running statistics": describe("BatchNorm1d(1).eval()", (2, 1)).norm.running,
        "they are saved with the weights": {"running_mean", "running_var"} <= set(module.state_dict()),
        "the running mean starts there": module.get_buffer("running_mean").item() == START_MEAN,
        "the running variance starts there": module.get_buffer("running_var").item() == START_VAR,
        "LayerNorm has no buffers": buffers("LayerNorm(6)") == (),
        "the weight of an old value halves much sooner": half_life(0.1) < facts("s2a")["steps"],
    }


def s3p() -> Statements:
    stream, f = Stream(batch_size=4), facts("s3p")
    history, x = run(stream), stream.batches()[0][:, None]
    y = module_of("BatchNorm1d(1)", x.dtype)(x).detach()
    return {
        "the output is normalized with the biased variance": float(y.var(correction=0))
        == pytest.approx(f["biased"] / (f["biased"] + 1e-5), abs=1e-9),
        "an average of biased variances is lower": history.running_var_biased[-1] < history.running_var[-1],
        "in the long run it is lower by m / (m - 1)": history.expected_var[-1] / history.expected_var_biased[-1]
        == pytest.approx(4 / 3, rel=0.01),
    }


def q12() -> Statements:
    f = facts("q12")
    return {
        "the output is divided by the root of the biased variance": f["train"]
        == pytest.approx(3 / f["biased"] ** 0.5, abs=ROUNDING),
        "running_var is m / (m - 1) times the biased variance": f["unbiased"] == f["biased"] * 4 / 3,
        "eval mode gives less for the same batch": f["eval"] < f["train"],
    }


def s3n() -> Statements:
    return {
        "Keras's momentum is the weight of the old value": WEIGHTED_VALUE["keras"] == "old",
        "torch's momentum is the weight of the new value": WEIGHTED_VALUE["torch"] == "new",
        "0.9 in Keras is 0.1 in torch": to_torch(0.9) == 0.1,
        "both forget as fast": half_life(0.9, "keras") == pytest.approx(half_life(0.1, "torch"), abs=1e-9),
    }


def s3o() -> Statements:
    f = facts("s3o")
    return {
        "torch's module has this default": module_of("BatchNorm1d(1)").momentum == f["torch"],
        "converted, both forget as fast": half_life(f["keras"], "keras") == pytest.approx(half_life(f["converted"])),
        "not converted, one batch replaces almost everything": half_life(f["keras"]) < 1,
    }


def s3l() -> Statements:
    f, history = facts("s3l"), run(Stream(batch_size=8))
    average = two_forms(history.batch_mean, f["momentum"], dtype="float64").weighted[-1]
    return {
        "the rest is rounding": f["double"] < 1e-14 < f["single"] < 1e-5,
        "the average is torch's own running mean": average == pytest.approx(history.running_mean[-1], abs=1e-12),
    }


def s3m() -> Statements:
    numbers = {"moving": 2.0, "batch": 3.0, "momentum": 0.75, "rest": 0.25}
    return {
        "both forms give the same": eval(WEIGHTED, numbers.copy()) == eval(STEPPED, numbers.copy()) == 2.25,
        "the second form has one addition more": STEPPED.count("-") == WEIGHTED.count("+") + 1,
    }
