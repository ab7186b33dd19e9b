"""Answers that torch's own modules give, without the patterns of normviz.

Which elements share a mean is measured: one output element depends on the inputs of its group and on no other (autograd). Which share a
gamma is measured with gammas that are all different. Everything is computed in float64.
"""

from __future__ import annotations

import warnings
from functools import cache
from itertools import product
from math import prod

import torch
from torch import Tensor, nn

from normviz.layers.layer import Layer
from normviz.lessons.practice.case import Box, members

Index = tuple[int, ...]
NEGLIGIBLE = 1e-9  # a derivative in float64 that is rounding


def module_of(text: str) -> nn.Module:
    """torch's own module of a layer's text, in float64 and in the layer's mode."""
    layer = Layer.parse(text)
    assert isinstance(layer, Layer)
    return layer.module(torch.float64)


def noise(shape: tuple[int, ...]) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def run(module: nn.Module, x: Tensor) -> Tensor:
    with warnings.catch_warnings():  # torch warns about an unused num_features of InstanceNorm
        warnings.simplefilter("ignore")
        output: Tensor = module(x)
    return output


@cache
@torch.enable_grad()
def derivatives(text: str, shape: tuple[int, ...], at: Index) -> Tensor:
    """The derivatives of the output at ``at`` with respect to each input."""
    x = noise(shape).requires_grad_()
    run(module_of(text), x)[at].backward()
    assert x.grad is not None
    return x.grad


def group(text: str, shape: tuple[int, ...], at: Index) -> frozenset[Index]:
    """The elements on which the output at ``at`` depends, and ``at`` itself."""
    found = derivatives(text, shape, at).abs() > NEGLIGIBLE
    return frozenset({at, *map(tuple, found.nonzero().tolist())})


@cache
def groups(text: str, shape: tuple[int, ...]) -> tuple[frozenset[Index], ...]:
    """All groups that share a mean, in the order of their first elements. Raises ValueError if two of them overlap."""
    found: list[frozenset[Index]] = []
    seen: set[Index] = set()
    for index in product(*map(range, shape)):
        if index not in seen:
            found.append(group(text, shape, index))
            if seen & found[-1]:
                raise ValueError(f"{text} on {shape}: two groups overlap at {sorted(seen & found[-1])[:3]}.")
            seen |= found[-1]
    return tuple(found)


def moved(text: str, shape: tuple[int, ...], at: Index) -> frozenset[Index]:
    """The output elements that change if the input at ``at`` changes."""
    x = noise(shape).requires_grad_()
    output = run(module_of(text), x).flatten()
    columns = torch.stack([torch.autograd.grad(each, x, retain_graph=True)[0][at] for each in output]).reshape(shape)
    return frozenset(map(tuple, (columns.abs() > NEGLIGIBLE).nonzero().tolist()))


def gammas(text: str) -> int:
    weight = getattr(module_of(text), "weight", None)
    return 0 if weight is None else weight.numel()


def parameters(text: str) -> int:
    return sum(parameter.numel() for parameter in module_of(text).parameters())


@torch.no_grad()
def gamma_peers(text: str, shape: tuple[int, ...], at: Index) -> frozenset[Index]:
    """The elements that use the gamma and beta of ``at``, itself among them: one gamma and its beta are changed at a time."""
    module, x = module_of(text), noise(shape)
    learned = [parameter.flatten() for parameter in module.parameters()]
    before = run(module, x)
    for number in range(gammas(text)):
        for values in learned:
            values[number] += 1
        changed = ((run(module, x) - before).abs() > NEGLIGIBLE).nonzero()
        for values in learned:
            values[number] -= 1
        elements = frozenset(map(tuple, changed.tolist()))
        if at in elements:
            return elements
    raise ValueError(f"{text} on {shape}: no gamma belongs to {at}.")


@torch.no_grad()
def statistics_of(text: str, x: Tensor, at: Index) -> tuple[float, float]:
    """The mean and the biased variance of the group of ``at``."""
    values = torch.stack([x[index] for index in sorted(group(text, tuple(x.shape), at))])
    return float(values.mean()), float(values.var(correction=0))


@torch.no_grad()
def normalized(text: str, x: Tensor, at: Index) -> float:
    """The output of a fresh module, whose gamma is 1 and whose beta is 0."""
    return float(run(module_of(text), x)[at])


def uses(text: str, shape: tuple[int, ...]) -> str:
    """Whose statistics the forward pass uses: "batch", "example" or "running"."""
    at = tuple(0 for _ in shape)
    found = group(text, shape, at)
    if any(index[0] != 0 for index in found):
        return "batch"
    return "running" if len(found) == 1 and prod(shape[1:]) > 1 and _follows_buffers(text, shape) else "example"


@torch.no_grad()
def _follows_buffers(text: str, shape: tuple[int, ...]) -> bool:
    module, x = module_of(text), noise(shape)
    before = run(module, x)
    if getattr(module, "running_mean", None) is None:
        return False
    module.get_buffer("running_mean").add_(1)
    return not bool(torch.equal(before, run(module, x)))


@torch.no_grad()
def buffers_after(text: str, shape: tuple[int, ...]) -> str:
    """What a forward pass does to the buffers: "change", "stay" or "none" if the layer has no buffers."""
    module = module_of(text)
    before = {name: value.clone() for name, value in module.named_buffers()}
    run(module, noise(shape))
    if not before:
        return "none"
    changed = [name for name, value in module.named_buffers() if not torch.equal(value, before[name])]
    return "change" if changed else "stay"


def box_of(elements: frozenset[Index], rank: int) -> Box:
    """A set of elements as positions along each axis. Raises ValueError if it is not the product of such positions."""
    box = tuple(tuple(sorted({index[axis] for index in elements})) for axis in range(rank)) if elements else ()
    if set(members(box)) != set(elements):
        raise ValueError(f"{sorted(elements)} are not all combinations of positions along the axes.")
    return box
