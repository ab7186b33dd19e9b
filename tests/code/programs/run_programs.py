"""Run the Keras and Flax programs and compare their output with the trace."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import torch

from normviz.analysis.description import Description
from normviz.analysis.forward import Values, broadcast
from normviz.code.programs import FRAMEWORKS, AxisNumbers, code
from tests.support.strategies import describe_or_reject, random_tensor


def with_random_values(layer, shape, offset=0.0, dtype=torch.float32, seed=1) -> Description:
    """The layer on random numbers, with random gamma, beta and running statistics."""
    e = describe_or_reject(layer, random_tensor(shape, seed, dtype, offset))
    sizes = e.norm.axis_sizes(shape)
    kept = tuple(sizes[name] for name in e.norm.pattern.right) if e.norm.running else None
    shapes = (e.counts.gamma_shape, e.counts.beta_shape, kept, kept)
    values = [None if s is None else random_tensor(s, one, dtype) for one, s in enumerate(shapes, seed + 1)]
    if kept is not None:
        values[3] = values[3].square() + 0.1
    return replace(e, values=Values(*values))


def run(text, names=None):
    names = {"__name__": "__code__"} if names is None else names
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        exec(compile(text, "<code>", "exec"), names)
    return names


def call(text, names):
    """Run the last line of the program again."""
    return run(text.splitlines()[-1], names)["y"]


def on_values_of(e, flavor):
    """The names of the program, run as pasted, and its last line again on the x, gamma, beta and running statistics of ``e``."""
    jnp = importlib.import_module("jax.numpy")
    text, layer = code(e, flavor), FRAMEWORKS[flavor].layer(AxisNumbers.of(e))
    program = run(text)
    assert program["y"].shape == program["x"].shape == e.shape
    values = {name: value.numpy() for name, value in vars(e.values).items() if value is not None}
    names = dict(zip(layer.parameters, ("gamma", "beta"), strict=False)) if layer else {}
    names |= dict(zip(layer.running, ("running_mean", "running_var"), strict=False)) if layer else {}
    for name, ours in names.items():
        if ours in values:
            assign(getattr(program["layer"], name), values.pop(ours))
    for name, value in values.items():
        assert program[name].shape == value.shape
        program[name] = jnp.asarray(value)
    program["x"] = jnp.asarray(e.x.numpy())
    call(text, program)
    return program


def run_together(cases: Sequence[tuple[Description, str]]) -> list[dict]:
    """The same for many programs. jax compiles them as one, in a fifth of the time that it needs for each operation of each program.

    An error of a program stands in the place of its names. jax does not trace Keras's random numbers; each x is replaced anyway.
    """
    jax, keras = (importlib.import_module(name) for name in ("jax", "keras"))
    programs = []

    def every_output():
        for e, flavor in cases:
            try:
                programs.append(on_values_of(e, flavor))
            except Exception as error:
                error.add_note(f"{flavor}: {e.title} on {e.shape}")
                programs.append({"error": error})
        return [program.get("y") for program in programs]

    with patch.object(keras.random, "normal", jax.numpy.zeros):
        outputs = jax.jit(every_output)()
    return [program | {"y": output} for program, output in zip(programs, outputs, strict=True)]


def assert_agree(cases: Sequence[tuple[Description, str]]) -> None:
    """Each program, with the values of its description, gives the output of the trace."""
    for (e, _), program in zip(cases, run_together(cases), strict=True):
        assert_output(program, e)


def assert_output(program, e) -> None:
    """The output of a program is that of the trace."""
    if "error" in program:
        raise program["error"]
    found, expected = np.asarray(program["y"]), e.trace.output.numpy()
    assert found.dtype == np.float32
    assert found.shape == expected.shape
    assert np.array_equal(np.isnan(found), np.isnan(expected))
    assert np.all((np.abs(found - expected) <= tolerance(e)) | np.isnan(expected))


def assign(variable, value):
    """Set the variable of a layer in its own shape; those of Flax are flat."""
    value = value.reshape(variable.shape)
    if hasattr(variable, "assign"):
        variable.assign(value)
    else:
        variable[...] = value


def tolerance(e):
    """A few float32 roundings in each term. Keras computes x * inv - mean * inv, whose terms are the largest; a negative eps makes them larger."""
    trace, ones = e.trace, torch.ones(())
    gamma, beta = (
        ones if value is None else broadcast(e.norm, e.shape, value) for value in (e.values.gamma, e.values.beta)
    )
    divisor = trace.var + trace.eps
    cancellation = 1 + (trace.var / divisor).abs() if trace.eps < 0 else 1
    terms = (e.x.abs() + trace.mean.abs()) / torch.sqrt(divisor) * gamma.abs() * cancellation + beta.abs()
    return 16 * np.finfo(np.float32).eps * terms.numpy()
