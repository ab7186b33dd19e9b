"""What the numbers do: which variance, what eps decides, what cancels, and groups of one."""

from __future__ import annotations

from math import isnan, log
from typing import TYPE_CHECKING

from normviz.analysis.examples import from_values
from normviz.analysis.explanation import describe
from normviz.analysis.forward import largest_difference
from normviz.analysis.rounding.degenerate import single_elements
from normviz.analysis.rounding.eps import by_hand, eps_table, no_eps
from normviz.analysis.rounding.groups import DTYPES, torch_output
from normviz.analysis.rounding.variance import sweep
from normviz.analysis.running.torch_module import torch_words
from normviz.layers.layer import Layer
from normviz.lessons.questions.facts import ROUNDING
from normviz.lessons.questions.outputs import keras_default, normal, output
from normviz.lessons.questions.question import Facts, Question
from normviz.lessons.questions.sources import LAYER_NORM_PAPER, RMS_NORM_PAPER, issue, torch_page
from normviz.lessons.questions.topics import NUMBERS

if TYPE_CHECKING:
    from torch import Tensor


def _torch_var() -> Facts:
    x, many = from_values((0.0, 0.0, 6.0, 6.0), (1, 4)), normal(1, 1024)
    layer, hand, right = output("LayerNorm(4)", x), _by_var(x, 1), _by_var(x, 0)
    ratio = float(hand.abs().max() / layer.abs().max())
    gap = float(hand.abs().max() - layer.abs().max())
    return {
        "default": float(x.var()),
        "biased": float(x.var(correction=0)),
        "hand": float(hand.max()),
        "layer": float(layer.max()),
        "many": many.numel(),
        "many_gap": largest_difference(_by_var(many, 1), output("LayerNorm(1024)", many)),
        "right": "same" if abs(gap) < ROUNDING else "larger" if gap > 0 else "smaller",
        "holds": {
            "with correction=0 both agree": largest_difference(right, layer) < ROUNDING,
            "by hand it is the root of (m - 1) / m of the layer's": abs(ratio - (3 / 4) ** 0.5) < ROUNDING,
            "the more elements, the smaller the gap": 0
            < largest_difference(_by_var(many, 1), output("LayerNorm(1024)", many))
            < largest_difference(hand, layer),
        },
    }


def _by_var(x: Tensor, correction: int) -> Tensor:
    return (x - x.mean()) / (x.var(correction=correction) + 1e-5) ** 0.5


def _one_element() -> Facts:
    found = {d.layer: d for d in single_elements() if d.output is not None}
    layer, rms, group = (found[name] for name in ("LayerNorm(1)", "RMSNorm(1)", "GroupNorm(4, 4)"))
    options = {
        "beta": layer.from_beta,
        "sign": layer.from_sign,
        "same": largest_difference(layer.x, _made(layer.output)),
    }
    return {
        "beta": layer.beta,
        "rms": " and ".join(f"{value:.3g}" for value in sorted(set(_made(rms.output).flatten().tolist()))),
        "noise": group.from_beta,
        "scale": f"{group.x.abs().max():,.0f}",
        "right": min(options, key=lambda key: options[key] or 0.0),
        "holds": {
            "LayerNorm of one element gives beta, whatever x is": layer.from_beta == 0,
            "RMSNorm keeps the sign of x, and nothing else": rms.from_sign == 0,
            "GroupNorm is near beta, in float32 not always at it": (group.from_beta or 0.0) < 0.1,
            "BatchNorm refuses to train": torch_words("BatchNorm1d(3)", normal(1, 3)) != "",
        },
    }


def _made(y: Tensor | None) -> Tensor:
    assert y is not None
    return y


BERT_EPS = 1e-12
SPREAD = 1e-3


def _eps() -> Facts:
    keras, torch_eps = keras_default("epsilon"), float(Layer.make("BatchNorm1d", 1).given["eps"])
    table = {(o.dtype, o.eps): o for o in eps_table(SPREAD, epsilons=(keras, torch_eps, BERT_EPS))}
    sizes = [table["float32", eps].by_torch["BatchNorm1d"] for eps in (keras, torch_eps, BERT_EPS)]
    constant = from_values((2.0, 2.0, 2.0, 2.0), (4,)).to(DTYPES["float16"])
    hand, own = by_hand(constant, BERT_EPS), torch_output("LayerNorm", constant, BERT_EPS)
    options = {"one": 1.0, "third": 0.3, "small": 0.03, "same": SPREAD}
    return {
        "keras": keras,
        "torch": torch_eps,
        "keras_size": sizes[0],
        "torch_size": sizes[1],
        "bert_size": sizes[2],
        "kept": table["float16", BERT_EPS].kept,
        "hand": str(float(hand[0])).replace("nan", "NaN"),
        "own": float(own[0]),
        "right": min(options, key=lambda key: abs(log(options[key] / sizes[0]))),
        "holds": {
            "the size is the root of var / (var + eps)": all(
                abs(size - table["float32", eps].exact) < ROUNDING
                for size, eps in zip(sizes, (keras, torch_eps, BERT_EPS), strict=True)
            ),
            "float16 has no 1e-12": table["float16", BERT_EPS].kept == 0,
            "a constant row by hand in float16 is 0 / 0": isnan(float(hand[0])),
            "torch's own layer computes in float32 and gives 0": float(own[0]) == 0,
        },
    }


def _rms() -> Facts:
    x = from_values((9.0, 10.0, 11.0), (1, 3))
    rms, layer = output("RMSNorm(3)", x), output("LayerNorm(3)", x)
    zero = x - x.mean()
    gap = largest_difference(output("RMSNorm(3, eps=1e-05)", zero), output("LayerNorm(3)", zero))
    parameters = [describe(name, (1, 3)).counts.parameters for name in ("RMSNorm(3)", "LayerNorm(3)")]
    found = {name: no_eps(name) for name in DTYPES}
    eps = {name: one.computing_eps for name, one in found.items()}
    guesses = {"centred": layer, "ones": x / x, "same": x}
    return {
        "rms": _listed(rms),
        "layer": _listed(layer),
        "gap": gap,
        "parameters": parameters[0],
        "layer_parameters": parameters[1],
        "eps": eps["float32"],
        "wide": eps["float64"],
        "right": min(guesses, key=lambda key: largest_difference(guesses[key], rms)),
        "holds": {
            "on numbers of mean zero, with one eps, they agree": gap < ROUNDING,
            "RMSNorm has no beta": describe("RMSNorm(3)", (1, 3)).counts.beta_shape is None,
            "float16 and bfloat16 take float32's eps": eps["float16"] == eps["bfloat16"] == eps["float32"],
            "by torch's own output too": all(abs(one.by_torch - one.with_computing) < 0.01 for one in found.values()),
            "and not the one of their own type": all(found[name].with_own < 0.5 for name in ("float16", "bfloat16")),
        },
    }


def _listed(x: Tensor) -> str:
    return ", ".join(f"{value + 0.0:.3g}" for value in x.flatten().tolist())


DISTANCE, DRAWS = 1e6, 16


def _cancelling() -> Facts:
    """Groups of 256 values of standard deviation 1 around a million, in float32."""
    found = [{e.method: e for e in sweep("float32", (DISTANCE,), seed=seed)} for seed in range(DRAWS)]
    fast = [estimates["one_pass"] for estimates in found]
    worst = max(estimates["LayerNorm"].error for estimates in found)
    error = min(one.error for one in fast)
    return {
        "var": round(fast[0].var),
        "exact": fast[0].exact,
        "draws": DRAWS,
        "negative": sum(one.negative for one in fast),
        "flax": max(estimates["flax"].output_size for estimates in found if estimates["flax"].var == 0),
        "own": found[0]["LayerNorm"].var,
        "right": "right" if error < 1e-3 else "percent" if error < 0.1 else "noise",
        "holds": {
            "some variances are negative": any(one.negative for one in fast),
            "and then the output is NaN": all(one.is_nan for one in fast if one.negative),
            "torch's own layer is within a few percent": worst < 0.1,
            "Flax's default puts zero for a negative variance": all(
                estimates["flax"].var == 0 for one, estimates in zip(fast, found, strict=True) if one.negative
            ),
        },
    }


QUESTIONS = (
    Question(
        "q13",
        NUMBERS,
        _torch_var,
        "step_by_step",
        "shape=1,4&layout=ND&layer=LayerNorm([4])&values=0,0,6,6&step=4&at=0,3",
        (issue("pytorch", 22617), torch_page("LayerNorm"), torch_page("torch.var")),
    ),
    Question(
        "q23",
        NUMBERS,
        _rms,
        "step_by_step",
        "shape=1,3&layout=ND&layer=RMSNorm([3])&values=9,10,11&step=3&at=0,2",
        (issue("pytorch", 155527), torch_page("RMSNorm"), RMS_NORM_PAPER),
    ),
    Question(
        "q22",
        NUMBERS,
        _eps,
        "numerics",
        f"show=eps&spread={SPREAD:g}",
        (issue("transformers", 532), torch_page("LayerNorm")),
    ),
    Question(
        "q24",
        NUMBERS,
        _cancelling,
        "numerics",
        f"show=variance&dtype=float32&distance={DISTANCE:.0f}",
        (issue("pytorch", 51102),),
    ),
    Question(
        "q15",
        NUMBERS,
        _one_element,
        "numerics",
        "show=single&dtype=float32",
        (issue("pytorch", 19250), LAYER_NORM_PAPER),
    ),
)
