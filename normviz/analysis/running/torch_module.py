"""torch's own modules: the layers that have one, their buffers, and torch's error messages."""

import warnings
from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor, nn

from normviz.analysis.checks import MOST_ELEMENTS, read_tensor
from normviz.layers.layer import Layer, name_outside_torch
from normviz.texts.errors import NormvizError, echo


def torch_layer_of(layer: str | Layer) -> Layer:
    """The layer as a ``Layer``. Raises NormvizError if torch has no module for it, and above 2^20 channels or elements."""
    found = Layer.parse(layer) if isinstance(layer, str) else layer
    if not isinstance(found, Layer):
        raise NormvizError(
            "{norm} has no train and eval mode; give a layer of torch.nn, such as BatchNorm2d(3).", norm=echo(found)
        )
    if found.kind.module is None:
        raise NormvizError(
            "torch.nn has no {layer}; give a layer of torch.nn, such as BatchNorm2d(3).",
            layer=name_outside_torch(found),
        )
    sizes = [found.given[argument.name] for argument in found.kind.sizes]
    if any((prod(size) if isinstance(size, tuple) else size) > MOST_ELEMENTS for size in sizes):
        raise NormvizError(
            "{layer} is too large to run; give sizes of at most {most:,} in all.",
            layer=echo(str(found)),
            most=MOST_ELEMENTS,
        )
    return found


@dataclass(frozen=True, eq=False)
class Pass:
    """One forward pass.

    output   None if torch refuses x
    refusal  torch's own error message; "" if it runs
    changed  the names of the buffers that it changes; () if torch refuses x
    """

    output: Tensor | None
    refusal: str
    changed: tuple[str, ...] = ()


def attempt(module: nn.Module, x: Tensor) -> Pass:
    """A forward pass. Afterwards, the buffers of the module are as before."""
    before = {name: value.clone() for name, value in module.named_buffers()}
    try:
        with warnings.catch_warnings():  # torch warns about an unused num_features
            warnings.simplefilter("ignore")
            output = module(x)
        changed = [name for name, value in module.named_buffers() if not torch.equal(value, before[name])]
        return Pass(output, "", tuple(changed))
    except (ValueError, RuntimeError) as error:
        return Pass(None, str(error))
    finally:
        for name, value in module.named_buffers():  # BatchNorm counts a batch even if it refuses it
            value.copy_(before[name])


@torch.no_grad()
def torch_refusal(layer: str | Layer, x: object) -> str:
    """torch's error message for x, in the layer's own mode; "" if torch accepts x.

    >>> torch_refusal("InstanceNorm1d(2)", torch.zeros(3, 2, 1))
    'Expected more than 1 spatial element when training, got input size torch.Size([3, 2, 1])'
    """
    found, x = torch_layer_of(layer), read_tensor(x, "torch_refusal")
    try:
        return attempt(found.module(x.dtype), x).refusal
    except ValueError as error:  # GroupNorm checks its arguments in the constructor
        return str(error)


def buffers(layer: str | Layer) -> dict[str, tuple[int, ...]]:
    """The names and shapes of the buffers of torch's module; empty for LayerNorm, RMSNorm and GroupNorm.

    Raises NormvizError if torch has no such layer, and above 2^20 channels.

    >>> buffers("BatchNorm2d(3)")
    {'running_mean': (3,), 'running_var': (3,), 'num_batches_tracked': ()}
    >>> buffers("LayerNorm([3, 4, 4])")
    {}
    """
    found = torch_layer_of(layer)
    kept = found.module().named_buffers() if found.tracks else ()
    return {name: tuple(buffer.shape) for name, buffer in kept}
