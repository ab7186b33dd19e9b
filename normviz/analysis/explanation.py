"""The front door: ``explain(layer, x)`` answers who shares what, how many parameters that makes, and with which numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import Any

import torch
from torch import Tensor, nn

from normviz.analysis.forward import Trace, Values, as_tensor, check_types, largest_difference, run_module, trace
from normviz.layers import sharing
from normviz.layers.axes import MAX_RANK, layout_text, parse_layout
from normviz.layers.errors import NormvizError, echo
from normviz.layers.fit import torch_layer
from normviz.layers.layer import Layer
from normviz.layers.messages import _
from normviz.layers.norm import Norm
from normviz.layers.torch_errors import check

LARGEST_SIZE = 2**40


def describe(layer: nn.Module | str | Norm | Layer, x: Any, *, layout: str | None = None) -> Explanation:
    """``normviz.explain`` without the warnings: what it would warn of stands in ``notes``."""
    module = layer if isinstance(layer, nn.Module) else None
    spec = _spec(layer)
    tensor, shape = _tensor_and_shape(x)
    if isinstance(spec, Layer):
        check(spec, shape)
    axes = _axes(spec, len(shape), layout)
    if isinstance(spec, Layer):
        norm, buffers = spec.norm(axes), spec.buffers()
    else:
        norm, buffers = spec, 0
        norm.axis_sizes(shape)
        if layout is not None and norm.axes != axes:
            raise NormvizError(
                f"layout={layout} and the pattern {norm.stats!r} name the axes differently; leave layout out, or write the "
                "pattern in its letters."
            )
        axes = norm.axes
    values = None if module is None else _values_of(module)
    if isinstance(spec, Layer) and tensor is not None and values is not None:
        check_types(spec, tensor, values)
        _check_devices(tensor, values)
    return Explanation(norm, shape, axes, spec if isinstance(spec, Layer) else None, buffers, tensor, values)


@dataclass(frozen=True, eq=False)
class Explanation:
    """What one layer does to one x. Made by ``explain``.

    norm     both patterns, center, bias, eps, and whether running statistics are used
    shape    x's shape
    axes     one name for each axis of x
    layer    the layer's call as a value; None where a Norm was given
    """

    norm: Norm
    shape: tuple[int, ...]
    axes: tuple[str, ...]
    layer: Layer | None = None
    buffers: int = 0
    x: Tensor | None = field(default=None, repr=False)
    values: Values | None = field(default=None, repr=False)

    @property
    def layout(self) -> str:
        """The axis letters: ``"NCHW"``."""
        return layout_text(self.axes)

    @property
    def title(self) -> str:
        """The layer's call, or the Norm's where no layer was named."""
        return str(self.layer) if self.layer else repr(self.norm)

    @cached_property
    def counts(self) -> sharing.Counts:
        """Exact counts, for any shape, without an array."""
        return sharing.counts(self.norm, self.shape, self.buffers)

    @cached_property
    def stat_ids(self) -> sharing.Ids:
        """int64, x's shape: elements with the same id share a mean and a variance. Numbered from 0, read-only."""
        return sharing.ids(sharing.stat_tables(self.norm, self.shape))

    @cached_property
    def param_ids(self) -> sharing.Ids | None:
        """The same for gamma and beta; None where there is no gamma."""
        tables = sharing.param_tables(self.norm, self.shape)
        return None if tables is None else sharing.ids(tables)

    def peers(self, index: Sequence[int]) -> list[tuple[int, ...]]:
        """The other elements that share ``index``'s mean and variance."""
        where = sharing.check_index(index, self.shape)
        return sharing.peers(sharing.stat_tables(self.norm, self.shape), where)

    def parameter_peers(self, index: Sequence[int]) -> list[tuple[int, ...]]:
        """The other elements that meet ``index``'s gamma and beta; none where there is no gamma."""
        where = sharing.check_index(index, self.shape)
        tables = sharing.param_tables(self.norm, self.shape)
        return [] if tables is None else sharing.peers(tables, where)

    @cached_property
    def trace(self) -> Trace:
        """Every step of the forward pass on x. Raises NormvizError where only a shape was given."""
        if self.x is None:
            raise NormvizError(
                f"there are no values: x was given as the shape {self.shape}. Give a tensor, such as torch.randn{self.shape}."
            )
        return trace(self.norm, self.x, self.layer_values())

    def layer_values(self) -> Values:
        """gamma, beta and running statistics: the module's own, or as a fresh layer has them (1, 0, 0, 1)."""
        if self.values is not None:
            return self.values
        options: dict[str, Any] = {"dtype": self.x.dtype, "device": self.x.device} if self.x is not None else {}
        gamma, beta = self.counts.gamma_shape, self.counts.beta_shape
        channels = self.counts.statistics if self.norm.running and self.layer else None
        return Values(
            gamma=None if gamma is None else torch.ones(gamma, **options),
            beta=None if beta is None else torch.zeros(beta, **options),
            running_mean=None if channels is None else torch.zeros(channels, **options),
            running_var=None if channels is None else torch.ones(channels, **options),
        )

    @cached_property
    def torch_layer(self) -> Layer | None:
        """The torch layer that does this; None where torch has none."""
        if self.layer is not None and self.layer.kind.module:
            return self.layer
        return torch_layer(self.norm, self.shape)

    @cached_property
    def agreement(self) -> float | None:
        """The largest difference between ``trace.output`` and what torch's own layer gives; None where torch has none."""
        if self.torch_layer is None or self.x is None:
            return None
        return largest_difference(self.trace.output, run_module(self.torch_layer, self.x, self.layer_values()))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What is legal here and seldom meant, one sentence each."""
        return (*_eps_notes(self.norm), *_channel_notes(self.layer, self.axes, self.shape))


def _spec(layer: object) -> Layer | Norm:
    if isinstance(layer, Layer | Norm):
        return layer
    if isinstance(layer, str):
        return Layer.parse(layer)
    if isinstance(layer, nn.Module):
        return Layer.of(layer)
    raise NormvizError(
        f"layer={echo(layer)} is no layer; give a torch.nn module, its text such as 'LayerNorm([3, 4, 4])', or a Norm."
    )


def _tensor_and_shape(x: Any) -> tuple[Tensor | None, tuple[int, ...]]:
    tensor = None if isinstance(x, tuple | list) else as_tensor(x)
    sizes = tuple(x) if tensor is None else tuple(tensor.shape)
    if tensor is not None and tensor.is_meta:  # a shape and no numbers
        tensor = None
    if not sizes or not all(isinstance(size, Integral) and not isinstance(size, bool) for size in sizes):
        raise NormvizError(f"x={echo(x)} is no shape; give sizes such as (2, 3, 4, 4), or a tensor of rank 1 or more.")
    check_sizes(sizes)
    return tensor, tuple(int(size) for size in sizes)


def check_sizes(sizes: Sequence[int]) -> None:
    """Raise NormvizError unless these are the sizes of a tensor: as many as torch takes, none 0, none above 2^40."""
    if len(sizes) > MAX_RANK or not all(1 <= size <= LARGEST_SIZE for size in sizes):
        raise NormvizError(f"the shape {echo(sizes)} must have 1 to {MAX_RANK} sizes, each from 1 to {LARGEST_SIZE:,}.")


def _axes(spec: Layer | Norm, rank: int, layout: str | None) -> tuple[str, ...]:
    if layout is not None:
        return parse_layout(layout, rank)
    return spec.axes if isinstance(spec, Norm) else parse_layout(spec.kind.layout(rank), rank)


def _values_of(module: nn.Module) -> Values:
    """Copies of the module's numbers, so that later training does not change what was explained."""
    found = {
        name: getattr(module, attribute, None)
        for name, attribute in (
            ("gamma", "weight"),
            ("beta", "bias"),
            ("running_mean", "running_mean"),
            ("running_var", "running_var"),
        )
    }
    return Values(**{name: None if value is None else value.detach().clone() for name, value in found.items()})


def _check_devices(x: Tensor, values: Values) -> None:
    others = {held.device for held in vars(values).values() if held is not None and held.device != x.device}
    if others:
        raise NormvizError(
            f"x is on the device {x.device} and the layer on {min(map(str, others))}; move one to the other."
        )


def _eps_notes(norm: Norm) -> tuple[str, ...]:
    if norm.eps is None or norm.eps >= 0:
        return ()
    return (
        _(
            "eps={eps} is negative, so var + eps can be negative too; its square root and the output are NaN there.",
            eps=norm.eps,
        ),
    )


def _channel_notes(layer: Layer | None, axes: tuple[str, ...], shape: tuple[int, ...]) -> tuple[str, ...]:
    channel = layer.kind.channel(len(shape)) if layer else None
    if layer is None or channel is None:
        return ()
    channel %= len(shape)
    letter, size, layout = axes[channel].upper(), shape[channel], layout_text(axes)
    if letter == "C" or (letter != "N" and "c" not in axes):
        return ()
    note = f"{layer.name} takes axis {channel} of x as the channel axis whatever it is called; in {layout} that is {letter} (size {size})."
    if "c" not in axes:
        return (note,)
    rest = [axis for axis in axes if axis != "c"]
    order = layout_text([*rest[:channel], "c", *rest[channel:]])
    return (f"{note} For one group per channel, permute x to {order}.",)
