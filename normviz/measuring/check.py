"""Which normalization a function computes, and whether it is the one that it should be.

``Check.of`` measures the function and compares it with the expected layer. ``norm_of`` gives the Norm of a measured function, ``usual_layer``
the torch layer of a Norm.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from math import prod
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from normviz.analysis.description import Description, describe, tensor_and_shape
from normviz.layers.axes import layout_text, parse_layout
from normviz.layers.fit import default_layer, is_equivalent, torch_layer
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.measuring import probe
from normviz.measuring.formula import BIASED, Eps, Measurement, Quotient, measure
from normviz.measuring.groups import Axis, from_ids, same_partition
from normviz.measuring.probe import is_number_array
from normviz.measuring.report import Difference, differences, text, without_like
from normviz.texts.errors import NormvizError, echo

LAYOUTS = {1: "D", 2: "ND", 3: "NCL", 4: "NCHW", 5: "NCDHW"}
USUAL_EPS = 1e-5  # assumed where eps cannot be measured, as with stored statistics that no module has


@dataclass(frozen=True, eq=False)
class Check:
    """The result of ``check``. It is true if the function does what it should; as text, it says what differs.

    norm         the Norm that computes the same, or None
    layer        the text of the torch layer that computes the same, or None
    reduced      the numbers of the axes over which the statistics are taken: those along which elements reach each other
    differences  from the expected layer; without one, from any normalization that a Norm describes
    sampled      whether only some of the inputs were moved, because x has more than 4,096 elements; or a smaller x was measured
    """

    norm: Norm | None
    layer: str | None
    reduced: tuple[int, ...]
    differences: tuple[Difference, ...]
    sampled: bool
    expected: Description | None = field(default=None, repr=False)
    measured: Measurement | None = field(default=None, repr=False)
    text: str = field(default="", repr=False)

    @classmethod
    def of(
        cls,
        fn: Callable[..., Any],
        x: Any,
        like: str | Layer | Norm | nn.Module | None = None,
        *,
        layout: str | None = None,
        params: Mapping[str, Any] | None = None,
        whole: bool = False,
    ) -> Self:
        """Measure ``fn`` on x and compare it with ``like``: see ``normviz.check``.

        whole  never measure a smaller tensor instead of x

        Raises NormvizError if fn or like cannot be measured.
        """
        given, shape = tensor_and_shape(x)
        tensor = probe.generic(shape, torch.float32) if given is None else given
        expected, plus_one = (None, False) if like is None else _expected(like, tensor, layout)
        takes = bool if expected is None else partial(_takes, expected)
        found = measure(fn, tensor, isinstance(x, np.ndarray), params, takes, whole=whole)
        if expected is not None and expected.shape != found.shape:
            expected = _on(expected, found.shape)
        if expected is not None:
            axes = expected.axes
        else:
            axes = usual_axes(len(shape)) if layout is None else parse_layout(layout, len(shape))
        usual = None if found.formula is None else norm_of(with_usual_formula(found), axes)
        if expected is None and layout is None and usual is not None:
            axes, usual = usual_names(found, usual, axes)

        norm, layer = norm_of(found, axes), None
        if norm is not None:
            known = [None if expected is None else expected.layer, _known(fn)]
            layer = usual_layer(norm, found.shape, [one for one in known if one is not None])
        if expected is None:
            differs = tuple(without_like(found, norm))
        else:
            used = [name for name, value in (params or {}).items() if is_number_array(value)]
            differs = tuple(differences(found, expected, tensor.dtype, plus_one, used))
        similar = None if usual is None else layer_of_channels(usual, axes, found.shape)
        return cls(
            norm,
            None if layer is None else str(layer),
            found.reach.reduced,
            differs,
            found.reach.is_sampled or found.instead is not None,
            expected,
            found,
            text(found, expected, differs, axes, "" if similar is None else similar.name),
        )

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return not self.differences

    def __bool__(self) -> bool:
        return self.ok

    def require(self) -> None:
        """Raise NormvizError with the text of the differences, if there are any."""
        if not self.ok:
            raise NormvizError(str(self))

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


# What a function should be: ``like`` on the axes of x.


def expect(
    like: str | Layer | Norm | nn.Module, shape: tuple[int, ...], layout: str | None, name: str = ""
) -> Description:
    """``like`` on an x of this shape. A layer of channels uses the axis C of the layout, wherever it is.

    >>> expect("BatchNorm1d(5)", (3, 4, 5), "NLC").norm.stats
    'n l c -> c'
    """
    name = like.strip() if isinstance(like, str) else name
    spec = Layer.of(like) if isinstance(like, nn.Module) else Layer.parse(like) if isinstance(like, str) else like
    axes = None if layout is None else parse_layout(layout, len(shape))
    order = None if axes is None or not isinstance(spec, Layer) else _channels_where_torch_expects_them(spec, axes)
    if axes is None or order is None:
        return replace(describe(spec, shape, layout=layout), name=name)
    moved = describe(spec, tuple(shape[i] for i in order), layout=layout_text([axes[i] for i in order]))
    back = [order.index(i) for i in range(len(order))]
    return replace(moved, norm=_permuted(moved.norm, back), shape=shape, axes=axes, name=name)


def _expected(like: str | Layer | Norm | nn.Module, x: Tensor, layout: str | None) -> tuple[Description, bool]:
    """What ``like`` does to an x of this shape, and whether it multiplies by 1 + gamma. A module that torch.nn does not know is measured."""
    shape = tuple(x.shape)
    if not isinstance(like, nn.Module) or _known(like):
        return expect(like, shape, layout), False
    found, name = Check.of(like, x, layout=layout), type(like).__name__
    if found.norm is None or found.measured is None:
        raise NormvizError("like={like} is not one normalization. {text}", like=echo(name), text=str(found))
    gamma = found.measured.gamma
    return expect(found.norm, shape, layout, name), gamma is not None and gamma.plus_one


def _on(expected: Description, shape: tuple[int, ...]) -> Description:
    """The same layer on an x of another shape."""
    return replace(expect(expected.layer or expected.norm, shape, expected.layout), name=expected.name)


def _takes(expected: Description, shape: tuple[int, ...]) -> bool:
    """Whether the layer takes an x of this shape too."""
    try:
        return bool(_on(expected, shape))
    except NormvizError:
        return False


def _known(module: Any) -> Layer | None:
    """The layer of a module of torch.nn; None for anything else."""
    try:
        return Layer.of(module) if isinstance(module, nn.Module) else None
    except NormvizError:
        return None


def _channels_where_torch_expects_them(layer: Layer, axes: tuple[str, ...]) -> list[int] | None:
    """The order of the axes with C where the layer has its channels; None if it is there, or if there is no such axis."""
    channel = layer.kind.channel(len(axes))
    if channel is None or "c" not in axes or axes[channel] == "c":
        return None
    order = [i for i, name in enumerate(axes) if name != "c"]
    order.insert(channel % len(axes), axes.index("c"))
    return order


# The Norm and the torch layer that compute the same as a measured function.


def norm_of(found: Measurement, names: Sequence[str]) -> Norm | None:
    """The Norm, with these axis names; None if no Norm computes the same.

    A difference in the values of gamma and beta does not matter: a Norm has none.
    """
    if found.formula is None or found.ids is None or found.divisor != BIASED or not found.agrees:
        return None
    kind, eps = found.formula.kind or Quotient(True, True), found.eps or Eps(USUAL_EPS, "inside")
    if kind.center != kind.spread or eps.place != "inside":
        return None
    ids = found.param_ids
    stats, shared = from_ids(found.ids), None if ids is None else from_ids(ids)
    if stats is None or (ids is not None and shared is None):
        return None
    is_machine_eps = not kind.center and eps.value == float(f"{torch.finfo(torch.float64).eps:.5e}")
    try:
        norm = replace(
            _with_patterns(names, stats, shared),
            center=kind.center,
            eps=None if is_machine_eps else eps.value,
            bias=found.has_beta,
            running=found.running,
        )
        described = Description(norm, found.shape, tuple(names))
        params = described.param_ids
        same = params is ids if params is None or ids is None else same_partition(params, ids)
        return norm if same and same_partition(described.stat_ids, found.ids) else None
    except NormvizError:
        return None


def with_usual_formula(found: Measurement) -> Measurement:
    """The same groups and parameters, with the biased variance and the usual eps inside the root."""
    assert found.formula is not None
    kind = found.formula.kind
    usual = None if kind is None else Quotient(kind.center, kind.center)
    formula = replace(found.formula, kind=usual, factor=found.gammas)
    return replace(found, formula=formula, divisor=BIASED, eps=Eps(USUAL_EPS, "inside"), agrees=True)


def _with_patterns(names: Sequence[str], stats: Sequence[Axis], shared: Sequence[Axis] | None) -> Norm:
    """The Norm with these groups, and with one gamma and beta for each group of ``shared``."""
    left: list[str] = []
    right: list[str] = []
    params: list[str] = []
    sizes: dict[str, int] = {}
    spare = _spare(names)
    for name, stat, gamma in zip(names, stats, shared or stats, strict=True):
        strides = sorted({*_strides(stat), *_strides(gamma)}, reverse=True)
        parts = [name] if len(strides) == 1 else [next(spare) for _stride in strides]
        left.append(name if len(parts) == 1 else f"({' '.join(parts)})")
        ends = (prod(stat.parts), *strides)
        sizes |= {part: end // stride for part, end, stride in zip(parts[:-1], ends, strides, strict=False)}
        right += _kept(stat, parts, strides)
        if len(gamma.parts) > 1:
            params += _kept(gamma, parts, strides)
        elif gamma.kept[0] and gamma.parts[0] > 1:
            params.append(name)
    pattern = f"{' '.join(left)} -> {' '.join(right)}"
    return Norm(pattern, None if shared is None else " ".join(params), sizes=sizes)


def _strides(axis: Axis) -> list[int]:
    """How far apart neighbors along each part are on the axis."""
    return [prod(axis.parts[i + 1 :]) for i in range(len(axis.parts))]


def _kept(axis: Axis, parts: Sequence[str], strides: Sequence[int]) -> list[str]:
    """The kept ones of the parts, into which the axis may be split further."""
    own = dict(zip(_strides(axis), axis.kept, strict=True))
    return [part for part, stride in zip(parts, strides, strict=True) if own[max(one for one in own if one <= stride)]]


def _spare(names: Sequence[str]) -> Iterator[str]:
    """Names for the parts of split axes: g and k first."""
    for number in count():
        for letter in "gk":
            name = f"{letter}{number or ''}"
            if name not in names:
                yield name


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
    """The layer of torch.nn that computes the same as ``norm``, one of channels after C was moved to axis 1; None if there is none."""
    layer = usual_layer(norm, shape)
    if "c" in names[2:] and (layer is None or layer.kind.channel(len(shape)) is not None):
        channel = list(names).index("c")
        order = [0, channel, *(i for i in range(1, len(names)) if i != channel)]
        layer = usual_layer(_permuted(norm, order), tuple(shape[i] for i in order))
    return layer if layer is not None and layer.kind.in_torch else None


def _permuted(norm: Norm, order: Sequence[int]) -> Norm:
    """The Norm for x.permute(order)."""
    left = [norm.pattern.left[i] for i in order]
    text = " ".join(parts[0] if len(parts) == 1 else f"({' '.join(parts)})" for parts in left)
    return replace(norm, stats=f"{text} -> {' '.join(norm.pattern.right)}")


def usual_axes(rank: int) -> tuple[str, ...]:
    """The usual axis names of an x of this rank.

    >>> usual_axes(4), usual_axes(6)
    (('n', 'c', 'h', 'w'), ('n', 'd1', 'd2', 'd3', 'd4', 'd5'))
    """
    return parse_layout(LAYOUTS.get(rank, "N" + "".join(f"D{i}" for i in range(1, rank))), rank)


def usual_names(found: Measurement, norm: Norm, axes: tuple[str, ...]) -> tuple[tuple[str, ...], Norm]:
    """The axis names of the layout that the layer of torch.nn has for this rank, if there is such a layer; and the Norm with these names."""
    layer = torch_layer(norm, found.shape)
    if layer is None or not layer.kind.in_torch:
        return axes, norm
    names = parse_layout(layer.kind.layout(len(axes)), len(axes))
    return names, norm_of(found, names) or norm
