"""A layer from scratch with an array library: the axes of the pattern become axis numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from normviz.analysis.description import Description

FLOAT32_EPS = "2**-23"
MAX_WIDTH = 66  # characters of a line that a code box shows without scrolling
MAX_STATEMENT = 80  # characters of a statement that is written on one line
RUNNING = ("running_mean", "running_var")
KERAS_BACKEND = 'import os\n\nos.environ["KERAS_BACKEND"] = "jax"  # read when keras is imported'


@dataclass(frozen=True)
class Library:
    """How an array library writes the operations of the from-scratch flavors."""

    imports: str
    random: Callable[[tuple[int, ...]], str]
    prefix: str
    square: Callable[[str], str]
    mean: Callable[[str, tuple[int, ...]], str]
    finfo: str
    transpose: Callable[[str, tuple[int, ...]], str]
    reshape: Callable[[str, tuple[int, ...]], str] = lambda value, shape: f"{value}.reshape{as_call(shape)}"


TORCH = Library(
    imports="import torch",
    random=lambda shape: f"torch.randn{as_call(shape)}",
    prefix="torch",
    square=lambda value: f"{value}.square()",
    mean=lambda value, dims: f"{value}.mean(dim={dims}, keepdim=True)" if dims else value,
    finfo="torch.finfo(x.dtype).eps",
    transpose=lambda value, order: f"{value}.permute{as_call(order)}",
)
NUMPY = Library(
    imports="import numpy as np",
    random=lambda shape: f"np.random.default_rng(0).standard_normal({as_call(shape)})",
    prefix="np",
    square=lambda value: f"{value} ** 2",
    mean=lambda value, dims: f"{in_brackets(value)}.mean(axis={dims}, keepdims=True)" if dims else value,
    finfo="np.finfo(x.dtype).eps",
    transpose=lambda value, order: f"{value}.transpose{as_call(order)}",
)
JAX = replace(
    NUMPY,
    imports="import jax\nimport jax.numpy as jnp",
    random=lambda shape: f"jax.random.normal(jax.random.key(0), {shape})",
    prefix="jnp",
    finfo="jnp.finfo(x.dtype).eps",
)
KERAS = Library(
    imports=f"{KERAS_BACKEND}\nimport keras\nfrom keras import ops",
    random=lambda shape: f"keras.random.normal({shape})",
    prefix="ops",
    square=lambda value: f"ops.square({_without_brackets(value)})",
    mean=lambda value, dims: f"ops.mean({value}, axis={dims}, keepdims=True)" if dims else value,
    finfo=FLOAT32_EPS,
    reshape=lambda value, shape: f"ops.reshape({_without_brackets(value)}, {shape})",
    transpose=lambda value, order: f"ops.transpose({value}, {order})",
)


def from_scratch(library: Library, e: Description) -> str:
    """A program that computes the statistics with axis numbers."""
    norm = e.norm
    sizes, names = norm.axis_sizes(e.shape), norm.pattern.names
    dims = tuple(names.index(name) for name in norm.pattern.reduced)
    split = len(names) > len(e.shape)
    body = []
    if split:
        left, shape = norm.stats.split(" ->")[0], tuple(sizes[name] for name in names)
        body.append(f"x = {library.reshape('x', shape)}  # {left} -> {' '.join(names)}")
    if norm.running:
        mean, var = (_broadcast(e, stat, norm.pattern.right, library) for stat in RUNNING)
        both = f"mean, var = {mean}, {var}"
        body += [both] if len(both) <= MAX_STATEMENT else [f"mean = {mean}", f"var = {var}"]
    elif norm.center:
        body += [f"mean = {library.mean('x', dims)}", f"var = {library.mean(library.square('(x - mean)'), dims)}"]
    else:
        body += [f"mean_square = {library.mean(library.square('x'), dims)}"]
    body += normalize_lines(e, library, lambda name: _broadcast(e, name, norm.gamma_axes, library))
    if split:
        result = body[-1].removeprefix("return ")
        body[-1] = f"return {library.reshape(f'({result})', e.shape)}"
    return program(e, library, body)


def normalize_lines(e: Description, library: Library, broadcast: Callable[[str], str]) -> list[str]:
    """The lines after the statistics: normalize, scale and shift."""
    eps = library.finfo if e.norm.eps is None else repr(e.norm.eps)
    above, below = ("x - mean", "var") if e.norm.center else ("x", "var" if e.norm.running else "mean_square")
    sign, eps = ("-", eps[1:]) if eps.startswith("-") else ("+", eps)
    lines = [f"normalized = {in_brackets(above)} / {library.prefix}.sqrt({below} {sign} {eps})"]
    if e.norm.params is None:
        return [*lines, "return normalized"]
    gamma, beta = broadcast("gamma"), broadcast("beta")
    scaled = f"normalized * (1 + {gamma})" if e.norm.zero_centered_gamma else f"normalized * {gamma}"
    if not e.norm.bias:
        return [*lines, f"return {scaled}"]
    if len(scaled) + len(beta) > MAX_WIDTH:
        return [*lines, f"scaled = {scaled}", f"return scaled + {beta}"]
    return [*lines, f"return {scaled} + {beta}"]


def _broadcast(e: Description, value: str, kept: tuple[str, ...], library: Library) -> str:
    """A parameter or a statistic, reshaped so that it broadcasts to x after the split axes of x are reshaped."""
    norm = e.norm
    sizes, names = norm.axis_sizes(e.shape), norm.pattern.names
    parts = norm.pattern_names(kept)
    if parts == names[len(names) - len(parts) :] and parts == kept:
        return value
    order = tuple(parts.index(name) for name in names if name in parts)
    if order != tuple(range(len(order))):
        if parts != kept:
            value = library.reshape(value, tuple(sizes[name] for name in parts))
        value = library.transpose(value, order)
    return library.reshape(value, tuple(sizes[name] if name in parts else 1 for name in names))


def program(e: Description, library: Library, body: list[str]) -> str:
    """A function, and the lines that call it."""
    values: dict[str, str] = {"x": library.random(e.shape)}
    if e.norm.running:
        sizes = e.norm.axis_sizes(e.shape)
        kept = tuple(sizes[name] for name in e.norm.pattern.right)
        values |= {"running_mean": f"{library.prefix}.zeros({kept})", "running_var": f"{library.prefix}.ones({kept})"}
    first = "zeros" if e.norm.zero_centered_gamma else "ones"
    for name, shape, start in (("gamma", e.counts.gamma_shape, first), ("beta", e.counts.beta_shape, "zeros")):
        if shape is not None:
            values[name] = f"{library.prefix}.{start}({shape})"
    signature = ", ".join(values)
    return "\n".join(
        [
            library.imports,
            "",
            "",
            f"def normalize({signature}):",
            *(f"    {line}" for line in body),
            "",
            "",
            *(f"{name} = {value}" for name, value in values.items()),
            f"y = normalize({signature})",
        ]
    )


def in_brackets(text: str) -> str:
    """The expression in brackets, unless it is one name or already in brackets."""
    return f"({text})" if " " in text and not (text.startswith("(") and text.endswith(")")) else text


def _without_brackets(text: str) -> str:
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def as_call(values: tuple[int, ...]) -> str:
    """The numbers as the arguments of a call."""
    return f"({', '.join(map(str, values))})"
