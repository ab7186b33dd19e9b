"""Questions on gamma and beta: their shapes, which elements share them, and what they do."""

from __future__ import annotations

from math import prod

from normviz.analysis.description import describe
from normviz.analysis.forward import largest_difference
from normviz.lessons.compare import PAGE as COMPARE_PAGE
from normviz.lessons.explore import PAGE as EXPLORE_PAGE
from normviz.lessons.questions.facts import count_gammas, module_of, normal, only, output, scene_of, which
from normviz.lessons.questions.question import PARAMETERS, Facts
from normviz.lessons.questions.sources import ANNOTATED, COURSE, FORUM, issue, paper, torch_page

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


@PARAMETERS.question("s1b", COMPARE_PAGE, "shape=4,6&params=random&layers=LayerNorm(6);BatchNorm1d(6)&at=1,4", [COURSE])
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
    "InstanceNorm2d(4,affine=True)&at=0,1,0,2",
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
    "shape=2,2,3&layout=NCL&layers=LayerNorm([2,3]);BatchNorm1d(2)&at=0,1,2",
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
    "shape=2,2,3&layout=NCL&layers=GroupNorm(1,2);LayerNorm([2,3])&at=0,1,2",
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
    "shape=3,4&params=random&layers=LayerNorm(4);LayerNorm(4,elementwise_affine=False)&at=1,2",
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
