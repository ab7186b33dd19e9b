"""What a reader of a notebook brings to a view: an x, and a module with its own gamma, beta and running statistics."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from torch import Tensor

from normviz.analysis.examples import from_values
from normviz.analysis.forward import Values
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm

OWN = "own"  # the name of the reader's own x among the example data, and of the module's own values among those of gamma and beta


@dataclass(frozen=True, eq=False)
class Own:
    """A reader's own tensors. No link holds them, so they are compared by identity.

    x       the tensor; None if only a shape was given
    layer   of the module
    values  its gamma, beta and running statistics; None if the layer was given as text
    """

    x: Tensor | None = None
    layer: Layer | Norm | None = None
    values: Values | None = None

    def has_x(self, shape: tuple[int, ...]) -> bool:
        """Whether x has this shape."""
        return self.x is not None and tuple(self.x.shape) == shape

    def has_values(self, layer: Layer | Norm) -> bool:
        """Whether the module's tensors are those of ``layer``, which may differ from the module in eps and in its mode."""
        own = self.layer
        if self.values is None or not isinstance(own, Layer) or not isinstance(layer, Layer) or own.name != layer.name:
            return False
        return layer.with_(eps=own.given["eps"], training=own.training) == own

    def from_values(self, values: tuple[float, ...], shape: tuple[int, ...]) -> Tensor:
        """An x with these values, of the reader's own dtype and on the same device."""
        x = from_values(values, shape)
        return x if self.x is None else x.to(self.x)

    def numbers(self, most: int, largest: float) -> tuple[float, ...] | None:
        """The values of x, row-major; None if there are more than ``most``, or one that is not from -largest to largest."""
        if self.x is None or prod(self.x.shape) > most or not bool((self.x.abs() <= largest).all()):
            return None
        return tuple(map(float, self.x.flatten().tolist()))
