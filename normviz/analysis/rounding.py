"""Rounding: groups of numbers in each dtype, with exact variances; four ways to compute a variance; the size of eps; groups with zero variance."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, isnan, log10, nan

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from normviz.analysis import checks, forward
from normviz.layers.axes import parse_layout
from normviz.layers.layer import Layer, is_in_torch
from normviz.layers.sharing import counts
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import N_


def _is_computed(dtype: torch.dtype) -> bool:
    """Whether torch's layers compute this dtype on the CPU; LayerNorm of torch 2.2 has no float16."""
    try:
        F.layer_norm(torch.zeros(1, dtype=dtype), (1,))
    except RuntimeError:
        return False
    return True


ALL_DTYPES = torch.float16, torch.bfloat16, torch.float32, torch.float64
DTYPES = {forward.dtype_name(dtype): dtype for dtype in ALL_DTYPES if _is_computed(dtype)}
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
    return checks.read_number("eps", eps, SMALLEST_EPS, 1)


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
    distance = checks.read_number("distance", distance, 0, LARGEST_DISTANCE)
    spread = checks.read_number("spread", spread, SMALLEST_SPREAD, LARGEST_SPREAD)
    generator = torch.Generator().manual_seed(checks.read_integer("seed", seed, checks.SEEDS))
    noise = torch.randn(checks.read_integer("size", size, GROUP_SIZES), generator=generator, dtype=torch.float64)
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
            dtype=forward.dtype_name(x.dtype),
        )
    ratios = [value.as_integer_ratio() for value in x.double().tolist()]
    scale = max(denominator for numerator, denominator in ratios)  # all are powers of two
    integers = [numerator * (scale // denominator) for numerator, denominator in ratios]
    n, total = len(integers), sum(integers)
    return Fraction(n * sum(value * value for value in integers) - total * total, (n * scale) ** 2)


def root_mean_square(x: Tensor) -> float:
    """sqrt(mean(x^2)), in float64; NaN if x contains NaN."""
    return float(x.double().square().mean().sqrt())


# Four ways to compute a variance, and their errors far from zero.
#
# Every intermediate result has the dtype of x. Means are torch's own reductions, ``x.mean()``: they add pairwise, and accumulate
# half precision in float32 with one rounding at the end, so the errors come from the method and not from the summation. Welford's
# method has no reduction: it rounds after every step.


MOST_DISTANCES = 16


def one_pass(x: Tensor) -> Tensor:
    """E[x^2] - E[x]^2: far from zero, two large and almost equal numbers, whose difference is mostly rounding error.

    x   (..., n), any floating-point dtype.

    Returns the biased variance along the last axis, of x's dtype: it can be negative.
    Source: labml's annotated LayerNorm.

    >>> one_pass(torch.tensor([1.0, 2.0, 3.0, 4.0])).item(), one_pass(torch.tensor([4096.0, 4097.0])).item()
    (1.25, 0.0)
    """
    return x.square().mean(-1) - x.mean(-1).square()


def two_passes(x: Tensor) -> Tensor:
    """E[(x - E[x])^2]: the mean first, then the mean of the squared deviations.

    >>> two_passes(torch.tensor([4096.0, 4097.0])).item()
    0.25
    """
    return (x - x.mean(-1, keepdim=True)).square().mean(-1)


def welford(x: Tensor) -> Tensor:
    """Welford's mean M and sum of squares S, updated for each number: M += (x - M_old) / k, S += (x - M_old)(x - M).

    Source: Welford 1962, "Note on a Method for Calculating Corrected Sums of Squares and Products".

    >>> welford(torch.tensor([4096.0, 4097.0])).item()
    0.25
    """
    mean = squares = torch.zeros_like(x[..., 0])
    for count, value in enumerate(x.unbind(-1), 1):
        deviation = value - mean
        mean = mean + deviation / count
        squares = squares + deviation * (value - mean)
    return squares / x.shape[-1]


def shifted(x: Tensor) -> Tensor:
    """``one_pass`` of x - K, where K is the first number: near zero there is no cancellation.

    >>> shifted(torch.tensor([4096.0, 4097.0])).item()
    0.25
    """
    return one_pass(x - x[..., :1])


METHODS: dict[str, Callable[[Tensor], Tensor]] = {
    "one_pass": one_pass,
    "two_passes": two_passes,
    "welford": welford,
    "shifted": shifted,
}
FLAX = "flax"
METHOD_LABELS = {
    "one_pass": "E[x²] − E[x]²",
    "two_passes": N_("two passes"),
    "welford": "Welford",
    "shifted": N_("shifted data"),
    FLAX: N_("Flax's default"),
}


def flax_fast(x: Tensor) -> Tensor:
    """max(0, E[x^2] - E[x]^2) in float32 or wider: Flax's default, ``use_fast_variance=True``, by its formula.

    x   (..., n), any floating-point dtype. float64 stays float64, as in JAX with ``jax_enable_x64``.

    Source: flax.linen.normalization, ``_compute_stats``.
    """
    return one_pass(x.to(torch.promote_types(x.dtype, torch.float32))).clamp(min=0)


@dataclass(frozen=True)
class Estimate:
    """The variance and the output of one group by one method.

    method        a key of ``METHODS``, ``FLAX``, or a layer of ``LAYERS``
    dtype         the dtype of the group, and of the arithmetic for the keys of ``METHODS``
    distance      of the group from zero
    var           the variance; for a torch layer it follows from the output's range: ((max x - min x) / (max y - min y))^2 - eps, which
                  is NaN if x is constant
    exact         the exact variance of the group after rounding to the dtype; NaN if that is not finite
    output_size   the root mean square of y, just below 1 without errors; NaN if any y is NaN
    """

    method: str
    dtype: str
    distance: float
    var: float
    exact: float
    output_size: float

    @property
    def error(self) -> float:
        """|var - exact| / exact; infinite if exact is 0 and var is not."""
        if self.exact == 0 and not isnan(self.var):
            return 0.0 if self.var == 0 else inf
        return abs(self.var - self.exact) / self.exact if self.exact else nan

    @property
    def negative(self) -> bool:
        """Whether the variance is below zero."""
        return self.var < 0

    @property
    def is_nan(self) -> bool:
        """Whether an output is NaN, because var + eps is negative."""
        return isnan(self.output_size)


def sweep(dtype: str, distances: Sequence[float] = DISTANCES, seed: int = 0, eps: float = 1e-5) -> tuple[Estimate, ...]:
    """The same noise at several distances from zero, by every method, by Flax's formula and by torch's own layers.

    dtype      "float16", "bfloat16", "float32" or "float64".
    distances  up to 16, each from 0 to 10^7.
    seed       of the noise, which has standard deviation 1.
    eps        1e-30 to 1.

    Raises NormvizError for other values.

    >>> [round(e.error, 2) for e in sweep("float32", (1e0, 1e4)) if e.method == "two_passes"]
    [0.0, 0.0]
    """
    eps = read_eps(eps)
    checks.check_count("distances", len(distances), MOST_DISTANCES)
    places = [checks.read_number("distance", distance, 0, LARGEST_DISTANCE) for distance in distances]
    x = torch.stack([example_group(dtype, distance, seed=seed) for distance in places])
    results = {}
    for name, method in (METHODS | {FLAX: flax_fast}).items():
        var = method(x)
        centered = x.to(var.dtype) - x.to(var.dtype).mean(-1, keepdim=True)  # Flax's arithmetic is wider than x
        results[name] = (var, (centered / torch.sqrt(var[..., None] + eps)).to(x.dtype))
    for name in LAYERS:
        y = torch.stack([torch_output(name, one, eps) for one in x])
        span_x, span_y = (values.double().amax(-1) - values.double().amin(-1) for values in (x, y))
        results[name] = ((span_x / span_y).square() - eps, y)
    exact = [float(exact_variance(group)) if bool(group.isfinite().all()) else nan for group in x]
    return tuple(
        Estimate(name, dtype, distance, float(var[i]), exact[i], root_mean_square(y[i]))
        for i, distance in enumerate(places)
        for name, (var, y) in results.items()
    )


# The size of eps: which dtypes can represent it, and its place inside or outside the square root.
#
# Normalization multiplies the spread sqrt(var) by 1 / sqrt(var + eps), so the size (root mean square) of the output is
# sqrt(var / (var + eps)): about 1 if eps is far below the variance, about 0 if eps is far above it.


EPSILONS = (1e-3, 1e-5, 1e-6, 1e-12)  # Keras; torch; Flax; BERT
MOST_EPSILONS = 8
VARIANCES = tuple(10.0**power for power in range(-16, 3))
MOST_VARIANCES = 256
SMALLEST_VARIANCE, LARGEST_VARIANCE = 1e-30, 1e30


def by_hand(x: Tensor, eps: float) -> Tensor:
    """(x - mean) / sqrt(var + eps) along the last axis with every step in x's dtype, as in a hand-written layer.

    >>> by_hand(torch.tensor([2.0, 2.0], dtype=torch.float16), eps=1e-12).tolist()  # float16 has no 1e-12: 0 / 0
    [nan, nan]
    """
    centered = x - x.mean(-1, keepdim=True)
    return centered / torch.sqrt(centered.square().mean(-1, keepdim=True) + eps)


@dataclass(frozen=True)
class EpsOutcome:
    """One group of small variance with one eps in one dtype. Sizes are root mean squares of the output.

    dtype     the dtype of x
    eps       the given eps
    rounded   eps rounded to the dtype: 0 if it underflows
    var       the exact variance of x after rounding to the dtype
    exact     sqrt(var / (var + eps)), the size by the formula
    by_hand   the size from a layer with every step in the dtype; if var + eps is 0 there, infinite, or NaN for 0 / 0
    by_torch  the size from each of torch's own layers, by name. For half precision they compute statistics in float32, but
              BatchNorm and InstanceNorm round 1 / sqrt(var + eps) to x's dtype: NaN above 65,504 in float16
    """

    dtype: str
    eps: float
    rounded: float
    var: float
    exact: float
    by_hand: float
    by_torch: Mapping[str, float]


def eps_table(spread: float = 1e-4, seed: int = 0, epsilons: Sequence[float] = EPSILONS) -> tuple[EpsOutcome, ...]:
    """A group with standard deviation ``spread`` around 0, with every eps in every dtype.

    spread    10^-12 to 10^3, the root of the variance.
    seed      of the noise.
    epsilons  up to 8, each from 1e-30 to 1.

    Raises NormvizError for other values.

    >>> next(o.rounded for o in eps_table() if o.dtype == "float16" and o.eps == 1e-12)
    0.0
    """
    checks.check_count("epsilons", len(epsilons), MOST_EPSILONS)
    values = [read_eps(eps) for eps in epsilons]
    groups = {dtype: example_group(dtype, seed=seed, spread=spread) for dtype in DTYPES}
    exact = {dtype: float(exact_variance(x)) for dtype, x in groups.items()}
    return tuple(
        EpsOutcome(
            dtype=dtype,
            eps=eps,
            rounded=float(torch.tensor(eps, dtype=x.dtype)),
            var=exact[dtype],
            exact=(exact[dtype] / (exact[dtype] + eps)) ** 0.5,
            by_hand=root_mean_square(by_hand(x, eps)),
            by_torch={name: root_mean_square(torch_output(name, x, eps)) for name in TORCH_LAYERS},
        )
        for dtype, x in groups.items()
        for eps in values
    )


@dataclass(frozen=True)
class NoEps:
    """RMSNorm with eps=None on one group. Sizes are root mean squares of the output.

    computing  the dtype in which the installed torch computes RMSNorm
    used       the dtype whose machine epsilon it uses for eps=None
    by_torch   the size from torch's RMSNorm
    sizes      the size by the formula with the machine epsilon of x's own dtype, and of the dtype in which torch's other layers compute
    """

    computing: str
    used: str
    by_torch: float
    sizes: Mapping[str, float]

    @property
    def eps(self) -> float:
        """The machine epsilon that torch uses."""
        return torch.finfo(DTYPES[self.used]).eps


def no_eps(dtype: str, spread: float = 1e-3, seed: int = 0) -> NoEps:
    """The eps of RMSNorm with eps=None, from the size of its output: sqrt(ms / (ms + eps)), where ms is the mean of x^2.

    dtype   "float16", "bfloat16", "float32" or "float64".
    spread  standard deviation of x around 0, 10^-12 to 10^3; eps only matters if it is small.
    seed    of the noise.

    Raises NormvizError for other values.

    >>> found = no_eps("float32")
    >>> found.used, found.eps, abs(found.by_torch - found.sizes["float32"]) < 1e-3
    ('float32', 1.1920928955078125e-07, True)
    """
    x = example_group(dtype, seed=seed, spread=spread)
    square = float(x.double().square().mean())
    with torch.no_grad():
        y = nn.RMSNorm(len(x), eps=None, elementwise_affine=False)(x)
    kinds = dict.fromkeys((x.dtype, forward.COMPUTES_IN[x.dtype]))
    sizes = {forward.dtype_name(kind): (square / (square + torch.finfo(kind).eps)) ** 0.5 for kind in kinds}
    used, computing = forward.dtype_of_default_eps(x.dtype), forward.rms_norm_computes_in(x.dtype)
    return NoEps(forward.dtype_name(computing), forward.dtype_name(used), root_mean_square(y), sizes)


@dataclass(frozen=True)
class EpsPlacement:
    """eps inside or outside the square root, at one variance. Sizes are root mean squares of the output.

    inside   of (x - mean) / sqrt(var + eps)
    outside  of (x - mean) / (sqrt(var) + eps)
    """

    var: float
    inside: float
    outside: float


def eps_placement(eps: float = 1e-5, variances: Sequence[float] = VARIANCES) -> tuple[EpsPlacement, ...]:
    """A group of each variance, normalized with eps inside and outside the square root.

    eps        1e-30 to 1.
    variances  up to 256, each from 1e-30 to 1e30.

    Raises NormvizError for other values.
    Source: inside in Ioffe & Szegedy 2015, algorithm 1, and in all layers of torch.nn.

    >>> [(round(p.inside, 3), round(p.outside, 3)) for p in eps_placement(1e-5, (1e-10, 1e-5, 1))]
    [(0.003, 0.5), (0.707, 0.997), (1.0, 1.0)]
    """
    eps = read_eps(eps)
    checks.check_count("variances", len(variances), MOST_VARIANCES)
    found = [checks.read_number("variance", v, SMALLEST_VARIANCE, LARGEST_VARIANCE) for v in variances]
    var = torch.tensor(found, dtype=torch.float64)
    sizes = (var / (var + eps)).sqrt(), var.sqrt() / (var.sqrt() + eps)
    return tuple(EpsPlacement(*values) for values in zip(*(column.tolist() for column in (var, *sizes)), strict=True))


# Groups with zero variance: a constant x, and groups of one element, in every layer of the catalogue.
#
# gamma is 2 and beta is 1/2 in layers that have them, so that they differ from the normalized value.


GAMMA, BETA = 2.0, 0.5
LARGEST_VALUE = 1e30
CONSTANT = (
    ("LayerNorm([3, 4, 4])", (2, 3, 4, 4)),
    ("RMSNorm([3, 4, 4])", (2, 3, 4, 4)),
    ("BatchNorm1d(3)", (8, 3)),
    ("BatchNorm2d(3)", (2, 3, 4, 4)),
    ("BatchNorm2d(3).eval()", (2, 3, 4, 4)),
    ("BatchNorm3d(3)", (2, 3, 2, 4, 4)),
    ("SyncBatchNorm(3)", (2, 3, 4, 4)),
    ("InstanceNorm1d(3)", (2, 3, 8)),
    ("InstanceNorm2d(3)", (2, 3, 4, 4)),
    ("InstanceNorm3d(3)", (2, 3, 2, 4, 4)),
    ("GroupNorm(2, 4)", (2, 4, 4, 4)),
    ("ChannelsFirstLayerNorm(3)", (2, 3, 4, 4)),
    ("DimNorm(4)", (2, 3, 4)),
)
SINGLE = (
    ("LayerNorm(1)", (4, 1)),
    ("RMSNorm(1)", (4, 1)),
    ("BatchNorm1d(4)", (1, 4)),
    ("BatchNorm1d(4).eval()", (1, 4)),
    ("BatchNorm2d(4)", (1, 4, 1, 1)),
    ("BatchNorm3d(4)", (1, 4, 1, 1, 1)),
    ("SyncBatchNorm(4)", (1, 4)),
    ("InstanceNorm1d(4)", (2, 4, 1)),
    ("InstanceNorm2d(4)", (2, 4, 1, 1)),
    ("InstanceNorm2d(4, track_running_stats=True).eval()", (2, 4, 1, 1)),
    ("InstanceNorm3d(4)", (2, 4, 1, 1, 1)),
    ("GroupNorm(4, 4)", (2, 4)),
    ("GroupNorm(4, 4)", (1, 4)),
    ("ChannelsFirstLayerNorm(1)", (4, 1)),
    ("DimNorm(4, dim=0)", (1, 4)),
)


@dataclass(frozen=True, eq=False)
class Degenerate:
    """The output of one layer for groups with zero variance.

    layer      its constructor call
    shape      of x
    x          the input
    in_torch   whether torch has the layer; if so, the output is torch's
    output     the output; None if torch refuses x
    refusal    torch's own error message, or None
    beta       the layer's beta, 0 if it has none
    from_beta  the largest difference between the output and beta; None if torch refuses x
    from_sign  the largest difference between the output and sign(x) * gamma + beta; None if torch refuses x
    """

    layer: str
    shape: tuple[int, ...]
    x: Tensor
    in_torch: bool
    output: Tensor | None
    refusal: str | None
    beta: float
    from_beta: float | None
    from_sign: float | None


def _of_torch(cases: Iterable[tuple[str, tuple[int, ...]]]) -> list[tuple[str, tuple[int, ...]]]:
    """The cases whose layers the installed torch has."""
    return [(text, shape) for text, shape in cases if is_in_torch(text)]


def constant_groups(value: float = 1234.567, dtype: str = "float32") -> tuple[Degenerate, ...]:
    """Every layer of the catalogue on a constant x: the formula gives beta, and sign(x) * gamma for RMSNorm.

    value  of all elements, -1e30 to 1e30; unless it is a short binary fraction, the mean is rounded.
    dtype  "float16", "bfloat16", "float32" or "float64".

    Raises NormvizError for other values, or if ``value`` is too large for the dtype.

    >>> [(d.layer, d.from_sign < 1e-6) for d in constant_groups() if d.layer.startswith("RMS")]
    [('RMSNorm([3, 4, 4])', True)]
    """
    kind, value = read_dtype(dtype), checks.read_number("value", value, -LARGEST_VALUE, LARGEST_VALUE)
    if abs(value) > torch.finfo(kind).max:
        raise NormvizError(
            "value={value:g} is too large for {dtype}, whose largest number is {largest:g}; give a smaller value.",
            value=value,
            dtype=dtype,
            largest=torch.finfo(kind).max,
        )
    return tuple(_outcome(text, torch.full(shape, value, dtype=kind)) for text, shape in _of_torch(CONSTANT))


def single_elements(scale: float = 1000.0, dtype: str = "float32", seed: int = 0) -> tuple[Degenerate, ...]:
    """Every layer of the catalogue on groups of one element, which is its own mean.

    scale  standard deviation of x, 0 to 10,000; rounding errors grow with it.
    dtype  "float16", "bfloat16", "float32" or "float64".
    seed   of x.

    Raises NormvizError for other values.

    >>> [d.refusal for d in single_elements() if d.layer == "BatchNorm1d(4)"]
    ['Expected more than 1 value per channel when training, got input size torch.Size([1, 4])']
    """
    kind, scale = read_dtype(dtype), checks.read_number("scale", scale, 0, 1e4)
    generator = torch.Generator().manual_seed(checks.read_integer("seed", seed, checks.SEEDS))
    cases = _of_torch(SINGLE)
    noise = [torch.randn(shape, generator=generator, dtype=torch.float64) for _, shape in cases]
    return tuple(_outcome(text, (scale * x).to(kind)) for (text, _), x in zip(cases, noise, strict=True))


def _outcome(text: str, x: Tensor) -> Degenerate:
    layer, shape = Layer.parse(text), tuple(x.shape)
    assert isinstance(layer, Layer)
    norm = layer.norm(parse_layout(layer.kind.layout(x.ndim), x.ndim))
    in_torch = layer.kind.module is not None
    values = forward.Values.constant(counts(norm, shape), layer.running, GAMMA, BETA, dtype=x.dtype)
    try:
        y = forward.run_module(layer, x, values) if in_torch else forward.trace(norm, x, values).output
    except (ValueError, RuntimeError) as error:
        return Degenerate(text, shape, x, in_torch, None, str(error), 0.0, None, None)
    gamma, beta = GAMMA if norm.params is not None else 1.0, BETA if norm.bias else 0.0
    from_beta = float((y.double() - beta).abs().max())
    from_sign = float((y.double() - (x.double().sign() * gamma + beta)).abs().max())
    return Degenerate(text, shape, x, in_torch, y, None, beta, from_beta, from_sign)
