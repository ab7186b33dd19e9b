"""Hypothesis strategies: shapes, layers of the catalogue on them, and Norms beyond the catalogue."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import torch
from hypothesis import assume
from hypothesis import strategies as st
from torch import Tensor, nn

from normviz import Explanation, NormvizWarning, explain
from normviz.analysis.description import describe
from normviz.layers.catalogue import KINDS, Argument, Kind
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.torch_errors import momentum_refusal
from normviz.texts.errors import NormvizError

Shape = tuple[int, ...]
Draw = Callable[..., Any]

HIGHEST_RANK = 6
MOST_ELEMENTS = 200
EPS = st.sampled_from([1e-5, 1e-12, 1e-3, 0.5])
MOMENTUM = st.sampled_from([0.1, 0.9, 1.0, None])
SIMPLE = {"flag": st.booleans(), "eps": EPS, "eps or None": st.none() | EPS, "momentum": MOMENTUM}
ALL = tuple(KINDS)
IN_TORCH = tuple(name for name, kind in KINDS.items() if kind.in_torch)
HAS_CUMULATIVE = not momentum_refusal()  # momentum=None of InstanceNorm
NAMES = ["n", "c", "h", "w", "l", "d", "g", "k", "b", "t", "x", "y", "d1", "d2", "a7"]


def shapes(low: int = 1, high: int = HIGHEST_RANK, largest: int = 4) -> st.SearchStrategy[Shape]:
    return st.lists(st.integers(1, largest), min_size=low, max_size=high).map(tuple)


@st.composite
def layers_that_fit(draw: Draw, names: tuple[str, ...] = ALL) -> tuple[Layer, Shape]:
    """A layer whose sizes are those of the shape. torch may still refuse it, because a single value has no variance.

    Only without ``names`` may it have an argument that torch has not.
    """
    kind = KINDS[draw(st.sampled_from(names))]
    shape = draw(shapes(kind.ranks[0], kind.ranks[1] or HIGHEST_RANK))
    taken = [argument for argument in kind.arguments if argument.in_torch or names == ALL]
    arguments = {argument.name: draw(_fitting(argument, kind, shape)) for argument in taken}
    if kind.per_instance and not HAS_CUMULATIVE:
        arguments["momentum"] = arguments["momentum"] or 0.1
    if arguments.get("zero_centered_gamma") and not arguments["elementwise_affine"]:
        arguments["zero_centered_gamma"] = False
    return Layer.make(kind.name, training=draw(st.booleans()), **arguments), shape


@st.composite
def layers_that_may_not_fit(draw: Draw, names: tuple[str, ...] = IN_TORCH) -> tuple[Layer, Shape]:
    """A layer and a shape of any rank; sizes may differ from the shape, eps may be 0 or negative, and many shapes are all ones."""
    kind = KINDS[draw(st.sampled_from(names))]
    low, high = kind.ranks
    fits = draw(st.integers(0, 9)) > 0
    shape = draw(
        shapes(low if fits else 1, (high or HIGHEST_RANK) if fits else HIGHEST_RANK, draw(st.sampled_from([1, 2, 3])))
    )
    arguments = {}
    for argument in (one for one in kind.arguments if one.in_torch):
        value = draw(_fitting(argument, kind, shape))
        if argument.takes in ("size", "groups") and draw(st.integers(0, 2)) == 0:
            value = draw(st.integers(1, 4))
        elif argument.takes == "shape" and draw(st.integers(0, 2)) == 0:
            value = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
        elif argument.name == "eps" and draw(st.integers(0, 3)) == 0:
            value = draw(st.sampled_from([0.0, -0.5]))
        arguments[argument.name] = value
    return Layer.make(kind.name, training=draw(st.booleans()), **arguments), shape


def _fitting(argument: Argument, kind: Kind, shape: Shape) -> st.SearchStrategy[Any]:
    rank, channel = len(shape), kind.channel(len(shape))
    if argument.takes in SIMPLE:
        return SIMPLE[argument.takes]
    if argument.takes == "shape":
        return st.integers(1, rank).map(lambda depth: shape[rank - depth :])
    if argument.takes == "axis":
        return st.integers(-rank, rank - 1)
    size = shape[channel] if channel is not None and channel < rank else 1
    if argument.takes == "groups":
        return st.sampled_from([d for d in range(1, size + 1) if size % d == 0])
    return st.just(size)


@st.composite
def norms(draw: Draw, running: bool = False) -> tuple[Norm, Shape]:
    """Any statistics pattern, including split axes, with any parameter pattern; and a shape that it accepts."""
    names = draw(st.permutations(NAMES))
    rank = draw(st.integers(1, 4))
    parts = [draw(st.sampled_from([1, 1, 1, 2, 3])) for _ in range(rank)]
    axes = [tuple(names.pop() for _ in range(count)) for count in parts]
    flat = [name for axis in axes for name in axis]
    sizes: dict[str, int] = {}
    for name in flat:
        sizes[name] = draw(st.integers(1, max(1, min(3, MOST_ELEMENTS // prod(sizes.values())))))
    kept = draw(_subset(flat))
    left = " ".join(f"({' '.join(axis)})" if len(axis) > 1 else axis[0] for axis in axes)

    split = [axis for axis in axes if len(axis) > 1]
    whole = split[: draw(st.integers(0, len(split)))]
    by_parts = [name for name in flat if not any(name in axis for axis in whole)]
    params = draw(st.none() | _subset([*by_parts, *(names.pop() for _ in whole)]))

    open_name = {axis: draw(st.sampled_from([*axis, None])) for axis in split}
    given = {name: sizes[name] for axis in split for name in axis if name != open_name[axis]}
    norm = Norm(
        f"{left} -> {' '.join(kept)}",
        None if params is None else " ".join(params),
        center=draw(st.booleans()),
        eps=draw(st.none() | EPS),
        bias=draw(st.booleans()),
        running=running,
        sizes=given,
        zero_centered_gamma=params is not None and draw(st.booleans()),
    )
    return norm, tuple(prod(sizes[name] for name in axis) for axis in axes)


def _subset(names: list[str]) -> st.SearchStrategy[list[str]]:
    """A subset of the names, in any order."""
    return st.permutations(names).flatmap(lambda order: st.integers(0, len(order)).map(lambda count: order[:count]))


def module_with_random_numbers(layer: Layer, dtype: torch.dtype, seed: int, offset: float = 0.0) -> nn.Module:
    """The torch module with random gamma, beta and running statistics."""
    module, generator = layer.module(dtype), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in module.state_dict().items():
            if value.is_floating_point():
                random = torch.randn(value.shape, generator=generator, dtype=torch.float64)
                value.copy_(
                    {"running_mean": random + offset, "running_var": random.square() + 0.1}.get(name, random + 1)
                )
    return module


def random_tensor(shape: Shape, seed: int, dtype: torch.dtype = torch.float64, offset: float = 0.0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator, dtype=torch.float64) + offset).to(dtype)


def forward(module: nn.Module, x: Tensor) -> Tensor:
    """The output of torch, without its warnings about mixed types and unused num_features."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return module(x)


def explained(layer: Any, shape: Shape, seed: int = 0) -> Explanation:
    """The explanation of the layer on random float64 numbers, with random parameters if it is a layer of torch."""
    if isinstance(layer, Layer) and layer.kind.module:
        layer = module_with_random_numbers(layer, torch.float64, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NormvizWarning)
        return explain(layer, random_tensor(shape, seed + 1))


@contextmanager
def reject_single_values() -> Iterator[None]:
    """Let Hypothesis draw again if torch raises an error because a variance would be of one value."""
    try:
        yield
    except NormvizError as error:
        assume("Expected more than 1" not in str(error))
        raise


def describe_or_reject(layer: Any, x: Any) -> Explanation:
    with reject_single_values():
        return describe(layer, x)


def explained_or_reject(layer: Any, shape: Shape, seed: int = 0) -> Explanation:
    with reject_single_values():
        return explained(layer, shape, seed)
