"""What one layer does to one x: which elements share a mean, a variance, a gamma and a beta, and with which numbers."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from numbers import Integral
from typing import Any, Protocol, Self

import numpy as np
from torch import Tensor, nn

from normviz.analysis.forward import Trace, Values, as_tensor, check_types, largest_difference, run_module, trace
from normviz.analysis.on_demand import OnDemand
from normviz.layers import arguments, fit, sharing, torch_errors
from normviz.layers.axes import MAX_RANK, layout_text, parse_layout
from normviz.layers.layer import IncompleteError, Layer, check_is_object
from normviz.layers.naming import torch_layer
from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import _, join_sentences, ngettext


class Array(Protocol):
    """An array of NumPy, JAX or another library."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any: ...


X = Tensor | np.ndarray[Any, Any] | Sequence[int]  # x, or its shape


@dataclass(frozen=True, eq=False)
class Description:
    """What one layer does to one x.

    norm     both patterns, center, bias, eps, and whether running statistics are used
    shape    x's shape
    axes     one name for each axis of x
    layer    the layer; None if a Norm was given
    buffers  elements of the layer's buffers
    x        the tensor; None if only a shape was given
    values   the module's gamma, beta and running statistics; None if no module was given
    name     for its title, instead of the layer
    on_demand  "x", "gamma" and "beta" where they are too large to hold: their values are computed where they are needed
    """

    norm: Norm
    shape: tuple[int, ...]
    axes: tuple[str, ...]
    layer: Layer | None = None
    buffers: int = 0
    x: Tensor | None = field(default=None, repr=False)
    values: Values | None = field(default=None, repr=False)
    name: str = field(default="", repr=False)
    on_demand: Mapping[str, OnDemand] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        layer: nn.Module | str | Norm | Layer,
        x: object,
        *,
        layout: str | None = None,
        values: Values | None = None,
    ) -> Self:
        """The layer on x. It takes the arguments of ``normviz.explain``, but refuses a module with a forward of its own.

        values  of a layer that is no module: its gamma, beta and running statistics

        Raises NormvizError where ``normviz.explain`` does. Its warnings are in ``notes``.

        >>> Description.of("BatchNorm2d(3)", (2, 3, 4, 4)).norm.stats
        'n c h w -> c'
        """
        spec = spec_on(layer, x, layout)
        tensor, shape = tensor_and_shape(x)
        if isinstance(spec, Layer):
            torch_errors.check(spec, shape)
            axes = parse_layout(spec.kind.layout(len(shape)) if layout is None else layout, len(shape))
            norm, buffers = spec.norm(axes), spec.buffers()
        else:
            norm, buffers, axes = spec, 0, spec.axes
            differs = layout is not None and parse_layout(layout, len(shape)) != axes
            norm.axis_sizes(shape)
            if differs:
                raise NormvizError(
                    "layout={layout} and the pattern {pattern} name the axes differently; omit layout, or write the "
                    "pattern with the letters of the layout.",
                    layout=layout,
                    pattern=repr(norm.stats),
                )
        if isinstance(layer, nn.Module):
            values = Values.of(layer)
            if isinstance(spec, Layer) and tensor is not None:
                check_types(spec, tensor, values)
                others = {str(value.device) for value in values.tensors.values() if value.device != tensor.device}
                if others:
                    raise NormvizError(
                        "x is on the device {device} and the layer on {other}; move one to the other.",
                        device=tensor.device,
                        other=min(others),
                    )
        return cls(norm, shape, axes, spec if isinstance(spec, Layer) else None, buffers, tensor, values)

    @property
    def layout(self) -> str:
        """The axis letters: ``"NCHW"``."""
        return layout_text(self.axes)

    @property
    def title(self) -> str:
        """The name, if there is one; else the constructor call of the layer, or of the Norm."""
        return self.name or (str(self.layer) if self.layer else repr(self.norm))

    @cached_property
    def counts(self) -> sharing.Counts:
        """Exact counts for any shape; no array is allocated."""
        return sharing.counts(self.norm, self.shape, self.buffers)

    @cached_property
    def stat_ids(self) -> sharing.Ids:
        """int64, x's shape: elements with the same id share a mean and a variance. Ids start at 0; read-only."""
        return sharing.ids(sharing.stat_tables(self.norm, self.shape))

    @cached_property
    def param_ids(self) -> sharing.Ids | None:
        """int64, x's shape: elements with the same id share a gamma and a beta; None if there is no gamma."""
        tables = sharing.param_tables(self.norm, self.shape)
        return None if tables is None else sharing.ids(tables)

    def peers(self, *index: int | Sequence[int]) -> list[tuple[int, ...]]:
        """The other elements that share ``index``'s mean and variance.

        index  an element of x, as a tuple or as one number for each axis; negative numbers count from the end

        Raises NormvizError if it is no element of x.

        >>> import normviz as nv
        >>> nv.explain("LayerNorm(3)", (2, 3)).peers(1, 0)
        [(1, 1), (1, 2)]
        """
        at = sharing.check_index(_one_index(index), self.shape)
        return sharing.peers(sharing.stat_tables(self.norm, self.shape), at)

    def parameter_peers(self, *index: int | Sequence[int]) -> list[tuple[int, ...]]:
        """The other elements that use the gamma and beta of ``index``; empty if there is no gamma.

        index  as in ``peers``

        Raises NormvizError if it is no element of x.

        >>> import normviz as nv
        >>> nv.explain("LayerNorm(3)", (2, 3)).parameter_peers((1, 0))
        [(0, 0)]
        """
        at = sharing.check_index(_one_index(index), self.shape)
        tables = sharing.param_tables(self.norm, self.shape)
        return [] if tables is None else sharing.peers(tables, at)

    @cached_property
    def trace(self) -> Trace:
        """Every step of the forward pass on x. Raises NormvizError if only a shape was given.

        >>> import torch
        >>> describe("LayerNorm(2, eps=0.0)", torch.tensor([[1.0, 3.0]])).trace.normalized
        tensor([[-1.,  1.]])
        """
        if self.x is None:
            raise no_values(self.shape)
        return trace(self.norm, self.x, self.layer_values())

    def layer_values(self) -> Values:
        """gamma, beta and running statistics: from the module, or as in a new layer (1, 0, 0, 1; gamma is 0 if the layer multiplies by 1 + gamma).

        gamma and beta have the shapes ``counts.gamma_shape`` and ``counts.beta_shape``, running statistics have (C,).

        >>> import normviz as nv
        >>> nv.explain("LayerNorm(3)", (2, 3)).layer_values().gamma
        tensor([1., 1., 1.])
        """
        if self.values is not None:
            return self.values
        options: dict[str, Any] = {"dtype": self.x.dtype, "device": self.x.device} if self.x is not None else {}
        running = self.norm.running and self.layer is not None
        return Values.constant(self.counts, running=running, gamma=self.norm.new_gamma, **options)

    @cached_property
    def torch_layer(self) -> Layer | None:
        """The torch layer with the same output; None if torch has none."""
        if self.layer is not None and self.layer.kind.module:
            return self.layer
        return None if self.norm.zero_centered_gamma else torch_layer(self.norm, self.shape)

    @cached_property
    def agreement(self) -> float | None:
        """The largest difference between ``trace.output`` and the output of torch's own layer; None if torch has none, and above 2^26 elements."""
        if self.torch_layer is None or self.x is None or self.x.numel() > sharing.LIMIT:
            return None
        return largest_difference(self.trace.output, run_module(self.torch_layer, self.x, self.layer_values()))

    @property  # not cached: readers with different languages share a description
    def notes(self) -> tuple[str, ...]:
        """Warnings about valid but unusual arguments, one sentence each."""
        notes = []
        if self.norm.eps is not None and self.norm.eps < 0:
            notes.append(
                _(
                    "eps={eps} is negative, so var + eps can be negative too; its square root and the output are NaN there.",
                    eps=self.norm.eps,
                )
            )
        notes.append(value_note(self))
        if self.layer is not None:
            notes += [note(self.layer) for note in (_eps_note, _momentum_note)]
            notes.append(_features_note(self.layer, self.shape))
            notes += [note(self.layer, self.axes, self.shape) for note in (_channel_note, _layout_note)]
        return tuple(filter(None, notes))


def no_values(shape: tuple[int, ...]) -> NormvizError:
    """The error where values are needed and only a shape was given."""
    return NormvizError(
        "there are no values: x was given as the shape {shape}. Give a tensor, such as torch.randn{shape}.", shape=shape
    )


def _one_index(given: tuple[object, ...]) -> Any:
    """The index, which is given as one sequence or as one number for each axis."""
    return given[0] if len(given) == 1 and not isinstance(given[0], Integral) else given


describe = Description.of


@lru_cache(maxsize=1024)
def describe_shape(layer: Layer | Norm, shape: tuple[int, ...], layout: str | None) -> Description:
    """``describe`` for a shape, computed once for the same arguments."""
    return describe(layer, shape, layout=layout)


def spec_of(layer: object) -> Layer | Norm:
    """The layer of a text or of a module of torch, or the Norm. Raises NormvizError for anything else."""
    if isinstance(layer, Layer | Norm):
        return layer
    if isinstance(layer, str):
        return Layer.parse(layer)
    if isinstance(layer, nn.Module):
        return Layer.of(layer)
    check_is_object(layer)
    if isinstance(layer, Tensor | np.ndarray | tuple):
        raise NormvizError("layer={layer} is no layer; give the layer first, and then x.", layer=echo(layer))
    if isinstance(layer, list):
        raise NormvizError("layer={layer} is a list; give one layer, or use nv.compare(layers, x).", layer=echo(layer))
    if callable(layer):
        name = getattr(layer, "__name__", type(layer).__name__)
        raise NormvizError(
            "{name} is a function, not a layer; use nv.check(fn, x) to measure what it computes.", name=name
        )
    raise NormvizError(
        "layer={layer} is not a layer; give a torch.nn module, its text such as 'LayerNorm([3, 4, 4])', or a Norm.",
        layer=echo(layer),
    )


def spec_on(layer: object, x: object, layout: str | None = None) -> Layer | Norm:
    """``spec_of``. For a layer without its arguments, the error has an example that takes x, if there is one."""
    try:
        return spec_of(layer)
    except IncompleteError as error:
        found = error
        with suppress(NormvizError):
            found = error.with_example(str(fit.example_on(error.kind, tensor_and_shape(x)[1], layout)))
        raise found from None


def tensor_and_shape(x: Any) -> tuple[Tensor | None, tuple[int, ...]]:
    """x as a tensor, None for a shape; and its shape. Raises NormvizError if x is neither, or has no elements."""
    tensor = None if isinstance(x, tuple | list) else as_tensor(x)
    sizes = tuple(x) if tensor is None else tuple(tensor.shape)
    if tensor is not None and tensor.is_meta:  # it has a shape but no values
        tensor = None
    if not sizes or not all(isinstance(size, Integral) and not isinstance(size, bool) for size in sizes):
        raise NormvizError(
            "x={x} is not a shape; give sizes such as (2, 3, 4, 4), or a tensor of rank 1 or more.", x=echo(x)
        )
    if len(sizes) > MAX_RANK or not all(1 <= size <= arguments.LARGEST_SIZE for size in sizes):
        raise NormvizError(
            ngettext(
                "the shape {shape} must have 1 to {n} size, each from 1 to {largest:,}.",
                "the shape {shape} must have 1 to {n} sizes, each from 1 to {largest:,}.",
                MAX_RANK,
                shape=echo(sizes),
                largest=arguments.LARGEST_SIZE,
            )
        )
    return tensor, tuple(int(size) for size in sizes)


LARGE_EPS, LARGE_MOMENTUM = 0.5, 0.9


def _eps_note(layer: Layer) -> str:
    """An eps below 1 is often the momentum, or Keras' weight of the old value, in the wrong place; a larger one is chosen for round numbers."""
    eps = layer.given["eps"]
    if eps is None or not LARGE_EPS < eps < 1:
        return ""
    text = _("eps={eps} is added to the variance, and is as large as many variances; 1e-5 is usual.", eps=eps)
    if not layer.kind.has("momentum"):
        return text
    return join_sentences([text, _("If it is the momentum, write momentum={momentum}.", momentum=round(1 - eps, 6))])


def _momentum_note(layer: Layer) -> str:
    momentum = layer.given.get("momentum")
    if not layer.tracks or momentum is None or not LARGE_MOMENTUM <= momentum < 1:
        return ""
    return _(
        "momentum={momentum} is the weight of the new batch in torch, so that the running statistics are nearly those of the last one. Keras, TensorFlow and "
        "Flax give the weight of the old value: momentum={momentum} there is momentum={other} here.",
        momentum=momentum,
        other=round(1 - momentum, 6),
    )


def _features_note(layer: Layer, shape: tuple[int, ...]) -> str:
    """InstanceNorm without gamma takes any number of channels; torch warns."""
    axis = layer.kind.channel(len(shape))
    if not layer.kind.per_instance or axis is None or layer.given["num_features"] == shape[axis]:
        return ""
    return _(
        "{layer} has num_features={wanted}, and the axis of the channels of x, axis {axis}, has size {found}. Without a gamma, torch uses num_features for nothing, and warns.",
        layer=layer.name, wanted=layer.given["num_features"], found=shape[axis], axis=axis % len(shape),
    )  # fmt: skip


def value_note(e: Description) -> str:
    """What the output depends on, if each statistic is that of one element; else ""."""
    if e.norm.running or e.counts.elements_per_statistic != 1:
        return ""
    if e.norm.center:
        return _("Each mean is that of one element: x - mean is 0, and the output does not depend on x.")
    return _("Each mean square is that of one element: without eps, the output depends only on the sign of x.")


def _channel_note(layer: Layer, axes: tuple[str, ...], shape: tuple[int, ...]) -> str:
    channel = layer.kind.channel(len(shape))
    if channel is None:
        return ""
    channel %= len(shape)
    letter, layout = axes[channel].upper(), layout_text(axes)
    if letter == "C" or (letter != "N" and "c" not in axes):
        return ""
    note = _(
        "{layer} uses axis {channel} of x as the channel axis; in {layout} that is {letter} (size {size}).",
        layer=layer.name,
        channel=channel,
        layout=layout,
        letter=letter,
        size=shape[channel],
    )
    if "c" not in axes:
        return note
    rest = sorted((axis for axis in axes if axis != "c"), key=lambda axis: axis != "n")  # the batch first
    order = layout_text([*rest[:channel], "c", *rest[channel:]])
    if remedies := fit.meant_for_channels(layer, shape, axes):
        other = remedies[0].layer
        return _(
            "{note} To use C as the channels, permute x to {order}, or use {other}.",
            note=note,
            order=order,
            other=other,
        )
    return _("{note} To use C as the channels, permute x to {order}.", note=note, order=order)


def _layout_note(layer: Layer, axes: tuple[str, ...], shape: tuple[int, ...]) -> str:
    remedies = fit.meant_for_channels(layer, shape, axes) if "normalized_shape" in layer.given else ()
    if remedies:
        return _(
            "{layer} normalizes over the last axis of x, here {last}, and C has the same size, {size}. To normalize over C, use {remedies}.",
            layer=layer,
            last=axes[-1].upper(),
            size=shape[-1],
            remedies=listed(remedy.label.replace("`", "") for remedy in remedies),
        )
    if not fit.is_probably_channels_last(layer, shape, axes):
        return ""
    return _(
        "{layer} normalizes over the last axis, and x is read as NCHW: its last axis is W. The axes of {shape} are probably N, H, W and C; "
        "then give layout NHWC.",
        layer=layer,
        shape=shape,
    )
