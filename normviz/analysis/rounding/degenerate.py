"""Groups without spread: a constant x, and groups of one element, in every layer of the catalogue.

Gamma is 2 and beta 1/2 where a layer has them, so that they can be told from the normalized value.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from normviz.analysis.checks import SEEDS, read_integer, read_number
from normviz.analysis.forward import Values, run_module, trace
from normviz.analysis.rounding.groups import read_dtype
from normviz.layers.axes import parse_layout
from normviz.layers.errors import NormvizError
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.sharing import counts

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
    """What one layer makes of groups without spread.

    layer      its call
    shape      x's
    x          what went in
    in_torch   whether torch has the layer; the output is its own then, else ours
    output     what came out, or None
    refusal    torch's own words where it refuses, or None
    beta       the layer's beta, 0 where it has none
    from_beta  the largest difference between the output and beta; None where it refuses
    from_sign  the largest difference between the output and sign(x) * gamma + beta; None where it refuses
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


def constant_groups(value: float = 1234.567, dtype: str = "float32") -> tuple[Degenerate, ...]:
    """Every layer of the catalogue on an x whose elements are all ``value``: beta by the formula, or sign(x) * gamma from RMSNorm.

    value  -1e30 to 1e30; what is no short binary fraction shows the rounding of means.
    dtype  "float16", "bfloat16", "float32" or "float64".

    Raises NormvizError for other values, or where the type ends before the value does.

    >>> [(d.layer, d.from_sign < 1e-6) for d in constant_groups() if d.layer.startswith("RMS")]
    [('RMSNorm([3, 4, 4])', True)]
    """
    kind, value = read_dtype(dtype), read_number("value", value, -LARGEST_VALUE, LARGEST_VALUE)
    if abs(value) > torch.finfo(kind).max:
        raise NormvizError(
            f"value={value:g} is beyond {dtype}, which ends at {torch.finfo(kind).max:g}; give a smaller one."
        )
    return tuple(_outcome(text, torch.full(shape, value, dtype=kind)) for text, shape in CONSTANT)


def single_elements(scale: float = 1000.0, dtype: str = "float32", seed: int = 0) -> tuple[Degenerate, ...]:
    """Every layer of the catalogue on groups of one element: the element is its own mean.

    scale  standard deviation of x, 0 to 10,000; larger numbers make more noise where there is any.
    dtype  "float16", "bfloat16", "float32" or "float64".
    seed   of x.

    Raises NormvizError for other values.

    >>> [d.refusal for d in single_elements() if d.layer == "BatchNorm1d(4)"]
    ['Expected more than 1 value per channel when training, got input size torch.Size([1, 4])']
    """
    kind, scale = read_dtype(dtype), read_number("scale", scale, 0, 1e4)
    generator = torch.Generator().manual_seed(read_integer("seed", seed, SEEDS))
    noise = [torch.randn(shape, generator=generator, dtype=torch.float64) for _, shape in SINGLE]
    return tuple(_outcome(text, (scale * x).to(kind)) for (text, _), x in zip(SINGLE, noise, strict=True))


def _outcome(text: str, x: Tensor) -> Degenerate:
    layer, shape = Layer.parse(text), tuple(x.shape)
    assert isinstance(layer, Layer)
    norm = layer.norm(parse_layout(layer.kind.layout(x.ndim), x.ndim))
    in_torch = layer.kind.module is not None
    values = _values(layer, norm, x)
    try:
        y = run_module(layer, x, values) if in_torch else trace(norm, x, values).output
    except (ValueError, RuntimeError) as error:
        return Degenerate(text, shape, x, in_torch, None, str(error), 0.0, None, None)
    gamma, beta = GAMMA if norm.params is not None else 1.0, BETA if norm.bias else 0.0
    gaps = [
        float((y.double() - wanted).abs().max()) for wanted in (torch.tensor(beta), x.double().sign() * gamma + beta)
    ]
    return Degenerate(text, shape, x, in_torch, y, None, beta, gaps[0], gaps[1])


def _values(layer: Layer, norm: Norm, x: Tensor) -> Values:
    found = counts(norm, tuple(x.shape))
    channels = found.statistics if layer.running else None
    return Values(
        gamma=None if found.gamma_shape is None else torch.full(found.gamma_shape, GAMMA, dtype=x.dtype),
        beta=None if found.beta_shape is None else torch.full(found.beta_shape, BETA, dtype=x.dtype),
        running_mean=None if channels is None else torch.zeros(channels, dtype=x.dtype),
        running_var=None if channels is None else torch.ones(channels, dtype=x.dtype),
    )
