"""The layer that a function should be: ``like`` on the axes of x."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from math import isclose

import numpy as np
import torch
from torch import nn

from normviz.analysis.description import Description, describe
from normviz.analysis.forward import used_eps
from normviz.layers.axes import layout_text, parse_layout
from normviz.layers.fit import default_layer, is_equivalent, torch_layer
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.measuring.formula import Ids
from normviz.measuring.found_norm import has_factors, has_offsets
from normviz.measuring.groups import Axis, from_ids, refines, same_partition
from normviz.measuring.measurement import BIASED, SUM, Measurement
from normviz.texts.errors import NormvizError, listed
from normviz.texts.messages import N_, _, ngettext


@dataclass(frozen=True, eq=False)
class Expected(Description):
    """What ``like`` does to one x.

    given     the words of the caller, if like is a text
    plus_one  whether it multiplies by 1 + gamma
    """

    given: str = ""
    plus_one: bool = False

    @property
    def title(self) -> str:
        return self.given or super().title

    def on(self, shape: tuple[int, ...]) -> Expected:
        """The same on an x of another shape."""
        other = expect(self.layer or self.norm, shape, self.layout)
        return replace(other, given=self.given, plus_one=self.plus_one)

    def takes(self, shape: tuple[int, ...]) -> bool:
        """Whether the layer takes an x of this shape too."""
        try:
            return bool(self.on(shape))
        except NormvizError:
            return False


def expect(like: str | Layer | Norm | nn.Module, shape: tuple[int, ...], layout: str | None) -> Expected:
    """``like`` on an x of this shape. A layer of channels uses the axis C of the layout, wherever it is.

    >>> expect("BatchNorm1d(5)", (3, 4, 5), "NLC").norm.stats
    'n l c -> c'
    """
    spec = Layer.of(like) if isinstance(like, nn.Module) else like
    spec = Layer.parse(spec) if isinstance(spec, str) else spec
    axes = None if layout is None else parse_layout(layout, len(shape))
    order = None if axes is None or not isinstance(spec, Layer) else _channels_where_torch_expects_them(spec, axes)
    if axes is None or order is None:
        found = describe(spec, shape, layout=layout)
    else:
        moved = describe(spec, tuple(shape[i] for i in order), layout=layout_text([axes[i] for i in order]))
        back = [order.index(i) for i in range(len(order))]
        found = replace(moved, norm=permuted(moved.norm, back), shape=shape, axes=axes)
    values = {field.name: getattr(found, field.name) for field in fields(found)}
    return Expected(**values, given=like.strip() if isinstance(like, str) else "")


def usual_layer(norm: Norm, shape: tuple[int, ...], preferred: Sequence[Layer] = ()) -> Layer | None:
    """The torch layer that computes the same as ``norm``: one of the preferred, or that which people use for it; None if torch has none.

    >>> str(usual_layer(Norm("n c h w -> n c"), (2, 3, 4, 4)))
    'InstanceNorm2d(3)'
    """
    rank = len(shape)
    # Preferred to LayerNorm([h, w]).
    images = [default_layer("InstanceNorm", shape, norm.axes)] if rank in (4, 5) else []
    same = (layer for layer in (*preferred, *images) if is_equivalent(layer, norm, shape))
    return next(same, None) or torch_layer(norm, shape)


def layer_of_channels(norm: Norm, names: Sequence[str], shape: tuple[int, ...]) -> Layer | None:
    """The torch layer that computes the same as ``norm``, a layer of channels after C was moved to axis 1; None if torch has none."""
    layer = usual_layer(norm, shape)
    if "c" not in names[2:] or (layer is not None and layer.kind.channel(len(shape)) is None):
        return layer
    channel = list(names).index("c")
    order = [0, channel, *(i for i in range(1, len(names)) if i != channel)]
    return usual_layer(permuted(norm, order), tuple(shape[i] for i in order))


def permuted(norm: Norm, order: Sequence[int]) -> Norm:
    """The Norm for x.permute(order)."""
    left = [norm.pattern.left[i] for i in order]
    text = " ".join(parts[0] if len(parts) == 1 else f"({' '.join(parts)})" for parts in left)
    return replace(norm, stats=f"{text} -> {' '.join(norm.pattern.right)}")


def _channels_where_torch_expects_them(layer: Layer, axes: tuple[str, ...]) -> list[int] | None:
    """The order of the axes with C where the layer has its channels; None if it is there, or if there is no such axis."""
    channel = layer.kind.channel(len(axes))
    if channel is None or "c" not in axes or axes[channel] == "c":
        return None
    order = [i for i, name in enumerate(axes) if name != "c"]
    order.insert(channel % len(axes), axes.index("c"))
    return order


# The axes over which something is averaged, in words.


def axes_text(norm: Norm, axes: Sequence[str], shape: tuple[int, ...]) -> str:
    """The axes that a Norm averages over: ``"N and L"``.

    >>> axes_text(Norm("n l c -> c", "c"), ("n", "l", "c"), (3, 4, 5))
    'N and L'
    """
    sizes = norm.axis_sizes(shape)
    reduced = [
        _axis_text(
            name, Axis(tuple(sizes[part] for part in parts), tuple(part in norm.pattern.right for part in parts))
        )
        for name, parts in zip(axes, norm.pattern.left, strict=True)
        if any(part in norm.pattern.reduced for part in parts)
    ]
    return listed(reduced, "and") if reduced else _("no axis")


def groups_text(found: Measurement, axes: Sequence[str]) -> str:
    """The axes that a function averages over, as far as they can be described."""
    groups = None if found.ids is None else from_ids(found.ids)
    if groups is None:
        return _("groups that are not made of whole axes")
    reduced = [_axis_text(name, axis) for name, axis in zip(axes, groups, strict=True) if axis.is_reduced]
    return listed(reduced, "and") if reduced else _("no axis")


def pattern_text(ids: Ids, names: Sequence[str]) -> str:
    """Which elements have a gamma in common: "for each index of C"."""
    axes = from_ids(ids)
    if axes is None:
        return _("for each of several groups that are not made of whole axes")
    pairs = zip(names, axes, strict=True)
    return each_text([name.upper() for name, axis in pairs if axis.kept != (False,) and axis.parts != (1,)])


def each_text(names: Sequence[str]) -> str:
    """What there is one gamma for, along these axes.

    >>> each_text(["C", "H"])
    'for each position in (C, H)'
    """
    if not names:
        return _("for all elements")
    if len(names) == 1:
        return _("for each index of {axis}", axis=names[0])
    return _("for each position in ({axes})", axes=", ".join(names))


def _axis_text(name: str, axis: Axis) -> str:
    """A whole axis, or what is averaged of it: "groups of 2 neighbors along C", "indices of C that are 3 apart"."""
    if not any(kept for size, kept in zip(axis.parts, axis.kept, strict=True) if size > 1):
        return name.upper()
    if axis.kept == (True, False):
        return ngettext(
            "groups of {n} neighbor along {axis}",
            "groups of {n} neighbors along {axis}",
            axis.parts[1],
            axis=name.upper(),
        )
    if axis.kept == (False, True):
        return _("indices of {axis} that are {step} apart", step=axis.parts[1], axis=name.upper())
    return _("parts of {axis}", axis=name.upper())


# What differs between a measured function and the layer that it should be.


EPS_TOLERANCE = 0.01


@dataclass(frozen=True)
class Difference:
    """One difference.

    what      "statistics", "parameters", "center", "variance", "eps", "eps_placement", "gamma", "beta", "training",
              "not_normalization" or "values"
    found     what the function does
    expected  what it should do
    sentence  both in a sentence
    """

    what: str
    found: str
    expected: str
    sentence: str


def differences(found: Measurement, expected: Expected, dtype: torch.dtype) -> list[Difference]:
    """What differs from the expected layer, for an x of this dtype."""
    differs = list(_layer_differences(found, expected, dtype))
    return differs if differs or found.agrees else [_values()]


def _layer_differences(found: Measurement, expected: Expected, dtype: torch.dtype) -> Iterator[Difference]:
    norm = expected.norm
    if norm.running != found.running and (found.running or found.formula is not None):
        yield _training(found.running)
    if not found.running:
        yield from _statistics(found, expected)
    elif norm.running and found.ids is not None and not same_partition(found.ids, expected.stat_ids):
        yield _other_groups(found, expected)
    if found.formula is None:
        yield _not_normalization()
        return
    yield from _formula(found, norm)
    yield from _eps(found, norm, dtype)
    yield from _parameters(found, expected)


def without_like(found: Measurement, norm: Norm | None) -> Iterator[Difference]:
    """Why no Norm computes the same."""
    if norm is not None:
        return
    if found.formula is None:
        yield _not_normalization()
        return
    other = [*_divisor(found), *_placement(found)]
    kind = found.formula.kind
    if kind is not None and kind.center != kind.spread:
        other.append(_spread(kind.spread, kind.center))
    if found.ids is not None and from_ids(found.ids) is None:
        other.append(
            Difference(
                "statistics",
                _("groups that are not made of whole or split axes"),
                _("groups that a pattern describes"),
                _("Its groups are not made of whole or split axes of x, so no pattern describes them."),
            )
        )
    yield from other or [_values()]


def _training(running: bool) -> Difference:
    stored, own = _("stored statistics"), _("the statistics of x")
    if running:
        return Difference(
            "training", stored, own, _("It uses stored statistics, as in eval mode, instead of those of x.")
        )
    return Difference(
        "training",
        own,
        stored,
        _("It computes the statistics of x, as in training mode, instead of using stored ones."),
    )


def _statistics(found: Measurement, expected: Expected) -> Iterator[Difference]:
    if expected.norm.running:
        return
    ids = expected.stat_ids
    same = (
        same_partition(found.ids, ids)
        if found.ids is not None
        else all(np.array_equal(ids == ids[index], mask) for index, mask in found.reach.changed.items())
    )
    if not same:
        yield _other_groups(found, expected)


def _other_groups(found: Measurement, expected: Expected) -> Difference:
    axes = expected.axes
    own, wanted = groups_text(found, axes), axes_text(expected.norm, axes, expected.shape)
    return Difference(
        "statistics",
        own,
        wanted,
        _(
            "Your function averages over {own}; {layer} averages over {wanted}.",
            own=own,
            wanted=wanted,
            layer=expected.title,
        ),
    )


def _not_normalization() -> Difference:
    return Difference(
        "not_normalization",
        _("another function"),
        _("a normalization"),
        _("It is not a normalization: no partition of the elements into groups explains its output."),
    )


def _formula(found: Measurement, norm: Norm) -> Iterator[Difference]:
    assert found.formula is not None
    kind = found.formula.kind
    if kind is None:
        return
    if kind.center != norm.center:
        words = (_("no mean is subtracted"), _("the mean is subtracted"))
        sentence = (
            _("It does not subtract the mean."),
            _("It subtracts the mean, and it should not."),
        )
        yield Difference("center", words[kind.center], words[norm.center], sentence[kind.center])
    elif kind.spread != norm.center:
        yield _spread(kind.spread, norm.center)
    yield from _divisor(found)


def _spread(spread: bool, expected: bool) -> Difference:
    words = (_("the mean of x^2"), _("the variance"))
    sentence = (
        _("It divides by the root of the mean of x^2, not by the standard deviation."),
        _("It divides by the standard deviation, not by the root of the mean of x^2."),
    )
    return Difference("variance", words[spread], words[expected], sentence[spread])


def _divisor(found: Measurement) -> Iterator[Difference]:
    if found.divisor == SUM:
        sentence = _("It does not divide the sum of squares by m, the size of a group.")
    else:
        sentence = _("It divides the sum of squares by m - 1, not m, the size of a group.")
    if found.divisor != BIASED:
        yield Difference("variance", found.divisor, BIASED, sentence)


def _placement(found: Measurement) -> Iterator[Difference]:
    inside = _("inside the root")
    places = {
        "outside": (
            _("outside the root"),
            _("It adds eps to the standard deviation, outside the root, not to the variance."),
        ),
        "maximum": (
            _("as the smallest denominator"),
            _("It takes the maximum of the denominator and eps, and does not add eps to the variance."),
        ),
        "": (_("elsewhere"), _("Its output for small x is not that of an eps inside or outside the root.")),
    }
    if found.eps is not None and found.eps.place != "inside":
        words, sentence = places[found.eps.place]
        yield Difference("eps_placement", words, inside, sentence)


def _eps(found: Measurement, norm: Norm, dtype: torch.dtype) -> Iterator[Difference]:
    yield from _placement(found)
    if found.eps is None or not found.eps.place:
        return
    own, wanted = found.eps.value, used_eps(norm, torch.empty(0, dtype=dtype))
    usual = [wanted, *_machine_eps(norm, dtype)]
    # A maximum may use eps of the standard deviation or of the variance.
    values = [own, own**2] if found.eps.place == "maximum" else [own]
    if not any(isclose(value, one, rel_tol=EPS_TOLERANCE) for value in values for one in usual):
        yield Difference(
            "eps", f"{own:g}", f"{wanted:g}", _("Its eps is {own:g}, not {wanted:g}.", own=own, wanted=wanted)
        )


def _machine_eps(norm: Norm, dtype: torch.dtype) -> list[float]:
    """What eps=None may be: the function may compute in float32, and it is measured in float64."""
    if norm.eps is not None:
        return []
    return [torch.finfo(one).eps for one in {torch.float64, torch.promote_types(dtype, torch.float32)}]


def _parameters(found: Measurement, expected: Expected) -> Iterator[Difference]:
    ids, plus_one = expected.param_ids, expected.plus_one
    gamma, beta = _gamma_fits(found, ids), _beta_fits(found, ids if expected.norm.bias else None)
    if found.gamma is not None and found.gamma.plus_one != plus_one:
        terms = ("gamma", "1 + gamma")
        yield Difference(
            "gamma",
            terms[not plus_one],
            terms[plus_one],
            _("It multiplies by {own}, not by {wanted}.", own=terms[not plus_one], wanted=terms[plus_one]),
        )
    elif not gamma and ids is None:
        yield Difference(
            "gamma", "gamma", _("no gamma"), _("It multiplies by a gamma, and {layer} has none.", layer=expected.title)
        )
    if not beta and (ids is None or not expected.norm.bias):
        yield Difference("beta", "beta", _("no beta"), _("It adds a beta, and {layer} has none.", layer=expected.title))
    if ids is not None and not (gamma and (beta or not expected.norm.bias)):
        learned = found.gamma if not gamma else found.beta
        own = learned.ids if learned is not None else found.factors if not gamma else found.offsets
        assert own is not None
        words, wanted = pattern_text(own, expected.axes), each_text([name.upper() for name in expected.norm.gamma_axes])
        message = (
            N_("It has one beta {own}; {layer} has one {wanted}.")
            if gamma
            else N_("It has one gamma {own}; {layer} has one {wanted}.")
        )
        yield Difference("parameters", words, wanted, _(message, own=words, wanted=wanted, layer=expected.title))


def _gamma_fits(found: Measurement, ids: Ids | None) -> bool:
    """Whether gamma is in the expected pattern: a parameter exactly, constants also in a coarser one."""
    if found.gamma is not None:
        return same_partition(found.gamma.ids, ids) if ids is not None else not has_factors_of(found)
    if found.running:
        return True  # the factor has the statistics too
    assert found.factors is not None
    return refines(ids, found.factors) if ids is not None else not has_factors(found)


def has_factors_of(found: Measurement) -> bool:
    """Whether a parameter gamma has another value than 1."""
    return not found.running and has_factors(found)


def _beta_fits(found: Measurement, ids: Ids | None) -> bool:
    if found.beta is not None:
        assert found.formula is not None
        zero = not found.running and not bool((found.formula.offset.abs() > 1e-6).any())
        return same_partition(found.beta.ids, ids) if ids is not None else zero
    if found.running:
        return True
    assert found.offsets is not None
    return refines(ids, found.offsets) if ids is not None else not has_offsets(found)


def _values() -> Difference:
    return Difference(
        "values",
        _("other values"),
        _("those of the formula"),
        _("For some x, its output is not that of the formula: it may clip, round or replace values."),
    )
