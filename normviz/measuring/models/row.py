"""One normalization of a model."""

from __future__ import annotations

from dataclasses import dataclass

from normviz.layers.messages import _
from normviz.layers.norm import Norm
from normviz.measuring.models.recording import Shape


@dataclass(frozen=True)
class NormRow:
    """A normalization that ran.

    name        of the module, as in ``model.named_modules()``; of the calling module for a function
    layer       the text of the torch layer that computes the same, or None
    shape       of its first input
    reduced     the numbers of the axes over which its statistics are taken; in eval mode, were taken
    norm        the same as a Norm
    statistics  the number of means and variances
    parameters  the number of elements of its parameters
    buffers     the number of elements of its buffers
    calls       how often it ran
    notes       what is legal and seldom intended
    function    the function that was called, such as "F.layer_norm"; empty for a module
    kind        the name of the module's class
    plus_one    whether it multiplies by 1 + gamma
    """

    name: str
    layer: str | None
    shape: Shape
    reduced: tuple[int, ...]
    norm: Norm
    statistics: int
    parameters: int
    buffers: int
    calls: int
    notes: tuple[str, ...] = ()
    function: str = ""
    kind: str = ""
    plus_one: bool = False

    @property
    def title(self) -> str:
        """The layer, or the Norm if torch has no such layer."""
        title = self.layer or repr(self.norm)
        return _("{layer} with 1 + gamma", layer=title) if self.plus_one else title
