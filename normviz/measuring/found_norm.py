"""The Norm that computes the same as a measured function, if there is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

import numpy as np
import torch

from normviz.layers import sharing
from normviz.layers.norm import Norm
from normviz.measuring.formula import Eps, Ids, Quotient
from normviz.measuring.groups import Axis, from_ids, same_partition
from normviz.measuring.measurement import BIASED, Measurement, constant_of
from normviz.texts.errors import NormvizError

USUAL_EPS = 1e-5  # assumed where eps cannot be measured, as with stored statistics that no module has


def norm_of(found: Measurement, names: Sequence[str]) -> Norm | None:
    """The Norm, with these axis names; None if no Norm computes the same.

    A difference in the values of gamma and beta does not matter: a Norm has none.
    """
    formula, eps = found.formula, found.eps
    if formula is None or found.ids is None or found.divisor != BIASED or not found.agrees:
        return None
    if formula.kind is not None and formula.kind.center != formula.kind.spread:
        return None
    if eps is not None and eps.place != "inside":
        return None
    center = formula.kind is None or formula.kind.center
    stats, gamma = from_ids(found.ids), parameter_ids(found)
    shared = None if gamma is None else from_ids(gamma)
    if stats is None or (gamma is not None and shared is None):
        return None
    value = USUAL_EPS if eps is None else eps.value
    machine = not center and value in (float(f"{torch.finfo(torch.float64).eps:.5e}"),)
    try:
        norm = _Patterns(names, stats, shared).norm(
            center, None if machine else value, has_offsets(found), found.running
        )
        return norm if _is_the_same(norm, found, gamma) else None
    except NormvizError:
        return None


def with_usual_formula(found: Measurement) -> Measurement:
    """The same groups and parameters with the biased variance, and with the usual eps inside the root."""
    assert found.formula is not None
    kind = found.formula.kind
    usual = None if kind is None else Quotient(kind.center, kind.center)
    factor = found.formula.factor / constant_of(found.divisor, found.elements)
    formula = replace(found.formula, kind=usual, factor=factor)
    return replace(found, formula=formula, divisor=BIASED, eps=Eps(USUAL_EPS, "inside"), agrees=True)


def parameter_ids(found: Measurement) -> Ids | None:
    """The number of each element's gamma and beta, from 0; None if it has neither: gamma is 1 and beta is 0 everywhere."""
    assert found.formula is not None
    learned = found.gamma or found.beta
    if learned is not None:
        return learned.ids
    if found.running:  # the factor has the statistics too
        return None
    if has_offsets(found):
        assert found.factors is not None
        assert found.offsets is not None
        return np.unique(np.stack([found.factors.ravel(), found.offsets.ravel()]), axis=1, return_inverse=True)[
            1
        ].reshape(found.shape)
    return found.factors if has_factors(found) else None


def has_factors(found: Measurement) -> bool:
    """Whether some gamma is not 1."""
    return not bool(torch.isclose(found.gammas, torch.ones((), dtype=torch.float64), rtol=1e-3).all())


def has_offsets(found: Measurement) -> bool:
    """Whether there is a beta that is not 0, or that is a parameter."""
    assert found.formula is not None
    offsets = found.formula.offset.abs().max()
    return found.beta is not None or (
        not found.running and bool(offsets > 1e-3 * max(1.0, float(found.formula.factor.abs().max())))
    )


def _is_the_same(norm: Norm, found: Measurement, gamma: Ids | None) -> bool:
    assert found.ids is not None
    tables = sharing.param_tables(norm, found.shape)
    same = same_partition(sharing.ids(sharing.stat_tables(norm, found.shape)), found.ids)
    return same and (
        gamma is None if tables is None else gamma is not None and same_partition(sharing.ids(tables), gamma)
    )


class _Patterns:
    """The two patterns of partitions: of the statistics, and of gamma."""

    def __init__(self, names: Sequence[str], stats: Sequence[Axis], shared: Sequence[Axis] | None) -> None:
        self.left: list[str] = []
        self.right: list[str] = []
        self.params: list[str] | None = None if shared is None else []
        self.sizes: dict[str, int] = {}
        spare = _spare(names)
        for i, (name, stat) in enumerate(zip(names, stats, strict=True)):
            gamma = None if shared is None else shared[i]
            self._add(name, stat, gamma, spare)

    def _add(self, name: str, stat: Axis, gamma: Axis | None, spare: Iterator[str]) -> None:
        split = max((axis for axis in (stat, gamma) if axis is not None), key=lambda axis: len(axis.parts))
        whole = [axis for axis in (stat, gamma) if axis is not None and len(axis.parts) == 1]
        if len(split.parts) == 1:
            parts = [name]
            self.left.append(name)
        else:
            parts = [next(spare) for _part in split.parts]
            self.left.append(f"({' '.join(parts)})")
            self.sizes |= dict(zip(parts[:-1], split.parts[:-1], strict=True))
        self.right += [part for part, kept in zip(parts, _kept(stat, len(parts)), strict=True) if kept]
        if self.params is not None and gamma is not None:
            if gamma in whole and gamma.kept[0] and gamma.parts[0] > 1:
                self.params.append(name)
            elif gamma not in whole:
                self.params += [part for part, kept in zip(parts, _kept(gamma, len(parts)), strict=True) if kept]

    def norm(self, center: bool, eps: float | None, bias: bool, running: bool) -> Norm:
        params = None if self.params is None else " ".join(self.params)
        pattern = f"{' '.join(self.left)} -> {' '.join(self.right)}"
        return Norm(pattern, params, center=center, eps=eps, bias=bias, running=running, sizes=self.sizes)


def _kept(axis: Axis, parts: int) -> tuple[bool, ...]:
    return axis.kept if len(axis.kept) == parts else axis.kept * parts


def _spare(names: Sequence[str]) -> Iterator[str]:
    """Names for the parts of split axes: g and k first."""
    for number in count():
        for letter in "gk":
            name = f"{letter}{number or ''}"
            if name not in names:
                yield name
