"""The source of the CS231n functions, and how closely they agree with torch."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from types import MappingProxyType

from normviz.analysis.description import describe
from normviz.analysis.examples import example, from_array, parameters
from normviz.analysis.forward import Values, largest_difference, run_module
from normviz.analysis.gradients.closed_form import autograd_backward, upstream
from normviz.code import cs231n

SHAPE = (4, 6)
PAIRS = {
    "layernorm": (cs231n.layernorm_forward, cs231n.layernorm_backward),
    "batchnorm": (cs231n.batchnorm_forward, cs231n.batchnorm_backward),
}


@cache
def source(name: str = "layernorm") -> str:
    """The source of the forward and backward functions of "layernorm" or "batchnorm", with the two helpers that compute."""
    forward, backward = PAIRS[name]
    return "\n\n".join(inspect.getsource(part) for part in (forward, cs231n._normalize, backward, cs231n._backward))


@lru_cache(maxsize=16)
def largest_differences(seed: int = 0) -> Mapping[str, float]:
    """Largest differences from torch's LayerNorm, forward and backward, on a (4, 6) example in float64."""
    x = example("normal", SHAPE, ("n", "d"), seed).double()
    gamma, beta = (number.double() for number in parameters("random", SHAPE[1:], seed))
    dout = upstream(SHAPE, seed)
    out, cache = cs231n.layernorm_forward(x.numpy(), gamma.numpy(), beta.numpy(), {"eps": 1e-5})
    dx, dgamma, dbeta = cs231n.layernorm_backward(dout.numpy(), cache)
    e = replace(describe(f"LayerNorm({SHAPE[1]})", x), values=Values(gamma, beta))
    assert e.layer is not None
    expected = vars(autograd_backward(e, dout)) | {"out": run_module(e.layer, x, e.layer_values())}
    found = {"out": out, "dx": dx, "dgamma": dgamma, "dbeta": dbeta}
    return MappingProxyType(
        {name: largest_difference(from_array(value), expected[name]) for name, value in found.items()}
    )
