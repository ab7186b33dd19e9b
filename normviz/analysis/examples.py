"""Example tensors, and example values of gamma and beta: float32, and the same for the same arguments."""

from collections.abc import Callable
from math import prod
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from normviz.layers.axes import example_axis
from normviz.texts.errors import NormvizError, echo, listed


def example(name: str, shape: tuple[int, ...], axes: tuple[str, ...], seed: int = 0) -> Tensor:
    """An example x of ``shape``; ``name`` is one of ``DATA``. Raises NormvizError for another name.

    >>> example("counting", (2, 3), ("n", "d")).tolist()
    [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    """
    if name not in DATA:
        raise NormvizError(
            "{name} is not the name of example data; choose {names}.", name=echo(name), names=listed(DATA)
        )
    return DATA[name](shape, axes, seed)


def from_values(values: tuple[float, ...], shape: tuple[int, ...]) -> Tensor:
    """An x of ``shape`` with these values in row-major order."""
    return torch.tensor(values, dtype=torch.float32).reshape(shape)


def from_array(array: NDArray[Any]) -> Tensor:
    """A copy of an array as a tensor."""
    return torch.tensor(array)


def _normal(shape: tuple[int, ...], axes: tuple[str, ...], seed: int) -> Tensor:
    """Normal noise, rounded to two decimals so that a reader can follow the arithmetic."""
    noise = torch.randn(shape, generator=torch.Generator().manual_seed(seed + 1))
    return torch.round(noise, decimals=2)


def _scales(shape: tuple[int, ...], axes: tuple[str, ...], seed: int) -> Tensor:
    """Each channel has its own mean (0, 10, 20, ...) and its own spread (1, 2, 3, ...)."""
    axis = _channel(axes)
    channel = torch.arange(shape[axis], dtype=torch.float32)
    channel = channel.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return torch.round(_normal(shape, axes, seed) * (1 + channel) + 10 * channel, decimals=2)


def _images(shape: tuple[int, ...], axes: tuple[str, ...], seed: int) -> Tensor:
    """Small images with values from 0 to 1: a disc, stripes, a slope and a checkerboard, tinted by channel."""
    spatial = [i for i, axis in enumerate(axes) if axis in ("h", "w", "l")] or [len(shape) - 1]
    channel, examples = _channel(axes), example_axis(axes)
    rows, columns = spatial[0], spatial[-1]

    def along(axis: int | None, span: float = 1.0) -> Tensor:
        if axis is None:
            return torch.zeros([1] * len(shape))
        ramp = torch.arange(shape[axis], dtype=torch.float32) * (span / max(shape[axis] - 1, 1) if span else 1)
        return ramp.reshape([-1 if i == axis else 1 for i in range(len(shape))])

    y, x = along(rows), along(columns)
    number, tint = along(examples, 0), along(channel if channel not in spatial else None)
    disc = ((y - 0.5) ** 2 + (x - 0.5) ** 2 < 0.16).float() if rows != columns else torch.exp(-18 * (x - 0.5) ** 2)
    stripes = (torch.sin(12 * x + 3 * y) > 0).float()
    slope = (x + y) / 2
    board = ((torch.floor(4 * x * 0.999) + torch.floor(4 * y * 0.999)) % 2).float()
    kinds = [disc, stripes, slope, board]
    picture = sum(((number + seed) % len(kinds) == i).float() * kind for i, kind in enumerate(kinds))
    assert isinstance(picture, Tensor)
    return torch.round((0.15 + 0.7 * picture * (1 - 0.6 * tint) + 0.15 * tint).expand(shape), decimals=2)


def _channel(axes: tuple[str, ...]) -> int:
    return next((axes.index(name) for name in ("c", "d") if name in axes), len(axes) - 1)


DATA: dict[str, Callable[[tuple[int, ...], tuple[str, ...], int], Tensor]] = {
    "normal": _normal,
    "counting": lambda shape, axes, seed: torch.arange(prod(shape), dtype=torch.float32).reshape(shape),
    "scales": _scales,
    "images": _images,
}


def parameters(name: str, shape: tuple[int, ...], seed: int = 0, new: float = 1.0) -> tuple[Tensor, Tensor]:
    """Values of gamma and beta, of ``shape``; ``name`` is one of ``PARAMETERS``. Raises NormvizError for another name.

    ``index`` sets each parameter to its own flat index, which shows where it is used.

    new  the gamma of a new layer, around which random ones are: 0 if it multiplies by 1 + gamma
    """
    if name not in PARAMETERS:
        raise NormvizError(
            "{name} is not a choice for gamma and beta; choose {names}.", name=echo(name), names=listed(PARAMETERS)
        )
    if name == "init":
        return torch.full(shape, new), torch.zeros(shape)
    if name == "index":
        index = torch.arange(prod(shape), dtype=torch.float32).reshape(shape)
        return index, index.clone()
    generator = torch.Generator().manual_seed(seed + 2)
    gamma = torch.round(torch.randn(shape, generator=generator), decimals=2)
    beta = torch.round(torch.randn(shape, generator=generator), decimals=2)
    return new + gamma / 2, beta


PARAMETERS = ("init", "index", "random")
