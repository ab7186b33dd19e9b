"""What is legal in a model and seldom intended, and what to do when its forward pass fails."""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn

from normviz.analysis.description import Description
from normviz.layers.errors import NormvizError
from normviz.layers.layer import Layer
from normviz.layers.messages import _
from normviz.layers.torch_errors import check
from normviz.measuring.models.recording import Call, Failure, Shape, layer_of


def notes_of(described: Description, call: Call, model_trains: bool) -> Iterator[str]:
    """Notes about one normalization; those of ``explain`` come first."""
    yield from described.notes
    layer, norm = described.layer, described.norm
    if call.function == "F.normalize":
        yield _("It divides by the root of the sum of squares, not of their mean.")
    if call.of_parameter:
        yield _("It normalizes a parameter of the model, not what flows through it.")
    if not norm.running and norm.center and described.counts.elements_per_statistic == 1:
        if norm.params is not None and norm.bias:
            yield _("Each mean is over a single value, so the output is always beta.")
        else:
            yield _("Each mean is over a single value, so the output is always 0.")
    if layer is None:
        return
    if _rows_of_images(layer, call.shape):
        yield _(
            "It normalizes each row of an image alone: {size} is the size of H and of W. To normalize over C, move it last; over the image, "
            "use LayerNorm({image}).",
            size=call.shape[-1],
            image=list(call.shape[1:]),
        )
    groups = layer.given.get("num_groups")
    if groups is not None and groups == layer.given["num_channels"] > 1:
        yield _("Each group has one channel, so this is an InstanceNorm; fewer groups are usual.")
    if (
        layer.kind.family in ("BatchNorm", "SyncBatchNorm")
        and not call.function
        and not norm.running
        and not model_trains
    ):
        yield _(
            "It is in training mode inside a model in eval mode: its output depends on the batch; call {module}.eval().",
            module=f'model.get_submodule("{call.name}")' if call.name else "model",
        )


def _rows_of_images(layer: Layer, shape: Shape) -> bool:
    """Whether a LayerNorm of one size is that of the width of square images (N, C, H, W)."""
    return (
        len(shape) == 4
        and layer.given.get("normalized_shape") == shape[-1:]
        and shape[1] != shape[2] == shape[3]
        and shape[2] > 1
    )


def failure_text(failure: Failure) -> str:
    """Which module failed, with which shapes, and what to do."""
    shapes = ", ".join(map(str, failure.shapes)) or _("no tensor")
    name, kind = failure.name or _("the model itself"), type(failure.module).__name__
    return _(
        "The forward pass failed in {name} ({kind}) on an input of shape {shapes}: {explained}",
        name=name,
        kind=kind,
        shapes=shapes,
        explained=_explained(failure),
    )


def _explained(failure: Failure) -> str:
    """For a normalization, torch's words and what they mean; otherwise the error and where to look."""
    layer = layer_of(failure.module)
    try:
        if layer is not None and failure.shapes:
            check(layer, failure.shapes[0])
    except NormvizError as error:
        return str(error)
    words = (" ".join(str(failure.error).split()) or type(failure.error).__name__).rstrip(".")
    expected = _expected(failure.module)
    if expected is not None and failure.shapes:
        axis, size = expected
        rank = len(failure.shapes[0])
        if not -rank <= axis < rank or failure.shapes[0][axis] != size:
            return _(
                "{words}. Expected size {size} in axis {axis} of its input, got shape {shape}. Change {kind}, or what comes before it.",
                words=words,
                size=size,
                axis=axis,
                shape=failure.shapes[0],
                kind=type(failure.module).__name__,
            )
    return _(
        "{words}. Compare this shape with what {kind} takes; the rows show the shapes up to here.",
        words=words,
        kind=type(failure.module).__name__,
    )


def _expected(module: nn.Module) -> tuple[int, int] | None:
    """The axis and its size that a layer of torch.nn takes."""
    if isinstance(module, nn.Linear):
        return -1, module.in_features
    return (1, module.in_channels) if isinstance(module, nn.Conv1d | nn.Conv2d | nn.Conv3d) else None
