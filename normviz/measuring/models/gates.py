"""What a norm does with a tensor that it is given beside x, such as the gate of Mamba's norms."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from normviz.measuring import probe
from normviz.measuring.models.kept import LIKE_X
from normviz.measuring.models.others import are_close
from normviz.texts.messages import _

FACTORS: dict[str, Callable[[Tensor], Tensor]] = {
    "silu(z)": F.silu, "sigmoid(z)": torch.sigmoid, "z": lambda z: z, "1 + z": lambda z: 1 + z, "gelu(z)": F.gelu,
    "tanh(z)": torch.tanh, "relu(z)": F.relu, "softplus(z)": F.softplus,
}  # fmt: skip


@dataclass(frozen=True)
class Gate:
    """What a tensor z beside x does.

    text    this, as a sentence
    before  x is multiplied by this, where all elements of z are 1
    after   the output is multiplied by this, where they are 1
    """

    text: str
    before: float = 1.0
    after: float = 1.0


def gate_of(module: nn.Module, others: tuple[Any, ...], shape: tuple[int, ...]) -> Gate | None:
    """What the tensors among its further arguments do; None if x + z is normalized, and if the output does not depend on z.

    Raises what the module raises on an x of this shape.
    """
    module = copy.deepcopy(module)

    def f(x: Tensor, z: Tensor) -> Tensor:
        output = module(x.clone(), *(z.clone() if one is LIKE_X else one for one in others))
        first: Tensor = output[0] if isinstance(output, tuple | list) else output
        return first

    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.data = probe.generic(tuple(parameter.shape), torch.float32, 50 + number) + 0.2
        x, z, other = (4 * probe.generic(shape, torch.float32, seed) - 2 for seed in (41, 42, 43))
        y, with_other, ones = f(x, z), f(x, other), torch.ones_like(z)
        if are_close(y, with_other) or are_close(f(x + z, torch.zeros_like(z)), y):
            return None
        for name, factor in FACTORS.items():
            if are_close(y * factor(other), with_other * factor(z)):
                text = _("It multiplies its output by {factor}, where z is a tensor given beside x.", factor=name)
                return Gate(text, after=float(factor(ones).mean()))
            if are_close(f(x * factor(z) / factor(ones), ones), y):
                text = _("It multiplies x by {factor} first, where z is a tensor given beside x.", factor=name)
                return Gate(text, before=float(factor(ones).mean()))
        if are_close(y - with_other, z - other):
            return Gate(_("It adds z to its output, where z is a tensor given beside x."))
        return Gate(_("Its output depends on a tensor given beside x, too."))
