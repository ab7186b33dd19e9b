"""Norm: a normalization layer as a value: the patterns of its statistics and parameters, and its options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count

from normviz.layers.arguments import read_eps_or_none, read_flag, read_size
from normviz.layers.axes import Pattern, check_names, parse_names
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import N_, _


@dataclass(frozen=True)
class Norm:
    """``y = (x - mean) / sqrt(var + eps) * gamma + beta``, and which elements share each mean, variance, gamma and beta.

    stats    the axes of x and, right of the arrow, the axes of the mean and the variance:
             ``"n c h w -> n"`` has one mean and one variance for each example. The right side may be empty.
    params   the axes of gamma (and beta), ``"c h w"``; ``""`` for one scalar; None for no gamma.
    center   whether the mean is subtracted. If False (RMSNorm), "var" is the mean of x^2.
    eps      added to the variance inside the square root; None is the machine epsilon that RMSNorm of the installed torch uses.
    bias     whether there is a beta. A layer with a beta has a gamma.
    running  whether mean and variance are running statistics, not computed from x.
    sizes    the sizes of split axes: ``{"g": 2}`` for ``"n (g k) h w -> n g"``.
    zero_centered_gamma  whether the layer multiplies by 1 + gamma, so that a new gamma is 0, as in Gemma's RMSNorm. It needs a gamma.
             Source: the argument of this name of the layers of Transformer Engine.

    Raises NormvizError where a pattern is illegal or eps is not a finite number, and for zero_centered_gamma without a gamma.

    >>> Norm("n c h w -> n h w", "c")
    Norm('n c h w -> n h w', 'c')
    >>> print(Norm("n d -> n", "d", center=False, bias=False, zero_centered_gamma=True))
    statistics: n d -> n | 1 + gamma: d
    """

    stats: str
    params: str | None = None
    center: bool = True
    eps: float | None = 1e-5
    bias: bool = True
    running: bool = False
    sizes: Mapping[str, int] | tuple[tuple[str, int], ...] = ()
    zero_centered_gamma: bool = False

    def __post_init__(self) -> None:
        for name in ("center", "bias", "running", "zero_centered_gamma"):
            read_flag(name, getattr(self, name))
        set_field = object.__setattr__
        set_field(self, "eps", read_eps_or_none("eps", self.eps))
        set_field(self, "stats", str(Pattern.parse(self.stats)))
        set_field(self, "sizes", _sorted_sizes(self.sizes))
        check_names(list(self.split_sizes), self.pattern.names, "sizes")
        if self.params is None:
            if self.zero_centered_gamma:
                raise no_zero_centered_gamma("Norm('n d -> n', 'd', zero_centered_gamma=True)")
            set_field(self, "bias", False)
            return
        if not isinstance(self.params, str):
            raise NormvizError(
                "params={params} is not a list of axes; write 'c h w', '' or None.", params=echo(self.params)
            )
        set_field(self, "params", " ".join(parse_names(self.params)))
        check_names(
            self.gamma_axes, tuple(dict.fromkeys((*self.axes, *self.pattern.names))), f"params {echo(self.params)}"
        )
        self._check_split_axes()

    def _check_split_axes(self) -> None:
        for axis, parts in zip(self.axes, self.pattern.left, strict=True):
            if len(parts) > 1 and axis in self.gamma_axes and set(parts) & set(self.gamma_axes):
                raise NormvizError(
                    "params {params} names {axis!r} and its parts ({parts}); name one or the other.",
                    params=echo(self.params),
                    axis=axis,
                    parts=" ".join(parts),
                )

    @cached_property
    def pattern(self) -> Pattern:
        """The statistics pattern, parsed."""
        return Pattern.parse(self.stats)

    @cached_property
    def gamma_axes(self) -> tuple[str, ...]:
        """The axes of gamma, in order; empty if there is no gamma or if it is a scalar."""
        return () if self.params is None else parse_names(self.params)

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """One name for each axis of x. A split axis has the name that params uses for it; a split first axis beside C is N."""
        split = [axis for axis in self.pattern.left if len(axis) > 1]
        whole = [name for name in self.gamma_axes if name not in self.pattern.names]
        usual = "cdef" if len(self.pattern.left) > 2 else "dcef"  # channels, or the features of (N, D)
        if len(self.pattern.left[0]) > 1 and ("c",) in self.pattern.left:
            usual = f"n{usual}"
        spare = (name for name in chain(usual, (f"c{i}" for i in count(1))) if name not in self.pattern.names)
        free = (name for name in spare if name not in whole)
        names = dict(zip(split, chain(whole, free), strict=False))
        return tuple(names.get(axis, axis[0]) for axis in self.pattern.left)

    @cached_property
    def parts(self) -> Mapping[str, tuple[str, ...]]:
        """The names in the pattern of each axis of x: ``("g", "k")`` of a split axis, else the axis itself."""
        return dict(zip(self.axes, self.pattern.left, strict=True))

    def pattern_names(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """``names`` with each whole split axis replaced by its parts.

        >>> Norm("n (g k) h w -> n g", "c", sizes={"g": 2}).pattern_names(("c", "h"))
        ('g', 'k', 'h')
        """
        return tuple(part for name in names for part in self.parts.get(name, (name,)))

    @property
    def factor(self) -> str:
        """What the normalized values are multiplied by, in symbols."""
        return "1 + gamma" if self.zero_centered_gamma else "gamma"

    @property
    def new_gamma(self) -> float:
        """gamma in a new layer: the layer multiplies by 1."""
        return 0.0 if self.zero_centered_gamma else 1.0

    @property
    def split_sizes(self) -> dict[str, int]:
        """``sizes`` as a dictionary."""
        return dict(self.sizes)

    def without_gamma(self) -> Norm:
        """The same statistics, without gamma and beta.

        >>> Norm("n d -> n", "d", zero_centered_gamma=True).without_gamma()
        Norm('n d -> n')
        """
        return replace(self, params=None, bias=False, zero_centered_gamma=False)

    def axis_sizes(self, shape: tuple[int, ...]) -> dict[str, int]:
        """The size of every name, including whole split axes.

        shape  of x

        Raises NormvizError if the shape does not fit the pattern.

        >>> Norm("n (g k) -> n g", sizes={"g": 2}).axis_sizes((3, 8))
        {'n': 3, 'd': 8, 'g': 2, 'k': 4}
        """
        sizes = self.pattern.sizes(shape, self.split_sizes)
        return dict(zip(self.axes, shape, strict=True)) | sizes

    def permuted(self, order: Sequence[int]) -> Norm:
        """The Norm for ``x.permute(order)``.

        >>> Norm("n (g k) l -> n g", "c", sizes={"g": 2}).permuted([0, 2, 1]).stats
        'n l (g k) -> n g'
        """
        left = tuple(self.pattern.left[axis] for axis in order)
        return replace(self, stats=str(replace(self.pattern, left=left)))

    def __str__(self) -> str:
        stats = N_("running statistics: {pattern}") if self.running else N_("statistics: {pattern}")
        learned = N_("{factor}, beta: {axes}") if self.bias else N_("{factor}: {axes}")
        if self.params is None:
            learned = N_("no gamma, no beta")
        axes = self.params or _("one scalar")
        return f"{_(stats, pattern=self.stats)} | {_(learned, factor=self.factor, axes=axes)}"

    def __repr__(self) -> str:
        given = [repr(self.stats)]
        if self.params is not None:
            given.append(repr(self.params))
        for name, default in (("center", True), ("eps", 1e-5), ("bias", self.params is not None), ("running", False)):
            if getattr(self, name) != default:
                given.append(f"{name}={getattr(self, name)!r}")
        if self.sizes:
            given.append(f"sizes={self.split_sizes!r}")
        if self.zero_centered_gamma:
            given.append("zero_centered_gamma=True")
        return f"Norm({', '.join(given)})"


def no_zero_centered_gamma(example: str) -> NormvizError:
    """The error for a layer that is to multiply by 1 + gamma and has no gamma."""
    return NormvizError(
        "zero_centered_gamma=True multiplies by 1 + gamma, and this layer has no gamma; write {example}.",
        example=example,
    )


def _sorted_sizes(sizes: object) -> tuple[tuple[str, int], ...]:
    try:
        pairs = tuple(sorted(dict(sizes).items()))  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise NormvizError(
            "sizes={sizes} must name split axes and their sizes, as in {{'g': 2}}.", sizes=echo(sizes)
        ) from None
    return tuple((name, read_size(f"sizes[{name!r}]", size)) for name, size in pairs)
