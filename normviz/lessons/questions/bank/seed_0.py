"""Questions of the first document: what LayerNorm's means and gammas are, and the note in torch's reference."""

from __future__ import annotations

from math import prod

from normviz.analysis.comparison import compare
from normviz.analysis.explanation import describe
from normviz.analysis.forward import largest_difference
from normviz.analysis.invariance import invariances
from normviz.analysis.running.torch_module import torch_words
from normviz.lessons.questions.documents import FORUM
from normviz.lessons.questions.facts import module_of, only, same
from normviz.lessons.questions.outputs import change, gammas, normal, output
from normviz.lessons.questions.question import Facts, Question
from normviz.lessons.questions.topics import SHARING

ASKED = (FORUM,)
IMAGES = (2, 3, 4, 4)
ALL, PLANES, ROWS = "LayerNorm([3, 4, 4])", "LayerNorm([4, 4])", "LayerNorm(4)"


def _per_element() -> Facts:
    e = describe(ALL, IMAGES)
    counts, number = e.counts, gammas(ALL, IMAGES)
    meets = e.parameter_peers((0, 2, 0, 3))
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
        "holds": {
            "torch's own weight has as many elements": module_of(ALL).get_parameter("weight").numel() == number,
            "x[0, 2, 0, 3] meets the gamma of x[1, 2, 0, 3]": (1, 2, 0, 3) in meets,
            "and not that of its neighbour": (0, 2, 0, 2) not in meets,
        },
    }


def _whole_example() -> Facts:
    example = prod(IMAGES[1:])
    whole, planes, rows = (describe(text, IMAGES).counts for text in (ALL, PLANES, ROWS))
    normalized = output(ALL, normal(*IMAGES))
    covers = [counts.elements_per_statistic == example for counts in (whole, planes, rows)]
    return {
        "whole": whole.elements_per_statistic,
        "means": whole.statistics,
        "planes": planes.statistics,
        "plane": planes.elements_per_statistic,
        "rows": rows.statistics,
        "row": rows.elements_per_statistic,
        "right": only(
            whole=covers == [True, False, False],
            planes=covers == [False, True, False],
            rows=covers == [False, False, True],
            every=all(covers),
        ),
        "holds": {
            "that is all of an example": covers[0],
            "torch's output has mean 0 over each example": bool((normalized.mean((1, 2, 3)).abs() < 1e-5).all()),
            "and not over each plane": bool((normalized.mean((2, 3)).abs() > 1e-2).all()),
        },
    }


def _batch_size() -> Facts:
    few, many = (2, *IMAGES[1:]), (4, *IMAGES[1:])
    number, peers = gammas(ALL, many), describe(ALL, many).parameter_peers((0, 2, 0, 3))
    return {
        "gammas": number,
        "few": few[0],
        "many": many[0],
        "shape": describe(ALL, many).counts.gamma_shape,
        "peers": len(peers),
        "right": number,
        "holds": {
            "as many as for two examples": gammas(ALL, few) == number,
            "the peers are the same place in the other examples": peers == [(n, 2, 0, 3) for n in range(1, many[0])],
            "one module takes both batches": module_of(ALL)(normal(*many)).shape == many
            and module_of(ALL)(normal(*few)).shape == few,
            "a gamma with N in its shape refuses the other batch": torch_words("LayerNorm([2, 3, 4, 4])", normal(*many))
            != "",
        },
    }


def _without_channels() -> Facts:
    text, shape = "LayerNorm([4, 5])", (2, 3, 4, 5)
    counts, number = describe(text, shape).counts, gammas(text, shape)
    return {
        "gammas": number,
        "cells": prod(shape[1:]),
        "means": counts.statistics,
        "right": number,
        "holds": {
            "one for each normalized element": number == counts.elements_per_statistic == shape[2] * shape[3],
            "not once more for each channel": number != prod(shape[1:]),
            "one mean for every channel of every example": counts.statistics == shape[0] * shape[1],
            "torch's own weight is (H, W)": tuple(module_of(text).get_parameter("weight").shape) == shape[2:],
        },
    }


def _same_place() -> Facts:
    text, shape, at = "LayerNorm([4, 5])", (2, 3, 4, 5), (0, 0, 1, 2)
    e = describe(text, shape)
    peers = e.parameter_peers(at)
    assert e.param_ids is not None
    both = set(zip(e.stat_ids.ravel().tolist(), e.param_ids.ravel().tolist(), strict=True))
    module, x = module_of(text), normal(*shape)
    before = module(x).detach()
    module.get_parameter("weight").data[1, 2] += 1
    moved = (module(x).detach() != before).nonzero().tolist()
    return {
        "peers": len(peers),
        "right": only(
            place=(0, 2, 1, 2) in peers and (0, 0, 1, 3) not in peers,
            neighbour=(0, 0, 1, 3) in peers and (0, 2, 1, 2) not in peers,
            none=not peers,
        ),
        "holds": {
            "the same place in every channel and example": all(i[2:] == at[2:] for i in peers)
            and len(peers) == shape[0] * shape[1] - 1,
            "torch moves just these when that one gamma changes": sorted(map(tuple, moved)) == sorted([at, *peers]),
            "the neighbour shares the mean": (0, 0, 1, 3) in e.peers(at),
            "no two elements share both": len(both) == prod(shape),
        },
    }


def _channels() -> Facts:
    e, layer = describe("BatchNorm2d(3)", IMAGES), describe(ALL, IMAGES)
    number = gammas("BatchNorm2d(3)", IMAGES)
    assert e.param_ids is not None
    assert layer.param_ids is not None
    both = set(zip(layer.stat_ids.ravel().tolist(), layer.param_ids.ravel().tolist(), strict=True))
    return {
        "gammas": number,
        "met": len(e.parameter_peers((0, 1, 0, 3))) + 1,
        "right": only(
            scalar=number == 1,
            channel=number == IMAGES[1],
            place=number == IMAGES[2] * IMAGES[3],
            element=number == prod(IMAGES[1:]),
        ),
        "holds": {
            "other channels meet other gammas": (0, 2, 0, 3) not in e.parameter_peers((0, 1, 0, 3)),
            "the two groups are the same": bool((e.stat_ids == e.param_ids).all()),
            "under LayerNorm no two elements share both": len(both) == prod(IMAGES),
        },
    }


def _planes() -> Facts:
    affine, plain = "InstanceNorm2d(3, affine=True)", "InstanceNorm2d(3)"
    e, number = describe(affine, IMAGES), gammas(affine, IMAGES)
    return {
        "gammas": number,
        "planes": e.counts.statistics,
        "none": describe(plain, IMAGES).counts.parameters,
        "right": number,
        "holds": {
            "the same channel of the other example meets the same gamma": (1, 1, 0, 3)
            in e.parameter_peers((0, 1, 0, 3)),
            "but has another mean": (1, 1, 0, 3) not in e.peers((0, 1, 0, 3)),
            "torch's own has one a channel": module_of(affine).get_parameter("weight").numel() == IMAGES[1],
            "the default has none": list(module_of(plain).parameters()) == [],
            "that of BatchNorm and LayerNorm has some": all(
                gammas(text, IMAGES) > 0 for text in ("BatchNorm2d(3)", ALL)
            ),
        },
    }


COUNTED = ("LayerNorm([4, 3, 3])", "RMSNorm([4, 3, 3])", "BatchNorm2d(4)", "GroupNorm(2, 4)")
INSTANCE = "InstanceNorm2d(4, affine=True)"


def _as_many() -> Facts:
    shape = (2, 4, 3, 3)
    number = {text: gammas(text, shape) for text in (*COUNTED, INSTANCE)}
    normalized = {text: describe(text, shape).counts.elements_per_statistic for text in number}
    equal = [text.partition("Norm")[0] for text in number if number[text] == normalized[text]]
    layer, rms, batch, group = COUNTED
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
        "holds": {
            "RMSNorm's are as LayerNorm's": (number[rms], normalized[rms]) == (number[layer], normalized[layer]),
            "and so for other normalized shapes": all(
                gammas(text, shape) == describe(text, shape).counts.elements_per_statistic
                for text in ("LayerNorm(3)", "LayerNorm([3, 3])", "RMSNorm(3)")
            ),
            "with beta, LayerNorm has twice as many parameters": describe(layer, shape).counts.parameters
            == 2 * number[layer],
        },
    }


def _over_channels() -> Facts:
    x = normal(*IMAGES).double()
    louder = x.clone()
    louder[:, 0] *= 4
    moved = {text: change(text, x, louder) for text in (ALL, PLANES)}
    measured = {
        text: next(found.holds for found in invariances(describe(text, IMAGES)) if found.key == "scale_channel")
        for text in moved
    }
    first, second = (e.counts.statistics for e in compare([ALL, PLANES], IMAGES, "NCHW").explanations)
    return {
        "moved": moved[ALL],
        "still": moved[PLANES],
        "first": first,
        "second": second,
        "right": only(
            whole=measured == {ALL: True, PLANES: False},
            planes=measured == {ALL: False, PLANES: True},
            both=all(measured.values()),
            neither=not any(measured.values()),
        ),
        "holds": {
            "over the channels the output moves": moved[ALL] > 0.1,
            "over planes it stays, but for eps": moved[PLANES] < 1e-4,
            "the other channels of the first move too": largest_difference(
                output(ALL, x)[:, 1:], output(ALL, louder)[:, 1:]
            )
            > 0.1,
            "without eps nothing moves": same(
                output("LayerNorm([4, 4], eps=0.0)", x), output("LayerNorm([4, 4], eps=0.0)", louder)
            ),
        },
    }


QUESTIONS = (
    Question(
        "s0", SHARING, _per_element, "explore",
        "shape=2,3,4,4&layer=LayerNorm([3,4,4])&params=index&at=0,2,0,3", ASKED,
    ),
    Question(
        "s0a", SHARING, _whole_example, "compare",
        "shape=2,3,4,4&layers=LayerNorm([3,4,4]);LayerNorm([4,4]);LayerNorm(4)&at=0,1,0,3", ASKED,
    ),
    Question(
        "s0b", SHARING, _batch_size, "explore",
        "shape=4,3,4,4&layer=LayerNorm([3,4,4])&params=index&at=0,2,0,3", ASKED,
    ),
    Question(
        "s0c", SHARING, _without_channels, "explore",
        "shape=2,3,4,5&layer=LayerNorm([4,5])&params=index&at=0,1,0,4", ASKED,
    ),
    Question(
        "s0d", SHARING, _same_place, "explore",
        "shape=2,3,4,5&layer=LayerNorm([4,5])&params=index&at=0,0,1,2", ASKED,
    ),
    Question(
        "s0e", SHARING, _channels, "explore",
        "shape=2,3,4,4&layer=BatchNorm2d(3)&params=index&at=0,1,0,3", ASKED,
    ),
    Question(
        "s0f", SHARING, _planes, "explore",
        "shape=2,3,4,4&layer=InstanceNorm2d(3,affine=True)&params=index&at=0,1,0,3", ASKED,
    ),
    Question(
        "s0g", SHARING, _as_many, "compare",
        "shape=2,4,3,3&layers=LayerNorm([4,3,3]);RMSNorm([4,3,3]);BatchNorm2d(4);GroupNorm(2,4);"
        "InstanceNorm2d(4,affine=True)&at=0,1,0,2", ASKED,
    ),
    Question(
        "s0h", SHARING, _over_channels, "compare",
        "shape=2,3,4,4&layers=LayerNorm([3,4,4]);LayerNorm([4,4]);ChannelsFirstLayerNorm(3)&at=0,0,1,2", ASKED,
    ),
)  # fmt: skip
