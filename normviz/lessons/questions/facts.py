"""Building blocks of facts: tensors, torch's own modules, outputs of layers by their text, and the option that is true."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.forward import largest_difference, run_module
from normviz.analysis.running.torch_module import buffers
from normviz.code.programs import KERAS_LAYERS
from normviz.layers.layer import Layer
from normviz.scene.scene import Scene
from normviz.scene.view import read
from normviz.texts.errors import NormvizError

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

ROUNDING = 1e-5  # larger than float32's rounding of outputs near 1


def only(**options: bool) -> str:
    """The key of the one option that is true. Raises NormvizError unless exactly one is.

    >>> only(rows=False, columns=6 == 2 * 3)
    'columns'
    """
    true = [key for key, is_true in options.items() if is_true]
    if len(true) != 1:
        raise NormvizError(f"exactly one of the options {list(options)} must be true, but these are: {true}.")
    return true[0]


def which(both: str = "both", neither: str = "neither", **pair: bool) -> str:
    """Which of two statements is true: the key of one of them, ``both`` or ``neither``.

    >>> which(layer=False, batch=True), which(layer=False, batch=False, neither="none")
    ('batch', 'none')
    """
    (first, is_first), (second, is_second) = pair.items()
    return only(
        **{
            both: is_first and is_second,
            first: is_first and not is_second,
            second: is_second and not is_first,
            neither: not is_first and not is_second,
        }
    )


def scene_of(query: str) -> Scene:
    """The scene of a page with this query."""
    return read(dict(parse_qsl(query))).scene


def x_of(query: str) -> Tensor:
    """The values of x on a page with this query."""
    x = scene_of(query).description.x
    assert x is not None
    return x


def skewness(x: Tensor) -> float:
    """The mean of the cubes of the standardized values: 0 for a symmetric distribution."""
    return float(((x - x.mean()) / x.std(correction=0)).pow(3).mean())


def module_of(layer: str, dtype: torch.dtype | None = None) -> nn.Module:
    """A fresh module of torch.nn, from the layer's text."""
    parsed = Layer.parse(layer)
    assert isinstance(parsed, Layer)
    return parsed.module(dtype)


def output(layer: str, x: object) -> Tensor:
    """The output of a fresh layer on x, computed by torch's own layer where torch has it.

    >>> from normviz.analysis.examples import from_values
    >>> output("RMSNorm(2, eps=0.0)", from_values((3.0, 3.0), (1, 2))).tolist()
    [[1.0, 1.0]]
    """
    e = describe(layer, x)
    assert e.x is not None
    return e.trace.output if e.torch_layer is None else run_module(e.torch_layer, e.x, e.layer_values())


def output_change(layer: str, x: Tensor, other: Tensor, where: Any = ...) -> float:
    """The largest change of a fresh layer's output at the index ``where`` when x is replaced by ``other``."""
    return largest_difference(output(layer, x)[where], output(layer, other)[where])


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Standard normal numbers of ``shape``, rounded to two decimals."""
    return example("normal", shape, tuple("abcdefgh"[: len(shape)]), seed)


def count_gammas(layer: str, shape: Sequence[int]) -> int:
    """The number of gammas of the layer on x of that shape; 0 if the layer has no gamma."""
    gamma_shape = describe(layer, tuple(shape)).counts.gamma_shape
    return 0 if gamma_shape is None else prod(gamma_shape)


def changed_buffers(layer: nn.Module, model: nn.Module, x: Tensor) -> int:
    """The number of the layer's buffers that a forward pass of the model changes."""
    before = [value.clone() for value in layer.buffers()]
    model(x)
    return sum(bool((one != other).any()) for one, other in zip(before, layer.buffers(), strict=True))


def count_buffers(layer: str) -> int:
    """The number of values that the layer keeps in buffers."""
    return sum(map(prod, buffers(layer).values()))


def keras_default(argument: str) -> float:
    """The default of "epsilon" or "momentum" in Keras's BatchNormalization.

    >>> keras_default("momentum")
    0.99
    """
    batch_norm = next(layer for layer in KERAS_LAYERS.layers if layer.name.endswith(".BatchNormalization"))
    return batch_norm.defaults[argument]
