"""Example tensors, and example values of gamma and beta: float32, and the same for the same arguments.

Up to 2^20 elements, noise is drawn by torch. The noise of a larger tensor is a hash of the seed and of the index, so that each of its values can be
computed alone (``normviz.analysis.on_demand``).
"""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from normviz.analysis.on_demand import MOST_HELD, OnDemand, Places, float_positions, hashed_noise
from normviz.layers.axes import example_axis
from normviz.texts.errors import NormvizError, echo, listed

Noise = Callable[[], Tensor]


def example(name: str, shape: tuple[int, ...], axes: tuple[str, ...], seed: int = 0) -> Tensor:
    """An example x of ``shape``; ``name`` is one of ``DATA``. Raises NormvizError for another name.

    >>> example("counting", (2, 3), ("n", "d")).tolist()
    [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    """
    if prod(shape) > MOST_HELD:
        return example_on_demand(name, shape, axes, seed).whole()
    return _maker(name)(everywhere(shape), shape, axes, seed, lambda: _drawn_noise(shape, seed + 1))


def example_on_demand(name: str, shape: tuple[int, ...], axes: tuple[str, ...], seed: int = 0) -> OnDemand:
    """The values of a large example x where they are needed. Raises NormvizError for another name.

    >>> x = example_on_demand("normal", (10**6, 10**6), ("n", "d"))
    >>> x.at(np.ix_([0, 999_999], [0, 999_999])).shape
    torch.Size([2, 2])
    """
    make = _maker(name)
    return OnDemand(shape, lambda at: make(at, shape, axes, seed, lambda: hashed_noise(4 * seed, at)))


def _maker(name: str) -> Callable[[Places, tuple[int, ...], tuple[str, ...], int, Noise], Tensor]:
    if name not in DATA:
        raise NormvizError(
            "{name} is not the name of example data; choose {names}.", name=echo(name), names=listed(DATA)
        )
    return DATA[name]


def from_values(values: tuple[float, ...], shape: tuple[int, ...]) -> Tensor:
    """An x of ``shape`` with these values in row-major order."""
    return torch.tensor(values, dtype=torch.float32).reshape(shape)


def from_array(array: NDArray[Any]) -> Tensor:
    """A copy of an array as a tensor."""
    return torch.tensor(array)


def everywhere(shape: tuple[int, ...]) -> Places:
    """The places of all elements."""
    return np.ix_(*map(np.arange, shape))


def _drawn_noise(shape: tuple[int, ...], seed: int) -> Tensor:
    """Normal noise, rounded to two decimals so that a reader can follow the arithmetic."""
    return torch.round(torch.randn(shape, generator=torch.Generator().manual_seed(seed)), decimals=2)


def _along(at: Places, axis: int) -> Tensor:
    """The indices along an axis, as float32."""
    return torch.from_numpy(at[axis].astype(np.float32))


def _counting(at: Places, shape: tuple[int, ...], axes: tuple[str, ...], seed: int, noise: Noise) -> Tensor:
    """Each element is its own position in row-major order."""
    return float_positions(at, shape)


def _normal(at: Places, shape: tuple[int, ...], axes: tuple[str, ...], seed: int, noise: Noise) -> Tensor:
    return noise()


def _scales(at: Places, shape: tuple[int, ...], axes: tuple[str, ...], seed: int, noise: Noise) -> Tensor:
    """Each channel has its own mean (0, 10, 20, ...) and its own spread (1, 2, 3, ...)."""
    channel = _along(at, channel_axis(axes))
    return torch.round(noise() * (1 + channel) + 10 * channel, decimals=2)


def _images(at: Places, shape: tuple[int, ...], axes: tuple[str, ...], seed: int, noise: Noise) -> Tensor:
    """Small images with values from 0 to 1: a disc, stripes, a slope and a checkerboard, tinted by channel."""
    spatial = [i for i, axis in enumerate(axes) if axis in ("h", "w", "l")] or [len(shape) - 1]
    channel, examples = channel_axis(axes), example_axis(axes)
    rows, columns = spatial[0], spatial[-1]

    def along(axis: int | None, span: float = 1.0) -> Tensor:
        if axis is None:
            return torch.zeros([1] * len(shape))
        return _along(at, axis) * (span / max(shape[axis] - 1, 1) if span else 1)

    y, x = along(rows), along(columns)
    number, tint = along(examples, 0), along(channel if channel not in spatial else None)
    disc = ((y - 0.5) ** 2 + (x - 0.5) ** 2 < 0.16).float() if rows != columns else torch.exp(-18 * (x - 0.5) ** 2)
    stripes = (torch.sin(12 * x + 3 * y) > 0).float()
    slope = (x + y) / 2
    board = ((torch.floor(4 * x * 0.999) + torch.floor(4 * y * 0.999)) % 2).float()
    kinds = [disc, stripes, slope, board]
    picture = sum(((number + seed) % len(kinds) == i).float() * kind for i, kind in enumerate(kinds))
    assert isinstance(picture, Tensor)
    return torch.round(
        (0.15 + 0.7 * picture * (1 - 0.6 * tint) + 0.15 * tint).expand(
            np.broadcast_shapes(*(each.shape for each in at))
        ),
        decimals=2,
    )


def channel_axis(axes: tuple[str, ...]) -> int:
    """The number of the axis of channels or features; the last one if none is called so."""
    return next((axes.index(name) for name in ("c", "d") if name in axes), len(axes) - 1)


DATA: dict[str, Callable[[Places, tuple[int, ...], tuple[str, ...], int, Noise], Tensor]] = {
    "normal": _normal,
    "counting": _counting,
    "scales": _scales,
    "images": _images,
}


def parameters(name: str, shape: tuple[int, ...], seed: int = 0, new: float = 1.0) -> tuple[Tensor, Tensor]:
    """Values of gamma and beta, of ``shape``; ``name`` is one of ``PARAMETERS``. Raises NormvizError for another name.

    ``index`` sets each parameter to its own flat index, which shows where it is used.

    new  the gamma of a new layer, around which random ones are: 0 if it multiplies by 1 + gamma
    """
    _check_parameters(name)
    if name == "init":
        return torch.full(shape, new), torch.zeros(shape)
    if name == "index":
        index = torch.arange(prod(shape), dtype=torch.float32).reshape(shape)
        return index, index.clone()
    generator = torch.Generator().manual_seed(seed + 2)
    gamma = torch.round(torch.randn(shape, generator=generator), decimals=2)
    beta = torch.round(torch.randn(shape, generator=generator), decimals=2)
    return new + gamma / 2, beta


def parameters_on_demand(
    name: str, shape: tuple[int, ...], seed: int = 0, new: float = 1.0
) -> tuple[OnDemand, OnDemand]:
    """``parameters`` where they are needed. Up to 2^20, they are the same numbers."""
    _check_parameters(name)
    if name == "init":
        return OnDemand.constant(shape, new), OnDemand.constant(shape, 0.0)
    if prod(shape) <= MOST_HELD:
        gamma, beta = parameters(name, shape, seed, new)
        return OnDemand.held(gamma), OnDemand.held(beta)
    if name == "index":
        index = OnDemand(shape, lambda at: float_positions(at, shape))
        return index, index
    return (
        OnDemand(shape, lambda at: new + hashed_noise(4 * seed + 1, at) / 2),
        OnDemand(shape, lambda at: hashed_noise(4 * seed + 2, at)),
    )


def _check_parameters(name: str) -> None:
    if name not in PARAMETERS:
        raise NormvizError(
            "{name} is not a choice for gamma and beta; choose {names}.", name=echo(name), names=listed(PARAMETERS)
        )


PARAMETERS = ("init", "index", "random")
