"""What a function computes and how it differs, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from normviz.analysis.description import Description, tensor_and_shape
from normviz.layers.axes import parse_layout
from normviz.layers.fit import torch_layer
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.measuring import probe
from normviz.measuring.differences import (
    Difference,
    Expected,
    axes_text,
    differences,
    expect,
    groups_text,
    layer_of_channels,
    usual_layer,
    without_like,
)
from normviz.measuring.found_norm import norm_of, with_usual_formula
from normviz.measuring.measurement import Measurement, measure
from normviz.measuring.probe import is_number_array
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import _, join_sentences, ngettext


def text(
    found: Measurement,
    expected: Expected | None,
    differs: Sequence[Difference],
    axes: Sequence[str],
) -> str:
    """What the function does, then each difference."""
    sentences = []
    if expected is None:
        sentences = [_groups(found, axes)]
    elif not differs:
        sentences = [_same(expected)]
    for one in differs:
        if one.what == "statistics" and expected is not None:  # then the function: the next sentence begins with "It"
            over = _("{layer} averages over {axes}.", layer=expected.title, axes=one.expected)
            sentences += [over, _groups(found, axes)]
        else:
            sentences.append(one.sentence)
    if found.instead is not None:
        sentences.append(
            ngettext(
                "x has {n:,} element; a smaller one of shape {shape} was measured, and one input of {whole} reaches the same axes.",
                "x has {n:,} elements; a smaller one of shape {shape} was measured, and one input of {whole} reaches the same axes.",
                prod(found.instead),
                shape=found.shape,
                whole=found.instead,
            )
        )
    elif found.reach.is_sampled:
        moved = len(found.reach.changed)
        sentences.append(
            ngettext(
                "x has {n:,} element; only {moved} of them were changed to see which outputs depend on them.",
                "x has {n:,} elements; only {moved} of them were changed to see which outputs depend on them.",
                found.reach.elements,
                moved=moved,
            )
        )
    return join_sentences(sentences)


def _same(expected: Expected) -> str:
    if expected.norm.running:
        return _("Your function does what {layer} does: it uses stored statistics.", layer=expected.title)
    over = axes_text(expected.norm, expected.axes, expected.shape)
    return _("Your function does what {layer} does: it averages over {axes}.", layer=expected.title, axes=over)


def _groups(found: Measurement, axes: Sequence[str]) -> str:
    layer = _similar_layer(found, axes)
    if found.running and layer:
        return _("Your function uses stored statistics (like {layer}).", layer=layer)
    if found.running:
        return _("Your function uses stored statistics.")
    if found.ids is None:
        return _("In your function, the elements do not form groups that share their statistics.")
    if layer:
        return _("Your function averages over {axes} (like {layer}).", axes=groups_text(found, axes), layer=layer)
    return _("Your function averages over {axes}.", axes=groups_text(found, axes))


def _similar_layer(found: Measurement, axes: Sequence[str]) -> str:
    """The name of the torch layer with the same groups and parameters, whatever its eps and variance are; empty if there is none."""
    if found.formula is None:
        return ""
    norm = norm_of(with_usual_formula(found), axes)
    layer = None if norm is None else layer_of_channels(norm, axes, found.shape)
    return "" if layer is None else layer.name


# Does a function compute the normalization that it should? ``check`` measures it and compares.


LAYOUTS = {1: "D", 2: "ND", 3: "NCL", 4: "NCHW", 5: "NCDHW"}


@dataclass(frozen=True, eq=False)
class Check:
    """The result of ``check``. It is true if the function does what it should; as text, it says what differs.

    norm         the Norm that computes the same, or None
    layer        the text of the torch layer that computes the same, or None
    reduced      the numbers of the axes over which the statistics are taken: those along which elements reach each other
    differences  from the expected layer; without one, from any normalization that a Norm describes
    sampled      whether only some of the inputs were moved, because x has more than 4,096 elements; or those of a smaller x
    """

    norm: Norm | None
    layer: str | None
    reduced: tuple[int, ...]
    differences: tuple[Difference, ...]
    sampled: bool
    expected: Description | None = field(default=None, repr=False)
    measured: Measurement | None = field(default=None, repr=False)
    text: str = field(default="", repr=False)

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


def check(
    fn: Callable[..., Any],
    x: Any,
    like: str | Layer | Norm | nn.Module | None = None,
    *,
    layout: str | None = None,
    params: Mapping[str, Any] | None = None,
    whole: bool = False,  # never measure a smaller tensor instead of x
) -> Check:
    """Which normalization ``fn`` computes, measured from outside, and whether it is the one of ``like``.

    fn      a function of a tensor (or of a NumPy array, if x is one), or a module; the output has the shape of x, or is the first
            of a tuple
    x       a tensor, an array, or a shape: fn is called with generic values of this shape, and with x
    like    what fn should be: the text of a layer, a module, or a ``Norm``. Values of gamma and beta do not matter.
    layout  axis letters, ``"NHWC"``; default: those of ``like``. Layers of channels, such as BatchNorm2d, are expected to use the
            axis C, wherever it is.
    params  further arguments of fn by name; gamma and beta are found among them

    Nothing is changed: neither x, nor modules that fn uses, nor the random state of torch and NumPy.
    Above 4,096 elements, only some elements of x are moved; above 262,144, a smaller tensor is measured where fn and like take it; the text
    says so.

    Raises NormvizError if fn raises, is random, or returns something else than a tensor of the shape of x, and if ``like``
    does not take an x of this shape.

    >>> import torch
    >>> print(check(torch.nn.BatchNorm1d(4), (4, 4), like="LayerNorm(4)"))
    LayerNorm(4) averages over D. Your function averages over N (like BatchNorm1d).
    >>> found = check(torch.nn.GroupNorm(2, 4), (3, 4, 5))
    >>> found.layer, found.reduced
    ('GroupNorm(2, 4)', (1, 2))
    >>> check(
    ...     lambda x: (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True), (4, 6), like="LayerNorm(6, eps=0.0)"
    ... ).differences[0].what
    'variance'
    """
    takes_arrays = isinstance(x, np.ndarray)
    given, shape = tensor_and_shape(x)
    tensor = probe.generic(shape, torch.float32) if given is None else given
    expected = None if like is None else _expected(like, tensor, layout)
    found = measure(
        fn, tensor, takes_arrays, params, lambda other: expected is None or expected.takes(other), whole=whole
    )
    if expected is not None and expected.shape != found.shape:
        expected = expected.on(found.shape)
    axes = _axis_names(expected, layout, len(shape))
    if expected is None and layout is None and found.formula is not None:
        alike = norm_of(with_usual_formula(found), axes)
        axes = axes if alike is None else usual_names(found, alike, axes)[0]
    norm = norm_of(found, axes)
    differs = tuple(
        without_like(found, norm)
        if expected is None
        else [*differences(found, expected, tensor.dtype), *_unused(found, expected, params or {})]
    )
    known = [None if expected is None else expected.layer, _known(fn) if isinstance(fn, nn.Module) else None]
    layer = None if norm is None else usual_layer(norm, found.shape, [one for one in known if one is not None])
    return Check(
        norm,
        None if layer is None else str(layer),
        _reduced(found),
        differs,
        found.reach.is_sampled or found.instead is not None,
        expected,
        found,
        text(found, expected, differs, axes),
    )


def _expected(like: str | Layer | Norm | nn.Module, x: Tensor, layout: str | None) -> Expected:
    """What ``like`` does to tensors of the shape of x. A module that torch.nn does not know is measured."""
    shape = tuple(x.shape)
    if not isinstance(like, nn.Module) or _known(like):
        return expect(like, shape, layout)
    found, name = check(like, x, layout=layout), type(like).__name__
    if found.norm is None or found.measured is None:
        raise NormvizError(_("like={like} is not one normalization. {text}", like=echo(name), text=str(found)))
    gamma = found.measured.gamma
    return replace(expect(found.norm, shape, layout), given=name, plus_one=gamma is not None and gamma.plus_one)


def _unused(found: Measurement, expected: Expected, params: Mapping[str, Any]) -> Iterator[Difference]:
    """gamma and beta that fn is given and that have no part in its output."""
    groups_of_one = not found.running and found.elements == 1  # the output is beta
    if found.formula is None or expected.norm.params is None or groups_of_one:
        return
    learned = {"gamma": (found.gamma, "1"), "beta": (found.beta, "0")}
    for name, (used, constant) in learned.items():
        wanted = name == "gamma" or expected.norm.bias
        if wanted and used is None and is_number_array(params.get(name)):
            yield Difference(name, constant, name, _("It does not use {name}.", name=name))


def _known(module: nn.Module) -> Layer | None:
    """The layer of a module of torch.nn."""
    try:
        return Layer.of(module)
    except NormvizError:
        return None


def _axis_names(expected: Description | None, layout: str | None, rank: int) -> tuple[str, ...]:
    if layout is not None:
        return parse_layout(layout, rank)
    if expected is not None:
        return expected.axes
    return parse_layout(LAYOUTS.get(rank, "N" + "".join(f"D{i}" for i in range(1, rank))), rank)


def usual_names(found: Measurement, norm: Norm, axes: tuple[str, ...]) -> tuple[tuple[str, ...], Norm]:
    """The axis names of the layout that the torch layer has for this rank, if there is such a layer."""
    layer = torch_layer(norm, found.shape)
    if layer is None:
        return axes, norm
    names = parse_layout(layer.kind.layout(len(axes)), len(axes))
    return names, norm_of(found, names) or norm


def _reduced(found: Measurement) -> tuple[int, ...]:
    """The axes along which an input reaches another output."""
    masks = list(found.reach.changed.values())
    return tuple(
        axis
        for axis in range(len(found.shape))
        if any(mask.any(axis=tuple(i for i in range(mask.ndim) if i != axis)).sum() > 1 for mask in masks)
    )
