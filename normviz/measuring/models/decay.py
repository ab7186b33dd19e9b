"""Which gammas and betas of a model's norms an optimizer decays."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from normviz.measuring.models.kept import Called
from normviz.measuring.models.norms import NormRow
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _, align, ngettext

OF_BETAS = ("beta", "bias", "shift", "offset")  # parts of names, for a norm without values


@dataclass(frozen=True)
class DecayedParameter:
    """A gamma or a beta that an optimizer decays.

    name          as in ``model.named_parameters()``
    role          "gamma", "1 + gamma" of a norm that multiplies by that, or "beta"
    weight_decay  of its param group
    """

    name: str
    role: str
    weight_decay: float


@dataclass(frozen=True, repr=False)
class Decayed:
    """The gammas and betas of norms that an optimizer decays.

    optimizer   the name of its class
    parameters  those with a weight_decay other than 0, in the order of the norms
    of          the number of all gammas and betas of these norms that the optimizer trains
    """

    optimizer: str
    parameters: tuple[DecayedParameter, ...]
    of: int

    @property
    def remarks(self) -> tuple[str, ...]:
        """How many there are, what decay does to them, and what to do."""
        remarks = [
            ngettext(
                "{optimizer} decays {decayed:,} of {n:,} parameter of the norms.",
                "{optimizer} decays {decayed:,} of {n:,} parameters of the norms.",
                self.of, optimizer=self.optimizer, decayed=len(self.parameters),
            )
        ]  # fmt: skip
        roles = {one.role for one in self.parameters}
        if "gamma" in roles:
            remarks.append(
                _("Weight decay pulls gamma and beta to 0, not to the identity, which has gamma = 1 and beta = 0.")
            )
        if "1 + gamma" in roles:
            remarks.append(_("A norm that multiplies by 1 + gamma is pulled to the identity: there, gamma = 0."))
        if roles:
            remarks.append(_("To leave them out, give them a param group of their own, with weight_decay=0."))
        return tuple(remarks)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON. The keys are the names of its attributes.

        >>> Decayed("AdamW", (DecayedParameter("norm.bias", "beta", 0.01),), 2).to_dict()["parameters"]
        [{'name': 'norm.bias', 'role': 'beta', 'weight_decay': 0.01}]
        """
        return {
            "optimizer": self.optimizer,
            "parameters": [vars(one) for one in self.parameters],
            "of": self.of,
            "remarks": list(self.remarks),
        }

    def __str__(self) -> str:
        table = [
            (_("parameter"), _("role"), "weight_decay"),
            *((one.name, one.role, f"{one.weight_decay:g}") for one in self.parameters),
        ]
        return "\n".join([*([align(table), ""] if self.parameters else []), *self.remarks])

    __repr__ = __str__


def decayed(rows: Iterable[NormRow], optimizer: object) -> Decayed:
    """The gammas and betas of the norms that the optimizer decays. Raises NormvizError for something else, and if it has none of them."""
    groups = getattr(optimizer, "param_groups", None)
    kind = type(optimizer).__name__
    if not isinstance(groups, list):
        raise NormvizError("{kind} is not an optimizer of torch; give one, such as torch.optim.AdamW.", kind=kind)
    decay = {id(one): float(group.get("weight_decay", 0)) for group in groups for one in group["params"]}
    found = {id(one): (name, role, one) for row in rows for name, role, one in _learned(row)}
    trained = [(id(one), name, role) for name, role, one in found.values() if one.requires_grad and id(one) in decay]
    if found and not any(key in decay for key in found):
        raise NormvizError(
            "{kind} has none of the parameters of these norms; give the optimizer of this model.", kind=kind
        )
    parameters = (DecayedParameter(name, role, decay[key]) for key, name, role in trained if decay[key])
    return Decayed(kind, tuple(parameters), len(trained))


def _learned(row: NormRow) -> Iterator[tuple[str, str, nn.Parameter]]:
    """The name, the role and the parameter of each gamma and beta of a norm."""
    gamma = "1 + gamma" if row.norm is not None and row.norm.zero_centered_gamma else "gamma"
    for place, (name, parameter) in enumerate(row.learned.items()):
        yield name, "beta" if _is_beta(row, name, place) else gamma, parameter


def _is_beta(row: NormRow, name: str, place: int) -> bool:
    """Whether the parameter is added to the output: 1 more adds 1 to each element. Without values, by its name."""
    own = None if row.kept is None or row.kept.others else _own_place(row, row.kept.module, name, place)
    if row.kept is None or own is None:
        return any(part in name.rpartition(".")[2].lower() for part in OF_BETAS)
    module = copy.deepcopy(row.kept.module)
    with torch.no_grad():
        before = module(row.kept.x)
        list(module.parameters())[own].add_(1)
        after = module(row.kept.x)
    return isinstance(before, Tensor) and torch.allclose(after - before, torch.ones_like(before), atol=1e-3)


def _own_place(row: NormRow, module: nn.Module, name: str, place: int) -> int | None:
    """Where the module that runs the norm again has the parameter of this name and place in the row; None if that is unknown."""
    names = [own for own, _parameter in module.named_parameters()]
    if len(row.learned) == len(names):
        return place
    last = name.rpartition(".")[2]
    if last in names:  # a row of several norms, or a function with a gamma that is calculated
        return names.index(last)
    return None if isinstance(module, Called) or not names or len(row.learned) % len(names) else place % len(names)
