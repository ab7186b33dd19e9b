"""Questions on numbers: which variance, what eps decides, rounding, cancellation, and groups of one element."""

from math import log

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from normviz.analysis import closed_form, description, examples, rounding
from normviz.analysis.forward import largest_difference
from normviz.code.cs231n import layernorm_backward, layernorm_forward
from normviz.layers.layer import Layer
from normviz.lessons.questions import facts
from normviz.texts.messages import format_count


def variance_with_eps() -> facts.Facts:
    x = facts.x_of("s2g").double()
    y, var = facts.output("LayerNorm(4)", x), x.var(1, correction=0)
    small, large = y.var(1, correction=0).tolist()
    return {
        "eps": description.describe("LayerNorm(4)", x).norm.eps,
        "var": float(var[0]),
        "small": small,
        "large_var": float(var[1]),
        "large": large,
        "right": facts.only(one=abs(small - 1) < 1e-3, below=small < 0.999, above=small > 1.001),
    }


def one_far_value() -> facts.Facts:
    x = facts.x_of("q36").double()
    y = facts.output("LayerNorm(17)", x)
    largest = round(float(y.max()), 3)
    return {"largest": largest, "before": facts.skewness(x), "after": facts.skewness(y), "right": largest}


BERT_EPS = 1e-12
SPREAD = 1e-3


def size_of_eps() -> facts.Facts:
    keras, torch_eps = facts.keras_default("epsilon"), float(Layer.make("BatchNorm1d", 1).given["eps"])
    table = {(o.dtype, o.eps): o for o in rounding.eps_table(SPREAD, epsilons=(keras, torch_eps, BERT_EPS))}
    sizes = [table["float32", eps].by_torch["BatchNorm1d"] for eps in (keras, torch_eps, BERT_EPS)]
    constant = examples.from_values((2.0, 2.0, 2.0, 2.0), (4,)).to(rounding.DTYPES["float16"])
    hand, own = rounding.by_hand(constant, BERT_EPS), rounding.torch_output("LayerNorm", constant, BERT_EPS)
    channel = rounding.torch_output("BatchNorm1d", constant, BERT_EPS)
    sizes_of_options = {"one": 1.0, "third": 0.3, "small": 0.03, "same": SPREAD}
    nearest = min(sizes_of_options, key=lambda key: abs(log(sizes_of_options[key] / sizes[0])))
    return {
        "bare": float(facts.output("LayerNorm(4, eps=0.0)", constant.float()[None])[0, 0]),
        "keras": keras,
        "torch": torch_eps,
        "keras_size": sizes[0],
        "torch_size": sizes[1],
        "bert_size": sizes[2],
        "kept": table["float16", BERT_EPS].rounded,
        "hand": str(float(hand[0])).replace("nan", "NaN"),
        "own": float(own[0]),
        "batch": str(float(channel[0])).replace("nan", "NaN"),
        "right": facts.only(**{key: key == nearest for key in sizes_of_options}),
    }


def normalize_by_hand(x: Tensor, correction: int) -> Tensor:
    return (x - x.mean()) / (x.var(correction=correction) + 1e-5) ** 0.5


def torch_var() -> facts.Facts:
    x, many = examples.from_values((0.0, 0.0, 6.0, 6.0), (1, 4)), facts.normal(1, 1024)
    layer, hand = facts.output("LayerNorm(4)", x), normalize_by_hand(x, 1)
    difference = float(hand.abs().max() - layer.abs().max())
    return {
        "default": float(x.var()),
        "biased": float(x.var(correction=0)),
        "hand": float(hand.max()),
        "layer": float(layer.max()),
        "many": many.numel(),
        "many_gap": largest_difference(normalize_by_hand(many, 1), facts.output("LayerNorm(1024)", many)),
        "right": "same" if abs(difference) < facts.ROUNDING else "larger" if difference > 0 else "smaller",
    }


FAR = 10_000  # in float32, the squares of numbers this far from zero are rounded to multiples of 8


def squared_mean() -> facts.Facts:
    x = facts.x_of("s2o")
    squares = float(x.square().mean())
    far = x.float() + FAR
    return {
        "squares": squares,
        "squared": float(x.mean()) ** 2,
        "var": float(x.var(correction=0)),
        "low": float(far[0, 0]),
        "high": float(far[0, 1]),
        "far": float(far.square().mean() - far.mean() ** 2),
        "right": squares,
    }


DISTANCE, DRAWS = 1e6, 16
FLAX_EPS = 1e-6  # default of flax.linen.LayerNorm and GroupNorm; BatchNorm's is 1e-5


def cancellation() -> facts.Facts:
    """Groups of 256 values of standard deviation 1 around a million, in float32."""
    found = [
        {e.method: e for e in rounding.sweep("float32", (DISTANCE,), seed=seed, eps=FLAX_EPS)} for seed in range(DRAWS)
    ]
    fast = [estimates["one_pass"] for estimates in found]
    error = min(one.error for one in fast)
    return {
        "var": round(fast[0].var),
        "exact": fast[0].exact,
        "draws": DRAWS,
        "negative": sum(one.negative for one in fast),
        "flax_eps": FLAX_EPS,
        "flax": round(max(estimates["flax"].output_size for estimates in found if estimates["flax"].var == 0)),
        "own": found[0]["LayerNorm"].var,
        "right": facts.only(right=error < 1e-3, percent=1e-3 <= error < 0.1, noise=error >= 0.1),
    }


def format_elements(x: Tensor) -> str:
    return ", ".join(f"{value + 0.0:.3g}" for value in x.flatten().tolist())


def rms_norm() -> facts.Facts:
    x = facts.x_of("q23")
    rms, layer = facts.output("RMSNorm(3)", x), facts.output("LayerNorm(3)", x)
    centered = x - x.mean()
    options = {"centred": layer, "ones": x / x, "same": x}
    return {
        "rms": format_elements(rms),
        "layer": format_elements(layer),
        "gap": largest_difference(
            facts.output("RMSNorm(3, eps=1e-05)", centered), facts.output("LayerNorm(3)", centered)
        ),
        "eps": rounding.no_eps("float32").eps,
        "half": rounding.no_eps("float16").eps,
        "brain": rounding.no_eps("bfloat16").eps,
        "wide": rounding.no_eps("float64").eps,
        "right": min(options, key=lambda key: largest_difference(options[key], rms)),
    }


def one_element() -> facts.Facts:
    found = {d.layer: d for d in rounding.single_elements() if d.output is not None}
    layer, rms, group = (found[name] for name in ("LayerNorm(1)", "RMSNorm(1)", "GroupNorm(4, 4)"))
    assert layer.output is not None
    assert rms.output is not None
    options = {"beta": layer.from_beta, "sign": layer.from_sign, "same": largest_difference(layer.x, layer.output)}
    return {
        "beta": layer.beta,
        "negative": float(rms.output.min()),
        "positive": float(rms.output.max()),
        "noise": group.from_beta,
        "scale": format_count(round(float(group.x.abs().max()))),
        "right": min(options, key=lambda key: options[key] or 0.0),
    }


def order_of_casting() -> facts.Facts:
    """The normalized values cast to bfloat16 before or after they are multiplied by gamma, both also bfloat16."""
    half, eps = torch.bfloat16, 1e-6
    x, gamma = facts.normal(64, 64).to(half), (1 + facts.normal(64, seed=1) / 2).to(half)
    normalized = x.float() * torch.rsqrt(x.float().square().mean(1, keepdim=True) + eps)
    twice, once = normalized.to(half) * gamma, (normalized * gamma.float()).to(half)
    own, exact = F.rms_norm(x, (64,), gamma, eps), normalized.double() * gamma.double()
    steps = (twice.view(torch.int16).int() - once.view(torch.int16).int()).abs()
    differ, most = int((steps > 0).sum()), int(steps.max())
    return {
        "differ": differ,
        "elements": x.numel(),
        "steps": most,
        "twice": float((twice.double() - exact).abs().mean()),
        "once": float((once.double() - exact).abs().mean()),
        "own": int((own != once).sum()),
        "ones": int(((normalized * 1).to(half) != normalized.to(half) * 1).sum()),
        "right": facts.only(none=differ == 0, some=0 < differ < x.numel() and most == 1, all=differ == x.numel()),
    }


def backward_sums() -> facts.Facts:
    x, dout = facts.normal(4, 6).double(), closed_form.upstream((4, 6))
    gamma = 1 + facts.normal(6, seed=1).double().numpy() / 2
    _, cache = layernorm_forward(x.numpy(), gamma, np.zeros(6), {"eps": 1e-5})
    summed = int(closed_form.parameter_sum(description.describe("LayerNorm(6)", x), (1, 4), dout).elements.sum())
    module = facts.module_of("LayerNorm(6)", x.dtype)
    module.get_parameter("weight").data.copy_(x.new_tensor(gamma))
    gradients = layernorm_backward(dout.numpy(), cache)
    autograd = closed_form.autograd_backward(description.describe(module, x), dout)
    wanted = (autograd.dx, autograd.dgamma, autograd.dbeta)
    difference = max(
        largest_difference(x.new_tensor(one), other)
        for one, other in zip(gradients, wanted, strict=True)
        if other is not None
    )
    return {"summed": summed, "gap": difference, "right": summed}
