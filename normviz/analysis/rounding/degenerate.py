"""Groups with zero variance: a constant x, and groups of one element, in every layer of the catalogue.

gamma is 2 and beta is 1/2 in layers that have them, so that they differ from the normalized value.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from normviz.analysis.checks import SEEDS, read_integer, read_number
from normviz.analysis.forward import Values, run_module, trace
from normviz.analysis.rounding.groups import read_dtype
from normviz.layers.axes import parse_layout
from normviz.layers.layer import Layer, is_in_torch
from normviz.layers.sharing import counts
from normviz.texts.errors import NormvizError

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
    kind, value = read_dtype(dtype), read_number("value", value, -LARGEST_VALUE, LARGEST_VALUE)
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
    kind, scale = read_dtype(dtype), read_number("scale", scale, 0, 1e4)
    generator = torch.Generator().manual_seed(read_integer("seed", seed, SEEDS))
    cases = _of_torch(SINGLE)
    noise = [torch.randn(shape, generator=generator, dtype=torch.float64) for _, shape in cases]
    return tuple(_outcome(text, (scale * x).to(kind)) for (text, _), x in zip(cases, noise, strict=True))


def _outcome(text: str, x: Tensor) -> Degenerate:
    layer, shape = Layer.parse(text), tuple(x.shape)
    assert isinstance(layer, Layer)
    norm = layer.norm(parse_layout(layer.kind.layout(x.ndim), x.ndim))
    in_torch = layer.kind.module is not None
    values = Values.constant(counts(norm, shape), layer.running, GAMMA, BETA, dtype=x.dtype)
    try:
        y = run_module(layer, x, values) if in_torch else trace(norm, x, values).output
    except (ValueError, RuntimeError) as error:
        return Degenerate(text, shape, x, in_torch, None, str(error), 0.0, None, None)
    gamma, beta = GAMMA if norm.params is not None else 1.0, BETA if norm.bias else 0.0
    from_beta = float((y.double() - beta).abs().max())
    from_sign = float((y.double() - (x.double().sign() * gamma + beta)).abs().max())
    return Degenerate(text, shape, x, in_torch, y, None, beta, from_beta, from_sign)
