"""Questions on gamma and beta, and on axes and shapes: layers find their axes by size and position, not by name."""

import torch
from torch import Tensor

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.torch_module import torch_refusal
from normviz.layers.catalogue import KINDS
from normviz.lessons.questions.facts import Facts, count_gammas, module_of, normal, only, output, scene_of, which

IMAGES = (2, 3, 4, 4)


def gamma_as_in_batch_norm() -> Facts:
    texts = "LayerNorm(6)", "BatchNorm1d(6)"
    layer, batch = (scene_of(f"shape=4,6&layer={text}&params=random").description for text in texts)
    assert layer.param_ids is not None
    assert batch.param_ids is not None
    difference = largest_difference(layer.trace.output, batch.trace.output)
    is_same = bool((layer.param_ids == batch.param_ids).all())
    return {"gap": difference, "right": which(shape=is_same, output=difference < 1e-3)}


def same_position() -> Facts:
    peers = describe("LayerNorm([4, 5])", (2, 3, 4, 5)).parameter_peers((0, 0, 1, 2))
    return {
        "right": only(
            place=(0, 2, 1, 2) in peers and (0, 0, 1, 3) not in peers,
            neighbour=(0, 0, 1, 3) in peers and (0, 2, 1, 2) not in peers,
            none=not peers,
        )
    }


COUNTED = ("LayerNorm([4, 3, 3])", "RMSNorm([4, 3, 3])", "BatchNorm2d(4)", "GroupNorm(2, 4)")


def gammas_and_elements() -> Facts:
    texts = *COUNTED, "InstanceNorm2d(4, affine=True)"
    elements = {text: describe(text, (2, 4, 3, 3)).counts.elements_per_statistic for text in texts}
    equal = [text.partition("Norm")[0] for text in texts if count_gammas(text, (2, 4, 3, 3)) == elements[text]]
    return {
        "right": only(
            every=len(equal) == len(texts),
            trailing=equal == ["Layer", "RMS"],
            channels=equal == ["Batch", "Group", "Instance"],
            none=not equal,
        )
    }


def gamma_axes() -> Facts:
    layer = describe("LayerNorm([2, 3])", (2, 2, 3)).norm
    options = {"kept": layer.pattern.right, "reduced": layer.pattern.reduced, "channel": ("c",)}
    return {"right": next(key for key, axes in options.items() if axes == layer.gamma_axes)}


def one_group() -> Facts:
    group, layer = (describe(text, (2, 2, 3)) for text in ("GroupNorm(1, 2)", "LayerNorm([2, 3])"))
    means = bool((group.stat_ids != layer.stat_ids).any())
    gammas = group.counts.gamma_shape != layer.counts.gamma_shape
    return {"right": which(means=means, gammas=gammas, neither="nothing")}


def elementwise_affine() -> Facts:
    affine, bare, x = "LayerNorm(4)", "LayerNorm(4, elementwise_affine=False)", normal(3, 4)
    fresh = largest_difference(output(affine, x), output(bare, x))
    trained = scene_of("shape=3,4&layer=LayerNorm(4)&params=random").description.trace.output
    return {"trained": largest_difference(trained, output(bare, x)), "right": only(same=fresh == 0, scaled=fresh > 0)}


def gamma_of_the_example() -> Facts:
    """A table has gammas for two classes; a third table, of zeros, gives the factor of a residual block."""
    table, zeros, norm = 1 + normal(2, 3, seed=1) / 2, torch.zeros(2, 3), module_of("InstanceNorm2d(3)")
    x, classes = normal(*IMAGES), torch.tensor([0, 1])
    gammas = table[classes]
    one, other = (norm(x[:1]) * table[label, :, None, None] for label in classes)
    block = x + zeros[classes, :, None, None] * norm(x) * gammas[:, :, None, None]
    return {
        "gammas": gammas.numel(),
        "channels": gammas.shape[1],
        "moved": largest_difference(one, other),
        "block": largest_difference(block, x),
        "right": gammas.numel(),
    }


def layers_without_beta() -> Facts:
    refused = {key: _refusal(module, 4) for key, module in (("batch", torch.nn.BatchNorm2d), ("rms", torch.nn.RMSNorm))}
    return {
        "version": torch.__version__.partition("+")[0],
        "words": refused["rms"],
        "right": which(batch=refused["batch"] != "", rms=refused["rms"] != "", neither="none"),
    }


def _refusal(module: type[torch.nn.Module], size: int) -> str:
    """torch's words if the module does not take ``bias=False``, or ""."""
    try:
        module(size, bias=False)
    except TypeError as error:
        return str(error)
    return ""


# Questions on axes and shapes.


def leading_axes() -> Facts:
    taken = [torch_refusal("LayerNorm(5)", normal(*(2, 3, 4, 5)[start:])) == "" for start in (3, 2, 1, 0)]
    return {
        "right": only(
            every=all(taken), batch=taken == [False, True, False, False], some=taken == [False, True, True, True]
        )
    }


def square_tensor() -> Facts:
    """C and W are equal, so the wrong axis fits."""
    kept = describe("LayerNorm(4)", (2, 4, 3, 4)).norm.pattern.right
    return {"right": only(channels=kept == ("n", "h", "w"), row=kept == ("n", "c", "h"), image=kept == ("n",))}


def channels_not_last() -> Facts:
    """Three ways to run ``LayerNorm(256)`` on 256 channels that are not the last axis."""
    x = normal(2, 256, 4, 4)
    wanted = describe("ChannelsFirstLayerNorm(256, eps=1e-05)", x).trace.output
    ways = {
        "move": output("LayerNorm(256)", x.movedim(1, -1)).movedim(-1, 1),
        "reshape": output("LayerNorm(256)", x.reshape(2, 4, 4, 256)).reshape(x.shape),
        "all": output("LayerNorm([256, 4, 4])", x),
    }
    differences = {key: largest_difference(y, wanted) for key, y in ways.items()}
    # Each element has the number of its channel, and of its pixel.
    channel = example("counting", (256,), ("c",)).reshape(1, -1, 1, 1).expand(x.shape)
    pixel = example("counting", (4, 4), ("h", "w")).expand(x.shape)
    return {
        "mixed": len(channel.reshape(2, 4, 4, 256)[0, 0, 0].unique()),
        "channels": len(channel.movedim(1, -1)[0, 0, 0].unique()),
        "pixels": len(pixel.reshape(2, 4, 4, 256)[0, 0, 0].unique()),
        "reshape": differences["reshape"],
        "all": differences["all"],
        "right": min(differences, key=lambda key: differences[key]),
    }


def sequence_layout() -> Facts:
    """x is (N, L, C), but the layer takes (N, C, L)."""
    words = torch_refusal("BatchNorm1d(6)", normal(2, 4, 6))
    return {"axis": KINDS["BatchNorm1d"].channel_axis, "right": "refuses" if words else "features"}


# Validation errors in percent on ImageNet, 32 images per GPU: Wu & He 2018, tables 1 and 3. One group is their LayerNorm.


def another_image_size() -> Facts:
    layer, batch = (
        torch_refusal(text, normal(2, 3, 6, 6)) != "" for text in ("LayerNorm([3, 4, 4])", "BatchNorm2d(3)")
    )
    return {"right": which(layer=layer, batch=batch, neither="none")}


def _normalized(x: Tensor, keepdim: bool) -> Tensor:
    """x normalized by the article's formula, with or without the averaged axis in the mean and the variance."""
    deviations = x - x.mean(-1, keepdim=keepdim)
    return deviations / (deviations.square().mean(-1, keepdim=keepdim) + 1e-12).sqrt()


def mean_shapes() -> Facts:
    x = normal(2, 3, 4)
    u = x.mean(-1, keepdim=True)
    normalized = _normalized(x, keepdim=True)
    square = normal(4, 4)
    return {
        "silent": largest_difference(_normalized(square, keepdim=False), _normalized(square, keepdim=True)),
        "u": tuple(u.shape),
        "x_norm": tuple(normalized.shape),
        "flat": tuple(x.mean(-1).shape),
        "all": normalized.numel(),
        "means": u.numel(),
        "right": only(
            both=normalized.shape == u.shape,
            x=normalized.shape == x.shape and tuple(u.shape) == (2, 3, 1),
            flat=normalized.shape == x.shape and tuple(u.shape) == (2, 3),
        ),
    }
