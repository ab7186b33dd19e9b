"""Example groups of numbers in each dtype, their exact variance and output, and the output of torch's layers."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, log10

import torch
import torch.nn.functional as F
from torch import Tensor

from normviz.analysis.checks import SEEDS, read_integer, read_number
from normviz.texts.errors import NormvizError, echo, listed


def _is_computed(dtype: torch.dtype) -> bool:
    """Whether torch's layers compute this dtype on the CPU; LayerNorm of torch 2.2 has no float16."""
    try:
        F.layer_norm(torch.zeros(1, dtype=dtype), (1,))
    except RuntimeError:
        return False
    return True


ALL_DTYPES = torch.float16, torch.bfloat16, torch.float32, torch.float64
DTYPES = {str(dtype).removeprefix("torch."): dtype for dtype in ALL_DTYPES if _is_computed(dtype)}
GROUP_SIZES = range(2, 1025)
SIZE = 256  # numbers in a group, where no other size is given
LARGEST_DISTANCE = 1e7
DISTANCES = tuple(10.0**power for power in range(ceil(log10(LARGEST_DISTANCE)) + 1))  # 10^0 .. 10^7
SMALLEST_SPREAD, LARGEST_SPREAD = 1e-12, 1e3
SMALLEST_EPS = 1e-30


def read_dtype(name: str) -> torch.dtype:
    """The torch dtype called "float16", "bfloat16", "float32" or "float64". Raises NormvizError for another name.

    >>> read_dtype("float16")
    torch.float16
    """
    if not isinstance(name, str) or name not in DTYPES:
        raise NormvizError("dtype={dtype} is unknown; choose {names}.", dtype=echo(name), names=listed(DTYPES))
    return DTYPES[name]


def read_eps(eps: float) -> float:
    """eps as a float. Raises NormvizError unless it is from 1e-30 to 1 (torch's BatchNorm refuses 0)."""
    return read_number("eps", eps, SMALLEST_EPS, 1)


def example_group(dtype: str, distance: float = 0.0, size: int = SIZE, seed: int = 0, spread: float = 1.0) -> Tensor:
    """One statistics group: normal noise around ``distance``, rounded to the dtype.

    dtype     "float16", "bfloat16", "float32" or "float64".
    distance  the mean of the distribution, 0 to 10^7.
    size      the number of values, 2 to 1,024.
    seed      of the noise, which is the same at every distance and in every dtype.
    spread    the standard deviation of the distribution, 10^-12 to 10^3.

    Returns a tensor (size,) of the dtype; infinite beyond the largest number of the dtype (65,504 in float16).
    Raises NormvizError for other values.

    >>> example_group("bfloat16", distance=1000, size=4).tolist()  # bfloat16 has 8 bits: a spacing of 4 here
    [1000.0, 1000.0, 996.0, 1000.0]
    """
    distance = read_number("distance", distance, 0, LARGEST_DISTANCE)
    spread = read_number("spread", spread, SMALLEST_SPREAD, LARGEST_SPREAD)
    generator = torch.Generator().manual_seed(read_integer("seed", seed, SEEDS))
    noise = torch.randn(read_integer("size", size, GROUP_SIZES), generator=generator, dtype=torch.float64)
    return (distance + spread * noise).to(read_dtype(dtype))


def _channels_last(x: Tensor, eps: float) -> Tensor:
    """GroupNorm of one group on (1, n, 1, 1) in the memory format channels_last."""
    n = len(x)
    return F.group_norm(x.contiguous().as_strided((1, n, 1, 1), (n, 1, n, n)), 1, eps=eps)


# torch's layers without gamma and beta, each with the shape in which n numbers are one statistics group for it.
TORCH_LAYERS: dict[str, Callable[[Tensor, float], Tensor]] = {
    "LayerNorm": lambda x, eps: F.layer_norm(x[None], x.shape, eps=eps),
    "BatchNorm1d": lambda x, eps: F.batch_norm(x[:, None], None, None, training=True, eps=eps),
    "GroupNorm": lambda x, eps: F.group_norm(x[None, None], 1, eps=eps),
    "InstanceNorm1d": lambda x, eps: F.instance_norm(x[None, None], eps=eps),
}
# On the CPU, torch's only layer that computes the mean of x^2 minus the squared mean.
CHANNELS_LAST = "GroupNorm, channels_last"
LAYERS = TORCH_LAYERS | {CHANNELS_LAST: _channels_last}


@torch.no_grad()
def torch_output(name: str, x: Tensor, eps: float) -> Tensor:
    """The output of a layer of ``LAYERS`` with ``x`` (n,) as one statistics group: (n,), of x's dtype."""
    return LAYERS[name](x, eps).flatten()


def exact_variance(x: Tensor) -> Fraction:
    """The biased variance of ``x`` (n,) without rounding, in integer arithmetic: (n sum x^2 - (sum x)^2) / n^2.

    Raises NormvizError if a number is not finite.

    >>> exact_variance(torch.tensor([1.0, 2.0, 4.0]))
    Fraction(14, 9)
    """
    if not bool(x.isfinite().all()):
        raise NormvizError(
            "x contains numbers that are not finite in {dtype}; choose values closer to 0.",
            dtype=str(x.dtype).removeprefix("torch."),
        )
    ratios = [value.as_integer_ratio() for value in x.double().tolist()]
    scale = max(denominator for numerator, denominator in ratios)  # all are powers of two
    integers = [numerator * (scale // denominator) for numerator, denominator in ratios]
    n, total = len(integers), sum(integers)
    return Fraction(n * sum(value * value for value in integers) - total * total, (n * scale) ** 2)


def root_mean_square(x: Tensor) -> float:
    """sqrt(mean(x^2)), in float64; NaN if x contains NaN."""
    return float(x.double().square().mean().sqrt())
