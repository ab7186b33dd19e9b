"""The layer that a function should be: ``like`` on the axes of x."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from torch import nn

from normviz.analysis.description import Description, describe
from normviz.layers.axes import layout_text, parse_layout
from normviz.layers.errors import NormvizError
from normviz.layers.fit import default_layer, is_equivalent, torch_layer
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm


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
