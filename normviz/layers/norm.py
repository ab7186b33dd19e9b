"""Norm: a normalization layer as a value. Two patterns and four facts; everything else follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from sys import float_info

from normviz.layers.axes import Pattern, check_names, parse_names
from normviz.layers.errors import NormvizError, echo


@dataclass(frozen=True)
class Norm:
    """``y = (x - mean) / sqrt(var + eps) * gamma + beta``, with who shares what.

    stats    the axes of x and, right of the arrow, those that keep a mean and a variance of their own:
             ``"n c h w -> n"`` gives one pair an example. The right side may be empty.
    params   the axes of gamma (and beta), ``"c h w"``; ``""`` for one scalar; None for none.
    center   whether a mean is subtracted. Without (RMSNorm), "var" is the mean of x^2.
    eps      added to the variance, in the square root; None is the machine epsilon of the computing type.
    bias     whether there is a beta beside gamma.
    running  whether mean and variance are running statistics, not this input's.
    sizes    the sizes of split axes: ``{"g": 2}`` for ``"n (g k) h w -> n g"``.

    Raises NormvizError where a pattern is illegal or eps is not a finite number.

    >>> Norm("n c h w -> n h w", "c")
    Norm('n c h w -> n h w', 'c')
    """

    stats: str
    params: str | None = None
    center: bool = True
    eps: float | None = 1e-5
    bias: bool = True
    running: bool = False
    sizes: Mapping[str, int] | tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        pattern = Pattern.parse(self.stats)
        set_field = object.__setattr__
        set_field(self, "stats", str(pattern))
        if self.params is None:
            set_field(self, "bias", False)
        else:
            names = parse_names(self.params) if isinstance(self.params, str) else None
            if names is None:
                raise NormvizError(f"params={echo(self.params)} is no axis list; write 'c h w', '' or None.")
            set_field(self, "params", " ".join(names))
        set_field(self, "sizes", _frozen_sizes(self.sizes))
        check_names(list(self.split_sizes), pattern.names, "sizes")
        if self.params is not None:
            check_names(
                self.gamma_axes, tuple(dict.fromkeys((*self.axes, *pattern.names))), f"params {echo(self.params)}"
            )
            self._check_parts()
        if self.eps is not None and not (_is_number(self.eps) and abs(self.eps) <= float_info.max):
            raise NormvizError(f"eps={echo(self.eps)} must be a finite number, such as 1e-5.")
        for name in ("center", "bias", "running"):
            if not isinstance(getattr(self, name), bool):
                raise NormvizError(f"{name}={echo(getattr(self, name))} must be True or False.")

    def _check_parts(self) -> None:
        for whole, parts in zip(self.axes, self.pattern.left, strict=True):
            if len(parts) > 1 and whole in self.gamma_axes and set(parts) & set(self.gamma_axes):
                raise NormvizError(
                    f"params {echo(self.params)} names {whole!r} and its parts ({' '.join(parts)}); name one or the other."
                )

    @cached_property
    def pattern(self) -> Pattern:
        """The statistics pattern, parsed."""
        return Pattern.parse(self.stats)

    @cached_property
    def gamma_axes(self) -> tuple[str, ...]:
        """The axes of gamma, in order; empty where there is none or it is a scalar."""
        return () if self.params is None else parse_names(self.params)

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """One name for each axis of x. A split axis takes the name by which params calls it."""
        split = [axis for axis in self.pattern.left if len(axis) > 1]
        whole = [name for name in self.gamma_axes if name not in self.pattern.names]
        spare = (name for name in chain("cdef", (f"c{i}" for i in count(1))) if name not in self.pattern.names)
        free = (name for name in spare if name not in whole)
        names = dict(zip(split, chain(whole, free), strict=False))
        return tuple(names.get(axis, axis[0]) for axis in self.pattern.left)

    @property
    def split_sizes(self) -> dict[str, int]:
        """The given sizes of split axes."""
        return dict(self.sizes)

    def axis_sizes(self, shape: tuple[int, ...]) -> dict[str, int]:
        """The size of every name, those of whole split axes included. Raises NormvizError where x does not fit."""
        sizes = self.pattern.sizes(shape, self.split_sizes)
        return dict(zip(self.axes, shape, strict=True)) | sizes

    def __str__(self) -> str:
        if self.params is None:
            learned = "no gamma, no beta"
        else:
            learned = f"{'gamma, beta' if self.bias else 'gamma'}: {self.params or 'one scalar'}"
        return f"{'running statistics' if self.running else 'statistics'}: {self.stats} | {learned}"

    def __repr__(self) -> str:
        given = [repr(self.stats)]
        if self.params is not None:
            given.append(repr(self.params))
        for name, usual in (("center", True), ("eps", 1e-5), ("bias", self.params is not None), ("running", False)):
            if getattr(self, name) != usual:
                given.append(f"{name}={getattr(self, name)!r}")
        if self.sizes:
            given.append(f"sizes={self.split_sizes!r}")
        return f"Norm({', '.join(given)})"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _frozen_sizes(sizes: object) -> tuple[tuple[str, int], ...]:
    try:
        pairs = tuple(sorted(dict(sizes).items()))  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise NormvizError(f"sizes={echo(sizes)} must name split axes and their sizes, as in {{'g': 2}}.") from None
    for name, size in pairs:
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise NormvizError(f"sizes[{name!r}]={echo(size)} must be a whole number of at least 1.")
    return pairs
