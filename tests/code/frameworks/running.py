"""Keras's and Flax's programs, run by the real packages and held against the trace."""

from __future__ import annotations

import importlib
import warnings
from dataclasses import replace
from functools import reduce

import numpy as np
import torch
from hypothesis import settings

from normviz.analysis.explanation import Explanation, describe
from normviz.analysis.forward import Values, broadcast
from normviz.code.axis_numbers import Placement
from normviz.code.framework_names import FRAMEWORK_FLAVORS
from normviz.code.frameworks import FLAX_LAYERS, KERAS_LAYERS
from normviz.code.generate import code
from tests.strategies import random_tensor

FRAMEWORKS = dict(zip(FRAMEWORK_FLAVORS, (KERAS_LAYERS, FLAX_LAYERS), strict=True))
FEW = settings(max_examples=settings().max_examples // 8)  # jax compiles each operation for each shape


def the_class(name, packages):
    first, *rest = name.split(".")
    return reduce(getattr, rest, packages[first])


def with_random_values(layer, shape, offset=0.0) -> Explanation:
    """The layer on random float32 numbers, with random gamma, beta and running statistics."""
    e = describe(layer, random_tensor(shape, 1, torch.float32, offset))
    sizes = e.norm.axis_sizes(shape)
    kept = tuple(sizes[name] for name in e.norm.pattern.right) if e.norm.running else None
    shapes = (e.counts.gamma_shape, e.counts.beta_shape, kept, kept)
    values = [None if s is None else random_tensor(s, seed, torch.float32) for seed, s in enumerate(shapes, 2)]
    if kept is not None:
        values[3] = values[3].square() + 0.1
    return replace(e, values=Values(*values))


def ran(text):
    names = {"__name__": "__code__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        exec(compile(text, "<code>", "exec"), names)
    return names


def call(text, names):
    """The program's last line, once more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        exec(text.splitlines()[-1], names)
    return np.asarray(names["y"])


def assert_runs_and_agrees(e, flavor):
    """The program, given x, gamma, beta and running statistics, makes of them what the trace does."""
    jnp = importlib.import_module("jax.numpy")
    text, layer = code(e, flavor), FRAMEWORKS[flavor].layer(Placement.of(e))
    made = ran(text)
    assert made["y"].shape == made["x"].shape == e.shape
    held = {name: value.numpy() for name, value in vars(e.values).items() if value is not None}
    theirs = dict(zip(layer.learns, ("gamma", "beta"), strict=False)) if layer else {}
    theirs |= dict(zip(layer.running, ("running_mean", "running_var"), strict=False)) if layer else {}
    for name, ours in theirs.items():
        if ours in held:
            put(getattr(made["layer"], name), held.pop(ours))
    for name, value in held.items():
        assert made[name].shape == value.shape
        made[name] = jnp.asarray(value)
    made["x"] = jnp.asarray(e.x.numpy())
    found = call(text, made)
    assert found.dtype == np.float32
    assert np.all(np.abs(found - e.trace.output.numpy()) <= tolerance(e))


def put(variable, value):
    """A layer's own variable, in its own shape: Flax's are flat."""
    value = value.reshape(variable.shape)
    if hasattr(variable, "assign"):
        variable.assign(value)
    else:
        variable[...] = value


def tolerance(e):
    """Some roundings of float32 in every term, largest where x * inv - mean * inv, which is how Keras does it, cancels."""
    trace, ones = e.trace, torch.ones(())
    gamma, beta = (
        ones if value is None else broadcast(e.norm, e.shape, value) for value in (e.values.gamma, e.values.beta)
    )
    terms = (e.x.abs() + trace.mean.abs()) / torch.sqrt(trace.var + trace.eps) * gamma.abs() + beta.abs()
    return 16 * np.finfo(np.float32).eps * terms.numpy()
