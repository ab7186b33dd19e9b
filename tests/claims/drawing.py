"""What predicates draw: torch's layers with random parameters, x, and the groups that the texts say they have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor, nn

from tests.support.needs import HAS_HALF, HAS_RMS_NORM

Draw = Callable[[st.SearchStrategy[Any]], Any]
Shape = tuple[int, ...]

WITH_CHANNELS = ("BatchNorm", "InstanceNorm", "GroupNorm")
WITH_NORMALIZED_SHAPE = ("LayerNorm", "RMSNorm")
OVER_LAST_AXES = WITH_NORMALIZED_SHAPE if HAS_RMS_NORM else ("LayerNorm",)  # those that the installed torch has
FAMILIES = (*WITH_CHANNELS, *OVER_LAST_AXES)
SUBTRACT_MEAN = ("BatchNorm", "InstanceNorm", "GroupNorm", "LayerNorm")
PER_EXAMPLE = ("InstanceNorm", "GroupNorm", *OVER_LAST_AXES)
EPS = (1e-5, 1e-3, 0.5, 1.0)
HALF = (torch.float16, torch.bfloat16)
DTYPES = (torch.float64, torch.float64, torch.float32, *(HALF if HAS_HALF else HALF[1:]))  # float64 is drawn most
LARGEST_ERROR = {torch.float64: 0.0, torch.float32: 2e-3, torch.float16: 0.03, torch.bfloat16: 0.2}
ENDS = {torch.float16: (2.0**-14, 1.0, 1e4), torch.bfloat16: (1e-30, 1.0, 1e15)}  # what x is multiplied by


@dataclass(frozen=True)
class Case:
    """A layer of torch, in train mode if it stores statistics, and an x for it.

    group  the number of the group of each element, as the texts say it: those that share statistics
    gamma  the number of the gamma of each element
    """

    family: str
    layer: nn.Module
    x: Tensor
    group: Tensor
    gamma: Tensor

    @property
    def group_size(self) -> int:
        return self.x.numel() // self.groups

    @property
    def groups(self) -> int:
        return int(self.group.max()) + 1

    def members(self, number: int) -> Tensor:
        return self.group == number


def draw_shape(draw: Draw, low: int = 2, high: int = 5, least: int = 1, most: int = 4) -> Shape:
    return tuple(draw(st.lists(st.integers(least, most), min_size=low, max_size=high)))


def normal(
    draw: Draw, *shape: int, offset: float = 0.0, scale: float = 1.0, dtype: torch.dtype = torch.float64
) -> Tensor:
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10**6)))
    return (torch.randn(shape, generator=generator, dtype=torch.float64) * scale + offset).to(dtype)


def divisor(draw: Draw, n: int) -> int:
    return draw(st.sampled_from([d for d in range(1, n + 1) if n % d == 0]))


def make_layer(
    draw: Draw, family: str, shape: Shape, depth: int | None = None, affine: bool = True, **options: Any
) -> nn.Module:
    """A fresh layer of the family for x of this shape, in float64; ``depth`` is the number of sizes in ``normalized_shape``."""
    if family in WITH_NORMALIZED_SHAPE:
        depth = depth or draw(st.integers(1, len(shape) - 1))
        made = getattr(nn, family)(list(shape[-depth:]), elementwise_affine=affine, **options)
    elif family == "GroupNorm":
        groups = options.pop("num_groups", None) or divisor(draw, shape[1])
        made = nn.GroupNorm(groups, shape[1], affine=affine, **options)
    else:
        made = getattr(nn, f"{family}{max(1, len(shape) - 2)}d")(shape[1], affine=affine, **options)
    return made.double()


def with_random_parameters(draw: Draw, layer: nn.Module) -> nn.Module:
    """The layer with a random gamma and beta; no gamma is 0."""
    with torch.no_grad():
        for parameter in layer.parameters():
            value = normal(draw, *parameter.shape)
            parameter.copy_(value.sign() * (value.abs() + 0.1))
    return layer


def draw_case(
    draw: Draw,
    *families: str,
    least: int = 1,
    shape: Shape | None = None,
    low: int = 2,
    high: int = 5,
    offset: float = 0.0,
    scale: float = 1.0,
    fresh: bool = False,
    dtype: torch.dtype | None = None,
    **options: Any,
) -> Case:
    """A layer of one of the families; each of its groups has ``least`` elements or more, and in train mode torch accepts it.

    What is not given is drawn: dtype, eps, affine, track_running_stats, the mode of a layer that stores nothing, and where x lies in memory.
    x of half precision is small, medium or large, in place of ``scale``. BatchNorm and InstanceNorm round its mean, which a small
    eps would show in a small group: theirs is large, and x is not.
    """
    family = draw(st.sampled_from(families or FAMILIES))
    low = max(low, 3) if family == "InstanceNorm" else low
    shape = shape or draw_shape(draw, low, high)
    if family in ("BatchNorm", "InstanceNorm") or (family == "GroupNorm" and shape[0] == 1):
        least = max(
            least, 2
        )  # torch refuses one value per channel, and one example of GroupNorm with one value in each group
    shape = _large_enough(family, shape, least)
    depth = options.pop("depth", None)
    if family in WITH_NORMALIZED_SHAPE:
        depth = depth or draw(
            st.sampled_from([d for d in range(1, len(shape)) if prod(shape[-d:]) >= least] or [len(shape) - 1])
        )
    if family == "GroupNorm" and "num_groups" not in options:
        channels, rest = shape[1], prod(shape[2:])
        options["num_groups"] = draw(
            st.sampled_from([g for g in range(1, channels + 1) if channels % g == 0 and channels // g * rest >= least])
        )
    dtype = dtype or draw(st.sampled_from(DTYPES if options.get("eps", 1.0) > 1e-6 else DTYPES[:1]))
    rounds = dtype in HALF and family in ("BatchNorm", "InstanceNorm")
    exact = dtype == torch.float64 and least > 2 and family in PER_EXAMPLE
    drawn: dict[str, Any] = {"eps": draw(st.sampled_from(EPS[2:] if rounds else (*EPS, 0.0) if exact else EPS))}
    if fresh:  # a layer without gamma and beta computes as a fresh one
        drawn["affine"] = draw(st.booleans())
    tracks = options.pop("track_running_stats", draw(st.booleans()) if families != ("BatchNorm",) else True)
    if family in ("BatchNorm", "InstanceNorm"):  # BatchNorm alone is asked for its running statistics
        drawn["track_running_stats"] = tracks
    layer = make_layer(draw, family, shape, depth, **(drawn | options))
    layer = (layer if fresh else with_random_parameters(draw, layer)).to(dtype)
    if not [*layer.buffers()]:
        layer.train(draw(st.booleans()))
    group = groups_of(layer, shape)
    if dtype in HALF:
        rounds |= int(group.max()) + 1 == prod(shape)  # one large element minus its mean is noise
        scale = 1.0 if family == "RMSNorm" else draw(st.sampled_from(ENDS[dtype][: 2 if rounds else 3]))
        offset = min(offset, 1.0) * scale
    x = normal(draw, *shape, offset=offset, scale=scale, dtype=dtype)
    if x.ndim == 4 and (dtype == torch.float64 or family != "GroupNorm") and draw(st.booleans()):
        x = x.contiguous(memory_format=torch.channels_last)  # there, GroupNorm uses a formula that rounds
    return Case(family, layer, x, group, gammas_of(layer, shape))


def _large_enough(family: str, shape: Shape, least: int) -> Shape:
    """A shape on which a group of the family can have ``least`` elements: an axis of this one is made larger where it must be."""
    size = {"BatchNorm": shape[0] * prod(shape[2:]), "InstanceNorm": prod(shape[2:])}.get(family, prod(shape[1:]))
    if size >= least:
        return shape
    if family == "BatchNorm" and len(shape) == 2:
        return (least, shape[1])
    return (*shape[:-1], least)


def indices(shape: Shape) -> tuple[Tensor, ...]:
    return torch.meshgrid(*(torch.arange(size) for size in shape), indexing="ij")


def groups_of(layer: nn.Module, shape: Shape) -> Tensor:
    """The number of the group of each element of x, by the words of the texts."""
    index = indices(shape)
    if hasattr(layer, "normalized_shape"):
        front = shape[: len(shape) - len(layer.normalized_shape)]
        return torch.arange(prod(front)).reshape(*front, *(1 for _ in layer.normalized_shape)).expand(shape)
    match layer:
        case nn.GroupNorm():
            return index[0] * layer.num_groups + index[1] // (shape[1] // layer.num_groups)
        case nn.BatchNorm1d() | nn.BatchNorm2d() | nn.BatchNorm3d():
            return index[1]
    return index[0] * shape[1] + index[1]


def gammas_of(layer: nn.Module, shape: Shape) -> Tensor:
    """The number of the gamma of each element of x, by the words of the texts."""
    if hasattr(layer, "normalized_shape"):
        return torch.arange(prod(layer.normalized_shape)).reshape(layer.normalized_shape).expand(shape)
    return indices(shape)[1]


def run(layer: nn.Module, x: Tensor) -> Tensor:
    with torch.no_grad():
        return layer(x)


def accepts(layer: nn.Module, x: Tensor) -> bool:
    """Whether torch runs the layer on x."""
    try:
        run(layer, x)
    except (ValueError, RuntimeError):
        return False
    return True


def element(draw: Draw, x: Tensor) -> tuple[int, ...]:
    return tuple(draw(st.integers(0, size - 1)) for size in x.shape)


def changed(x: Tensor, at: Any, by: float = 1.7) -> Tensor:
    """A copy of x with other values at an index or a mask; the change is not lost in x of any size."""
    other = x.clone()
    other[at] += by * (float(x.abs().max()) if x.dtype in HALF else 1.0)
    return other


def moved(layer: nn.Module, x: Tensor, at: Any, by: float = 1.7) -> Tensor:
    """Which outputs change with x[at]: a mask."""
    return run(layer, x) != run(layer, changed(x, at, by))


def only(found: Tensor, expected: Tensor, dtype: torch.dtype) -> bool:
    """Whether these are the outputs that changed; in a dtype that may round a change away, no others did."""
    return torch.equal(found, expected) if dtype == torch.float64 else not bool((found & ~expected).any())


def close(found: Tensor, expected: Tensor, tolerance: float = 1e-9, dtype: torch.dtype | None = None) -> None:
    """Equal, but for the rounding of the dtype, by default that of what was found."""
    tolerance = max(tolerance, LARGEST_ERROR[dtype or found.dtype])
    expected = expected.expand_as(found) if expected.ndim <= found.ndim else expected
    torch.testing.assert_close(found.double(), expected.double(), rtol=tolerance, atol=tolerance)


def mean_of_groups(values: Tensor, group: Tensor) -> Tensor:
    """The mean over the group of each element, at each element."""
    flat, numbers = values.double().flatten(), group.flatten()
    sums = torch.zeros(int(numbers.max()) + 1, dtype=torch.float64).index_add_(0, numbers, flat)
    return (sums / torch.bincount(numbers))[numbers].reshape(values.shape)


def normalized(x: Tensor, group: Tensor, eps: float, center: bool = True) -> Tensor:
    """x minus the mean of its group, over the root of the variance of its group plus eps, by hand."""
    centered = x - mean_of_groups(x, group) if center else x.double()
    return centered / (mean_of_groups(centered.square(), group) + eps).sqrt()
