"""What a question computes with: a layer's output by its text, and how far two tensors are apart."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from normviz.analysis.examples import example
from normviz.analysis.explanation import describe
from normviz.analysis.forward import largest_difference, run_module
from normviz.code.frameworks import KERAS_LAYERS

if TYPE_CHECKING:
    from torch import Tensor


def output(layer: str, x: Any) -> Tensor:
    """What a fresh layer makes of x: torch's own where torch has it.

    >>> from normviz.analysis.examples import from_values
    >>> output("RMSNorm(2, eps=0.0)", from_values((3.0, 3.0), (1, 2))).tolist()
    [[1.0, 1.0]]
    """
    e = describe(layer, x)
    assert e.x is not None
    return e.trace.output if e.torch_layer is None else run_module(e.torch_layer, e.x, e.layer_values())


def change(layer: str, x: Tensor, other: Tensor, where: Any = ...) -> float:
    """The largest change of a fresh layer's output, ``where`` one looks, when x is replaced by ``other``."""
    return largest_difference(output(layer, x)[where], output(layer, other)[where])


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Standard normal numbers of two decimals, of ``shape``."""
    return example("normal", shape, tuple("abcdefgh"[: len(shape)]), seed)


def keras_default(argument: str) -> float:
    """The default of "epsilon" or "momentum" in Keras's BatchNormalization.

    >>> keras_default("momentum")
    0.99
    """
    batch_norm = next(layer for layer in KERAS_LAYERS.layers if layer.name.endswith(".BatchNormalization"))
    return batch_norm.defaults[argument]


def gammas(layer: str, shape: Sequence[int]) -> int:
    """How many gammas the layer has on x of that shape; 0 where there is none."""
    found = describe(layer, tuple(shape)).counts.gamma_shape
    return 0 if found is None else prod(found)
