"""Questions of the fourth document: inference, and the moving averages of mean and variance."""

from __future__ import annotations

from functools import cache
from math import prod

from normviz.analysis.explanation import describe
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.modes import TrainAndEval, one_example
from normviz.analysis.running.momentum import forgetting, half_life, to_keras, to_torch, two_forms, weights
from normviz.analysis.running.stream import Run, Stream, run
from normviz.analysis.running.torch_module import torch_words
from normviz.code.frameworks import KERAS_LAYERS
from normviz.layers.layer import Layer
from normviz.lessons.questions.documents import ARTICLE
from normviz.lessons.questions.facts import module_of, only, scene_of
from normviz.lessons.questions.outputs import normal
from normviz.lessons.questions.question import Facts, Question
from normviz.lessons.questions.topics import LIMITS, TRAINING
from normviz.lessons.train_and_eval import experiments

ASKED = (ARTICLE,)
ONE_AT_A_TIME = "show=modes&shape=4,3,2,2&layer=BatchNorm2d(3)&at=0,1,0,1"


def _one_example() -> Facts:
    x = normal(4, 3, 2, 2)
    single, bare = (torch_words("BatchNorm2d(3).eval()", one) for one in (x[:1], x[0]))
    alone = one_example("BatchNorm2d(3)", x)
    taken = {"single": single == "", "bare": bare == ""}
    return {
        "words": bare.split(" (")[0],
        "eval_gap": alone.eval.difference,
        "train_gap": alone.train.difference,
        "right": only(
            both=all(taken.values()),
            single=taken == {"single": True, "bare": False},
            bare=taken == {"single": False, "bare": True},
            none=not any(taken.values()),
        ),
        "holds": {
            "in eval it is what it was among others": alone.eval.difference == 0,
            "in training it is not": alone.train.difference is not None and alone.train.difference > 0.1,
            "LayerNorm takes one without a batch axis": torch_words("LayerNorm([3, 2, 2])", x[0]) == "",
        },
    }


@cache
def _modes() -> TrainAndEval:
    return experiments.modes(scene_of("shape=6,3&layer=BatchNorm1d(3)").explanation, 0)


def _when_used() -> Facts:
    x, gaps = normal(6, 3), {}
    for mode in (True, False):
        ours, theirs = (module_of("BatchNorm1d(3)").train(mode) for _ in range(2))
        theirs.get_buffer("running_mean").fill_(5)
        gaps[mode] = largest_difference(ours(x).detach(), theirs(x).detach())
    found = _modes()
    return {
        "train_gap": gaps[True],
        "eval_gap": gaps[False],
        "changed": found.buffers_changed,
        "kept": len(found.changed_by_eval),
        "right": only(
            both=gaps[True] > 0 and gaps[False] > 0,
            train=gaps[True] > 0 and gaps[False] == 0,
            eval=gaps[True] == 0 and gaps[False] > 0,
            neither=gaps[True] == gaps[False] == 0,
        ),
        "holds": {
            "training does not read them": gaps[True] == 0,
            "eval does": gaps[False] > 1,
            "training writes them": {"running_mean", "running_var"} <= set(found.changed_by_train),
            "eval does not": found.changed_by_eval == (),
        },
    }


@cache
def _run(batch_size: int = 8) -> Run:
    return run(Stream(batch_size=batch_size))


def _two_forms() -> Facts:
    means, old = _run().batch_mean, to_keras(0.1)
    single, double = (two_forms(means, old, dtype=dtype) for dtype in ("float32", "float64"))
    apart = single.largest_difference
    return {
        "steps": len(means),
        "momentum": old,
        "single": apart,
        "double": double.largest_difference,
        "right": only(
            same=apart < 1e-5,
            sooner=apart >= 1e-5 and single.stepped[-1] > single.weighted[-1],
            later=apart >= 1e-5 and single.stepped[-1] < single.weighted[-1],
        ),
        "holds": {
            "what is left is rounding": double.largest_difference < 1e-14 < apart < 1e-5,
            "and it is torch's own running mean": bool(abs(double.weighted[-1] - _run().running_mean[-1]) < 1e-12),
        },
    }


class Counting(float):
    """A number that counts what is done to it."""

    done: dict[str, int]

    def _did(self, name: str, value: float) -> Counting:
        self.done[name] = self.done.get(name, 0) + 1
        made = Counting(value)
        made.done = self.done
        return made

    def __mul__(self, other: float) -> Counting:
        return self._did("times", float(self) * other)

    def __add__(self, other: float) -> Counting:
        return self._did("plus", float(self) + other)

    def __sub__(self, other: float) -> Counting:
        return self._did("plus", float(self) - other)


def _work(weighted: bool) -> dict[str, int]:
    """Multiplications and additions of one update; ``1 - momentum`` is known."""
    kept, new, old_weight, new_weight = Counting(2.0), Counting(3.0), 0.75, 0.25
    kept.done = new.done = {}
    after = kept * old_weight + new * new_weight if weighted else kept - (kept - new) * new_weight
    assert float(after) == 2.25
    return kept.done


def _cheaper() -> Facts:
    first, second = _work(True), _work(False)
    shape = (8, 64, 14, 14)
    e = describe("BatchNorm2d(64)", shape)
    return {
        "first": first["times"],
        "second": second["times"],
        "updates": 2 * e.counts.statistics,
        "elements": prod(shape),
        "right": second["times"],
        "holds": {
            "one less": second["times"] == first["times"] - 1,
            "but one more addition": second["plus"] == first["plus"] + 1,
            "few, beside what is normalized": 2 * e.counts.statistics < prod(shape) / 500,
        },
    }


def _forgetting() -> Facts:
    low, high = 0.1, 0.9
    found = {name: forgetting(name) for name in ("keras", "torch")}
    sooner = {name: one.lower_forgets_sooner for name, one in found.items()}
    return {
        "low": low,
        "high": high,
        "old_low": half_life(low, "keras"),
        "old_high": half_life(high, "keras"),
        "new_low": half_life(low, "torch"),
        "new_high": half_life(high, "torch"),
        "right": only(
            both=all(sooner.values()),
            old=sooner == {"keras": True, "torch": False},
            new=sooner == {"keras": False, "torch": True},
            neither=not any(sooner.values()),
        ),
        "holds": {
            "Keras weighs the old value": found["keras"].weighs == "old",
            "torch the new one": found["torch"].weighs == "new",
            "0.9 there is 0.1 here": to_torch(high) == low
            and abs(half_life(high, "keras") - half_life(low, "torch")) < 1e-9,
        },
    }


def _close_to_one() -> Facts:
    keras = next(layer.defaults["momentum"] for layer in KERAS_LAYERS.layers if layer.running)
    found = Layer.parse("BatchNorm1d(1)")
    assert isinstance(found, Layer)
    torchs = found.given["momentum"]
    return {
        "keras": keras,
        "converted": to_torch(keras),
        "torch": torchs,
        "in_keras": to_keras(torchs),
        "left": 1 - float(weights(keras, 1)[0]),
        "right": to_torch(keras),
        "holds": {
            "torch's module has that default": module_of("BatchNorm1d(1)").momentum == torchs,
            "converted, both forget as fast": abs(half_life(keras, "keras") - half_life(to_torch(keras))) < 1e-9,
            "unconverted, one batch replaces almost all": half_life(keras) < 1,
        },
    }


def _which_variance() -> Facts:
    found, m = _run(4), 4
    biased, unbiased = float(found.batch_var[0]), float(found.batch_var_unbiased[0])
    x = Stream(batch_size=m).batches()[0][:, None]
    module = module_of("BatchNorm1d(1, momentum=1.0)", x.dtype)
    output = module(x).detach()
    kept = float(module.get_buffer("running_var"))
    size = float(output.var(correction=0))
    return {
        "m": m,
        "biased": biased,
        "kept": kept,
        "ratio": unbiased / biased,
        "right": only(
            biased=abs(kept - biased) < 1e-9,
            unbiased=abs(kept - unbiased) < 1e-9,
            std=abs(kept - biased**0.5) < 1e-9,
        ),
        "holds": {
            "the output is normalized by the biased one": abs(size - biased / (biased + 1e-5)) < 1e-9,
            "the ratio is m over m - 1": abs(unbiased / biased - m / (m - 1)) < 1e-9,
            "fed with the biased one the average is lower": bool(found.running_var_biased[-1] < found.running_var[-1]),
            "it is the unbiased one": abs(kept - unbiased) < 1e-9,
            "in the long run lower by that ratio": bool(
                abs(found.expected_var[-1] / found.expected_var_biased[-1] / (m / (m - 1)) - 1) < 0.01
            ),
        },
    }


QUESTIONS = (
    Question("s3j", LIMITS, _one_example, "train_and_eval", ONE_AT_A_TIME, ASKED),
    Question("s3k", TRAINING, _when_used, "train_and_eval", "show=modes&shape=6,3&layer=BatchNorm1d(3)&at=2,1", ASKED),
    Question("s3l", TRAINING, _two_forms, "train_and_eval", "show=stream", ASKED),
    Question("s3m", TRAINING, _cheaper, "explore", "shape=8,64,14,14&layer=BatchNorm2d(64)", ASKED),
    Question("s3n", TRAINING, _forgetting, "train_and_eval", "show=stream&momentum=0.9", ASKED),
    Question("s3o", TRAINING, _close_to_one, "train_and_eval", "show=stream&momentum=0.01&steps=200", ASKED),
    Question("s3p", TRAINING, _which_variance, "train_and_eval", "show=stream&batch_size=4", ASKED),
)
