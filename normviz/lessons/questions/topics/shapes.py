"""Questions on axes and shapes: layers find their axes by size and position, not by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.torch_module import torch_refusal
from normviz.layers.catalogue import KINDS
from normviz.lessons.compare import PAGE as COMPARE_PAGE
from normviz.lessons.explore import PAGE as EXPLORE_PAGE
from normviz.lessons.questions.facts import count_gammas, normal, only, output, which
from normviz.lessons.questions.question import SHAPES, Facts
from normviz.lessons.questions.sources import ANNOTATED, ARTICLE, issue, paper, torch_page
from normviz.lessons.step_by_step import PAGE as STEP_BY_STEP_PAGE

if TYPE_CHECKING:
    from torch import Tensor


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
    # Each element has the number of its channel.
    channel = example("counting", (256,), ("c",)).reshape(1, -1, 1, 1).expand(x.shape)
    return {
        "words": torch_refusal("LayerNorm(256)", x),
        "mixed": len(channel.reshape(2, 4, 4, 256)[0, 0, 0].unique()),
        "channels": len(channel.movedim(1, -1)[0, 0, 0].unique()),
        "reshape": differences["reshape"],
        "all": differences["all"],
        "right": min(differences, key=lambda key: differences[key]),
    }


@SHAPES.question(
    "q20",
    COMPARE_PAGE,
    "shape=2,4,6&layout=NLC&layers=BatchNorm1d(4);Norm('n l c -> c','c')&at=0,1,4",
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


@SHAPES.question(
    "s2j",
    COMPARE_PAGE,
    "shape=2,3,4,4&params=index&layers=LayerNorm([3,4,4]);GroupNorm(1,3);BatchNorm2d(3)&at=0,1,0,3",
    [ANNOTATED, paper("GroupNorm")],
)
def another_image_size() -> Facts:
    small, larger = (2, 3, 4, 4), normal(2, 3, 6, 6)
    whole_image, batch_norm = "LayerNorm([3, 4, 4])", "BatchNorm2d(3)"
    return {
        "gammas": count_gammas(whole_image, small),
        "channels": count_gammas(batch_norm, small),
        "means": describe(whole_image, small).counts.statistics,
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
