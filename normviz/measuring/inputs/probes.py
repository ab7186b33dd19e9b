"""Inputs with which a function is measured: generic values of its own generator, so that nothing cancels by chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod, sqrt

import numpy as np
import torch
from torch import Tensor

SEED = 20
MOST_INPUTS = 4096  # elements of x that are moved one by one; above, a sample of them
SAMPLE, SMALL_SAMPLE = 24, 8  # elements in a sample; the smaller number if x has more than LARGE elements
LARGE = 2**18


def generic(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> Tensor:
    """Normal values with mean 0.5 and standard deviation 1; another ``seed`` gives other values."""
    generator = torch.Generator().manual_seed(SEED + seed)
    return (torch.randn(shape, generator=generator, dtype=torch.float64) + 0.5).to(dtype)


def indices(shape: tuple[int, ...], most: int = MOST_INPUTS, few: int = SMALL_SAMPLE) -> Iterator[tuple[int, ...]]:
    """The inputs that are moved, in row-major order: all of them, or a sample with the first and the last one."""
    elements = prod(shape)
    chosen: Sequence[int] = range(elements)
    if elements > most:
        generator, count = torch.Generator().manual_seed(SEED), SAMPLE if elements <= LARGE else few
        chosen = sorted({0, elements - 1, *torch.randint(elements, (count,), generator=generator).tolist()})
    for flat in chosen:
        yield tuple(map(int, np.unravel_index(flat, shape)))


def distance(shape: tuple[int, ...], dtype: torch.dtype) -> float:
    """By how much one input is moved: enough to dominate the variance of all elements; its square does not overflow ``dtype``."""
    return min(3 * sqrt(prod(shape)) + 5, sqrt(torch.finfo(dtype).max) / 8)


def tolerance(dtype: torch.dtype, output: Tensor) -> float:
    """The relative difference of outputs that is not rounding, for a function that is given ``dtype``.

    A function may convert x to float32 and back.
    """
    resolution = torch.finfo(dtype).eps
    if dtype == torch.float64 and torch.equal(output, output.float().double().to(output.dtype)):
        resolution = torch.finfo(torch.float32).eps
    return 256 * resolution


def agreement(dtype: torch.dtype) -> float:
    """The relative difference between an output and a formula for it that may be rounding."""
    return {torch.float64: 1e-6, torch.float32: 1e-4}.get(dtype, 2e-2)


def large(dtype: torch.dtype) -> float:
    """A factor of x that makes eps negligible."""
    return min(1e5, torch.finfo(dtype).max ** 0.5 / 8)
