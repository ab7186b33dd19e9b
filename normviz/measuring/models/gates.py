"""What a norm does with a tensor that it is given beside x, such as the gate of Mamba's norms."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from normviz.measuring import probe
from normviz.measuring.models.kept import LIKE_X, Kept, WithOthers
from normviz.measuring.models.others import are_close
from normviz.texts.messages import _

FACTORS: dict[str, Callable[[Tensor], Tensor]] = {
    "silu(z)": F.silu, "sigmoid(z)": torch.sigmoid, "z": lambda z: z, "1 + z": lambda z: 1 + z, "gelu(z)": F.gelu,
    "tanh(z)": torch.tanh, "relu(z)": F.relu, "softplus(z)": F.softplus,
}  # fmt: skip


@dataclass(frozen=True)
class Gate:
    """What a tensor z beside x does.

    text     this, as a sentence
    neutral  the z at which the norm is as it is without z, apart from two factors; None if there is none
    before   the factor by which x is multiplied then
    after    the factor by which the output is multiplied then
    is_last  whether z changes the output, and not x
    """

    text: str
    neutral: float | None = 1.0
    before: float = 1.0
    after: float = 1.0
    is_last: bool = True


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
                return Gate(text, before=float(factor(ones).mean()), is_last=False)
        if are_close(y - with_other, z - other):
            return Gate(_("It adds z to its output, where z is a tensor given beside x."), 0.0)
        plain = f(x, torch.zeros_like(z))
        is_affine = are_close(y + f(x, -z), 2 * plain) and not are_close(plain, torch.zeros_like(y))  # y * (1 + z) + z
        return Gate(_("Its output depends on a tensor given beside x, too."), 0.0 if is_affine else None)


def alone(kept: Kept) -> Kept:
    """The norm without the tensors beside x, if it can be told from what it does with them; else as it is."""
    with suppress(Exception):  # of the module
        found = gate_of(copy.deepcopy(kept.module).float().cpu(), kept.others, tuple(kept.x.shape))
        gate = found or Gate("", 0.0, is_last=False)
        if gate.neutral is not None:
            module = WithOthers(kept.module, kept.others, gate.neutral, gate.before, gate.after)
            beside = gate.text if gate.is_last else ""
            return replace(kept, module=module.train(kept.module.training), others=(), beside=beside)
    return kept
