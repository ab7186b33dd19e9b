"""Questions on gamma and beta, and on axes and shapes: layers find their axes by size and position, not by name."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import torch

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.torch_module import torch_refusal
from normviz.layers.catalogue import KINDS
from normviz.lessons.compare.page import PAGE as COMPARE_PAGE
from normviz.lessons.explore.page import PAGE as EXPLORE_PAGE
from normviz.lessons.questions.facts import count_gammas, module_of, normal, only, output, scene_of, which
from normviz.lessons.questions.question import PARAMETERS, SHAPES, Facts
from normviz.lessons.questions.sources import ANNOTATED, ARTICLE, COURSE, FORUM, issue, paper, torch_page
from normviz.lessons.step_by_step.page import PAGE as STEP_BY_STEP_PAGE

if TYPE_CHECKING:
    from torch import Tensor

SHAPE = (4, 6)
LAYER, BATCH = "LayerNorm(6)", "BatchNorm1d(6)"


@PARAMETERS.question("s1", EXPLORE_PAGE, "shape=4,6&layer=LayerNorm(6)&params=index&at=1,4", [COURSE])
def gamma_per_column() -> Facts:
    counts = describe(LAYER, SHAPE).counts
    shape = counts.gamma_shape
    return {
        "gamma": shape,
        "means": counts.statistics,
        "features": prod(shape or ()),
        "right": only(rows=shape == (4,), columns=shape == (6,), cells=shape == SHAPE, scalar=prod(shape or ()) == 1),
    }


IMAGES = (2, 3, 4, 4)
ALL = "LayerNorm([3, 4, 4])"


@PARAMETERS.question(
    "s0",
    EXPLORE_PAGE,
    "shape=2,3,4,4&layer=LayerNorm([3,4,4])&params=index&at=0,2,0,3",
    [FORUM, torch_page("LayerNorm"), paper("LayerNorm")],
)
def gamma_per_element() -> Facts:
    e = describe(ALL, IMAGES)
    counts, number = e.counts, count_gammas(ALL, IMAGES)
    return {
        "statistics": counts.statistics,
        "elements": counts.elements_per_statistic,
        "gammas": number,
        "right": only(
            one=number == IMAGES[0],
            scalar=number == 1,
            elements=number == counts.elements_per_statistic,
            all=number == prod(IMAGES),
        ),
    }


@PARAMETERS.question("s0b", EXPLORE_PAGE, "shape=4,3,4,4&layer=LayerNorm([3,4,4])&params=index&at=0,2,0,3", [FORUM])
def gammas_and_batch_size() -> Facts:
    few, many = (2, *IMAGES[1:]), (4, *IMAGES[1:])
    number, peers = count_gammas(ALL, many), describe(ALL, many).parameter_peers((0, 2, 0, 3))
    return {
        "gammas": number,
        "few": few[0],
        "many": many[0],
        "shape": describe(ALL, many).counts.gamma_shape,
        "peers": len(peers),
        "right": number,
    }


@PARAMETERS.question("s0e", EXPLORE_PAGE, "shape=2,3,4,4&layer=BatchNorm2d(3)&params=index&at=0,1,0,3", [FORUM])
def gamma_per_channel() -> Facts:
    number = count_gammas("BatchNorm2d(3)", IMAGES)
    return {
        "gammas": number,
        "elements": len(describe("BatchNorm2d(3)", IMAGES).parameter_peers((0, 1, 0, 3))) + 1,
        "right": only(
            scalar=number == 1,
            channel=number == IMAGES[1],
            place=number == IMAGES[2] * IMAGES[3],
            element=number == prod(IMAGES[1:]),
        ),
    }


@PARAMETERS.question(
    "s1b", COMPARE_PAGE, "shape=4,6&params=random&layers=LayerNorm(6);BatchNorm1d(6)&at=1,4&cards=gamma", [COURSE]
)
def gamma_as_in_batch_norm() -> Facts:
    layer, batch = (scene_of(f"shape=4,6&layer={text}&params=random").description for text in (LAYER, BATCH))
    assert layer.param_ids is not None
    assert batch.param_ids is not None
    difference = largest_difference(layer.trace.output, batch.trace.output)
    return {
        "shape": layer.counts.gamma_shape,
        "gap": difference,
        "right": which(shape=bool((layer.param_ids == batch.param_ids).all()), output=difference < 1e-3),
    }


@PARAMETERS.question("s0c", EXPLORE_PAGE, "shape=2,3,4,5&layer=LayerNorm([4,5])&params=index&at=0,1,0,4", [FORUM])
def gammas_without_channels() -> Facts:
    text, shape = "LayerNorm([4, 5])", (2, 3, 4, 5)
    counts, number = describe(text, shape).counts, count_gammas(text, shape)
    return {"gammas": number, "cells": prod(shape[1:]), "means": counts.statistics, "right": number}


@PARAMETERS.question("s0d", EXPLORE_PAGE, "shape=2,3,4,5&layer=LayerNorm([4,5])&params=index&at=0,0,1,2", [FORUM])
def same_position() -> Facts:
    text, shape, at = "LayerNorm([4, 5])", (2, 3, 4, 5), (0, 0, 1, 2)
    peers = describe(text, shape).parameter_peers(at)
    return {
        "peers": len(peers),
        "right": only(
            place=(0, 2, 1, 2) in peers and (0, 0, 1, 3) not in peers,
            neighbour=(0, 0, 1, 3) in peers and (0, 2, 1, 2) not in peers,
            none=not peers,
        ),
    }


@PARAMETERS.question(
    "s0f", EXPLORE_PAGE, "shape=2,3,4,4&layer=InstanceNorm2d(3,affine=True)&params=index&at=0,1,0,3", [FORUM]
)
def instance_norm_gammas() -> Facts:
    affine, plain = "InstanceNorm2d(3, affine=True)", "InstanceNorm2d(3)"
    number = count_gammas(affine, IMAGES)
    return {
        "gammas": number,
        "planes": describe(affine, IMAGES).counts.statistics,
        "none": describe(plain, IMAGES).counts.parameters,
        "right": number,
    }


COUNTED = ("LayerNorm([4, 3, 3])", "RMSNorm([4, 3, 3])", "BatchNorm2d(4)", "GroupNorm(2, 4)")
INSTANCE = "InstanceNorm2d(4, affine=True)"


@PARAMETERS.question(
    "s0g",
    COMPARE_PAGE,
    "shape=2,4,3,3&layers=LayerNorm([4,3,3]);RMSNorm([4,3,3]);BatchNorm2d(4);GroupNorm(2,4);"
    "InstanceNorm2d(4,affine=True)&at=0,1,0,2&cards=gamma",
    [FORUM],
)
def gammas_and_elements() -> Facts:
    shape = (2, 4, 3, 3)
    number = {text: count_gammas(text, shape) for text in (*COUNTED, INSTANCE)}
    normalized = {text: describe(text, shape).counts.elements_per_statistic for text in number}
    equal = [text.partition("Norm")[0] for text in number if number[text] == normalized[text]]
    layer, _, batch, group = COUNTED
    return {
        "layer_gammas": number[layer],
        "layer_elements": normalized[layer],
        "batch_gammas": number[batch],
        "batch_elements": normalized[batch],
        "group_gammas": number[group],
        "group_elements": normalized[group],
        "instance_gammas": number[INSTANCE],
        "instance_elements": normalized[INSTANCE],
        "right": only(
            every=len(equal) == len(number),
            trailing=equal == ["Layer", "RMS"],
            channels=equal == ["Batch", "Group", "Instance"],
            none=not equal,
        ),
    }


@PARAMETERS.question(
    "q5",
    COMPARE_PAGE,
    "shape=2,2,3&layout=NCL&layers=LayerNorm([2,3]);BatchNorm1d(2)&at=0,1,2&cards=gamma",
    [torch_page("LayerNorm"), torch_page("GroupNorm")],
)
def gamma_axes() -> Facts:
    shape = (2, 2, 3)
    texts = {
        "layer": "LayerNorm([2, 3])",
        "batch": "BatchNorm1d(2)",
        "instance": "InstanceNorm1d(2, affine=True)",
        "group": "GroupNorm(1, 2)",
    }
    descriptions = {key: describe(text, shape) for key, text in texts.items()}
    layer = descriptions["layer"].norm
    options = {"kept": layer.pattern.right, "reduced": layer.pattern.reduced, "channel": ("c",)}
    return {
        **{key: str(e.counts.gamma_shape) for key, e in descriptions.items()},
        "right": next(key for key, axes in options.items() if axes == layer.gamma_axes),
    }


@PARAMETERS.question(
    "q6",
    COMPARE_PAGE,
    "shape=2,2,3&layout=NCL&layers=GroupNorm(1,2);LayerNorm([2,3])&at=0,1,2&cards=gamma",
    [issue("pytorch", 75862), torch_page("GroupNorm")],
)
def one_group() -> Facts:
    x = normal(2, 2, 3)
    group, layer = (describe(text, x) for text in ("GroupNorm(1, 2)", "LayerNorm([2, 3])"))
    return {
        "statistics": group.counts.statistics,
        "difference": largest_difference(output("GroupNorm(1, 2)", x), output("LayerNorm([2, 3])", x)),
        "group_gammas": count_gammas("GroupNorm(1, 2)", x.shape),
        "layer_gammas": count_gammas("LayerNorm([2, 3])", x.shape),
        "right": which(
            means=bool((group.stat_ids != layer.stat_ids).any()),
            gammas=group.counts.gamma_shape != layer.counts.gamma_shape,
            neither="nothing",
        ),
    }


def count_learned(layer: str) -> int:
    """The number of parameters that torch's own module gives to an optimizer."""
    return sum(parameter.numel() for parameter in module_of(layer).parameters())


@PARAMETERS.question(
    "q9",
    EXPLORE_PAGE,
    "shape=2,4,3,3&layer=InstanceNorm2d(4)&at=0,1,0,2",
    [issue("pytorch", 22755), torch_page("InstanceNorm2d"), paper("InstanceNorm")],
)
def instance_norm_defaults() -> Facts:
    instance, batch = (describe(text, (2, 4, 3, 3)).counts for text in ("InstanceNorm2d(4)", "BatchNorm2d(4)"))
    return {
        "learned": count_learned("InstanceNorm2d(4)"),
        "affine": count_learned("InstanceNorm2d(4, affine=True)"),
        "batch": count_learned("BatchNorm2d(4)"),
        "buffers": instance.buffers,
        "batch_buffers": batch.buffers,
        "right": count_learned("InstanceNorm2d(4)"),
    }


@PARAMETERS.question(
    "s2l",
    COMPARE_PAGE,
    "shape=3,4&params=random&layers=LayerNorm(4);LayerNorm(4,elementwise_affine=False)&at=1,2&cards=gamma",
    [ANNOTATED],
)
def elementwise_affine() -> Facts:
    affine, bare, shape = "LayerNorm(4)", "LayerNorm(4, elementwise_affine=False)", (3, 4)
    x = normal(*shape)
    with_parameters, without = describe(affine, shape).counts, describe(bare, shape).counts
    fresh = largest_difference(output(affine, x), output(bare, x))
    trained = scene_of("shape=3,4&layer=LayerNorm(4)&params=random").description.trace.output
    return {
        "gap": fresh,
        "none": without.parameters,
        "some": with_parameters.parameters,
        "means": without.statistics,
        "trained": largest_difference(trained, output(bare, x)),
        "right": only(same=fresh == 0, scaled=fresh > 0),
    }


CLASSES = "shape=2,3,4,4&params=index&layers=InstanceNorm2d(3,affine=True);Norm('n c h w -> n c','n c')&at=0,1,0,3&cards=gamma"


@PARAMETERS.question(
    "q39", COMPARE_PAGE, CLASSES, [paper("Conditional BatchNorm"), paper("AdaIN"), paper("adaLN-Zero")]
)
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


WITHOUT_BETA = "BatchNorm2d(4, bias=False)"


@PARAMETERS.question(
    "q45",
    COMPARE_PAGE,
    "shape=2,4,3,3&layers=BatchNorm2d(4);BatchNorm2d(4,bias=False);GroupNorm(2,4,bias=False)&at=0,1,0,2&cards=gamma",
    [issue("pytorch", 176573, "pull"), torch_page("BatchNorm2d"), paper("PaLM")],
    needs="RMSNorm(4)",
)
def layers_without_beta() -> Facts:
    refused = {key: _refusal(module, 4) for key, module in (("batch", torch.nn.BatchNorm2d), ("rms", torch.nn.RMSNorm))}
    return {
        "version": torch.__version__.partition("+")[0],
        "gammas": count_learned(WITHOUT_BETA),
        "both": count_learned("BatchNorm2d(4)"),
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


@SHAPES.question("s2", EXPLORE_PAGE, "shape=2,3,4,5&layer=LayerNorm(5)&at=1,2,0,3", [ANNOTATED])
def leading_axes() -> Facts:
    shapes = (5,), (2, 5), (2, 3, 5), (2, 3, 4, 5)
    one, two, six, deep = (describe("LayerNorm(5)", shape).counts for shape in shapes)
    taken = [torch_refusal("LayerNorm(5)", normal(*shape)) == "" for shape in shapes]
    return {
        "one": one.statistics,
        "two": two.statistics,
        "six": six.statistics,
        "deep": deep.statistics,
        "gamma": deep.gamma_shape,
        "right": only(
            every=all(taken), batch=taken == [False, True, False, False], some=taken == [False, True, True, True]
        ),
    }


@SHAPES.question("s2h", EXPLORE_PAGE, "shape=5,2,4&layout=LNC&layer=LayerNorm(4)&at=3,1,2", [ANNOTATED])
def sequence_first() -> Facts:
    counts = describe("LayerNorm(4)", (5, 2, 4)).counts
    return {
        "means": counts.statistics,
        "features": counts.elements_per_statistic,
        "gamma": counts.gamma_shape,
        "right": counts.statistics,
    }


@SHAPES.question(
    "q1",
    COMPARE_PAGE,
    "shape=2,4,3,4&layers=LayerNorm([4]);ChannelsFirstLayerNorm(4)&at=0,1,1,2",
    [issue("pytorch", 71465), issue("pytorch", 74661), torch_page("LayerNorm"), ANNOTATED],
)
def square_tensor() -> Facts:
    """C and W are equal, so the wrong axis fits."""
    x = normal(2, 4, 3, 4)
    last_axis, pixel = describe("LayerNorm(4)", x), describe("ChannelsFirstLayerNorm(4, eps=1e-05)", x)
    kept = last_axis.norm.pattern.right
    return {
        "statistics": last_axis.counts.statistics,
        "elements": last_axis.counts.elements_per_statistic,
        "pixels": pixel.counts.statistics,
        "difference": largest_difference(output("LayerNorm(4)", x), pixel.trace.output),
        "words": torch_refusal("LayerNorm(4)", normal(2, 4, 3, 5)),
        "right": only(channels=kept == ("n", "h", "w"), row=kept == ("n", "c", "h"), image=kept == ("n",)),
    }


@SHAPES.question(
    "q2",
    EXPLORE_PAGE,
    "shape=2,4,4,6&layout=NHWC&layer=LayerNorm([6])&at=0,1,2,3",
    [issue("mmsegmentation", 3809), torch_page("LayerNorm")],
    x="shape=2,256,4,4",
)
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
        "words": torch_refusal("LayerNorm(256)", x),
        "mixed": len(channel.reshape(2, 4, 4, 256)[0, 0, 0].unique()),
        "channels": len(channel.movedim(1, -1)[0, 0, 0].unique()),
        "pixels": len(pixel.reshape(2, 4, 4, 256)[0, 0, 0].unique()),
        "reshape": differences["reshape"],
        "all": differences["all"],
        "right": min(differences, key=lambda key: differences[key]),
    }


@SHAPES.question(
    "q20",
    COMPARE_PAGE,
    "shape=2,4,6&layout=NLC&layers=BatchNorm1d(4);ChannelsLastBatchNorm(6)&at=0,1,4",
    [issue("pytorch", 7577), torch_page("BatchNorm1d")],
)
def sequence_layout() -> Facts:
    """x is (N, L, C), but the layer takes (N, C, L)."""
    x = normal(2, 4, 6)
    time_steps, features = describe("BatchNorm1d(4)", x), describe("BatchNorm1d(6)", x.transpose(1, 2))
    words = torch_refusal("BatchNorm1d(6)", x)
    return {
        "words": words,
        "steps": time_steps.counts.statistics,
        "axis": KINDS["BatchNorm1d"].channel_axis,
        "features": features.counts.statistics,
        "elements": features.counts.elements_per_statistic,
        "right": "refuses" if words else "features",
    }


# Validation errors in percent on ImageNet, 32 images per GPU: Wu & He 2018, tables 1 and 3. One group is their LayerNorm.
RESNET_50 = {"one_group": 25.3, "groups": 32, "group_error": 24.1, "batch_error": 23.6}


@SHAPES.question(
    "s2j",
    COMPARE_PAGE,
    "shape=2,3,4,4&params=index&layers=LayerNorm([3,4,4]);GroupNorm(1,3);BatchNorm2d(3)&at=0,1,0,3&cards=gamma",
    [ANNOTATED, paper("GroupNorm")],
)
def another_image_size() -> Facts:
    """The errors are those of ResNet-50, in percent."""
    small, larger = (2, 3, 4, 4), normal(2, 3, 6, 6)
    whole_image, batch_norm = "LayerNorm([3, 4, 4])", "BatchNorm2d(3)"
    return {
        "gammas": count_gammas(whole_image, small),
        "channels": count_gammas(batch_norm, small),
        "means": describe(whole_image, small).counts.statistics,
        **RESNET_50,
        "right": which(
            layer=torch_refusal(whole_image, larger) != "",
            batch=torch_refusal(batch_norm, larger) != "",
            neither="none",
        ),
    }


def _normalized(x: Tensor, keepdim: bool) -> Tensor:
    """x normalized by the article's formula, with or without the averaged axis in the mean and the variance."""
    deviations = x - x.mean(-1, keepdim=keepdim)
    return deviations / (deviations.square().mean(-1, keepdim=keepdim) + 1e-12).sqrt()


@SHAPES.question("s3f", STEP_BY_STEP_PAGE, "shape=2,3,4&layer=DimNorm(4)&at=1,0,3&step=1", [ARTICLE])
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


@SHAPES.question("s3b", EXPLORE_PAGE, "shape=2,8,4,4&layer=BatchNorm2d(8)&at=0,5,0,3", [ARTICLE])
def color_channels() -> Facts:
    deep = normal(2, 8, 4, 4)
    channels = describe("BatchNorm2d(8)", deep.shape).counts.statistics
    return {
        "channels": channels,
        "colors": describe("BatchNorm2d(3)", (2, 3, 6, 6)).counts.statistics,
        "features": describe("LayerNorm(5)", (4, 3, 5)).counts.elements_per_statistic,
        "right": channels,
    }
