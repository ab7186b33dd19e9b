"""Which axis is which: layers that look at sizes and positions, and know no names."""

from __future__ import annotations

from normviz.analysis.examples import example
from normviz.analysis.explanation import describe
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.torch_module import torch_words
from normviz.layers.catalogue import KINDS
from normviz.lessons.questions.facts import ROUNDING
from normviz.lessons.questions.outputs import normal, output
from normviz.lessons.questions.question import Facts, Question
from normviz.lessons.questions.sources import issue, torch_page
from normviz.lessons.questions.topics import SHAPES


def _square() -> Facts:
    """C and W are equal, so that the wrong axis fits."""
    x = normal(2, 4, 3, 4)
    trailing, pixel = describe("LayerNorm(4)", x), describe("ChannelsFirstLayerNorm(4, eps=1e-05)", x)
    moved = output("LayerNorm(4)", x.movedim(1, -1)).movedim(-1, 1)
    options = {"channels": ("n", "h", "w"), "row": ("n", "c", "h"), "image": ("n",)}
    return {
        "statistics": trailing.counts.statistics,
        "elements": trailing.counts.elements_per_statistic,
        "pixels": pixel.counts.statistics,
        "difference": largest_difference(output("LayerNorm(4)", x), pixel.trace.output),
        "words": torch_words("LayerNorm(4)", normal(2, 4, 3, 5)),
        "right": next(key for key, kept in options.items() if trailing.norm.pattern.right == kept),
        "holds": {
            "a mean has one channel in it": {i[1] for i in trailing.peers((0, 1, 2, 3))} == {1},
            "permuted, LayerNorm(4) is the norm of each pixel": largest_difference(moved, pixel.trace.output)
            < ROUNDING,
        },
    }


def _not_last() -> Facts:
    """An x of 256 channels, and three ways to make ``LayerNorm(256)`` run."""
    x = normal(2, 256, 4, 4)
    wanted = describe("ChannelsFirstLayerNorm(256, eps=1e-05)", x).trace.output
    ways = {
        "move": output("LayerNorm(256)", x.movedim(1, -1)).movedim(-1, 1),
        "reshape": output("LayerNorm(256)", x.reshape(2, 4, 4, 256)).reshape(x.shape),
        "all": output("LayerNorm([256, 4, 4])", x),
    }
    gaps = {key: largest_difference(found, wanted) for key, found in ways.items()}
    channel = (
        example("counting", (256,), ("c",)).reshape(1, -1, 1, 1).expand(x.shape)
    )  # every element tells its channel
    return {
        "words": torch_words("LayerNorm(256)", x),
        "mixed": len(channel.reshape(2, 4, 4, 256)[0, 0, 0].unique()),
        "met": len(channel.movedim(1, -1)[0, 0, 0].unique()),
        "reshape": gaps["reshape"],
        "all": gaps["all"],
        "right": min(gaps, key=lambda key: gaps[key]),
        "holds": {
            "with the channels moved last it is the norm of each pixel": gaps["move"] < ROUNDING,
            "reshaped and over everything it is another": min(gaps["reshape"], gaps["all"]) > 0.1,
        },
    }


def _sequence() -> Facts:
    """(N, L, C) to a layer that takes (N, C, L)."""
    x = normal(2, 4, 6)
    steps, features = describe("BatchNorm1d(4)", x), describe("BatchNorm1d(6)", x.transpose(1, 2))
    met = {axis for peer in steps.peers((0, 1, 4)) for axis in range(3) if peer[axis] != (0, 1, 4)[axis]}
    wanted = describe("Norm('n l c -> c', 'c')", x).trace.output
    moved = output("BatchNorm1d(6)", x.transpose(1, 2)).transpose(1, 2)
    words = torch_words("BatchNorm1d(6)", x)
    return {
        "words": words,
        "steps": steps.counts.statistics,
        "axis": KINDS["BatchNorm1d"].channel_axis,
        "features": features.counts.statistics,
        "elements": features.counts.elements_per_statistic,
        "right": "refuses" if words else "features",
        "holds": {
            "torch says it at once": words != "",
            "BatchNorm1d(4) runs, and a mean has one step and all features in it": met == {0, 2},
            "transposed, a mean is over one feature": largest_difference(moved, wanted) < ROUNDING,
        },
    }


QUESTIONS = (
    Question(
        "q1",
        SHAPES,
        _square,
        "compare",
        "shape=2,4,3,4&layers=LayerNorm([4]);ChannelsFirstLayerNorm(4)&at=0,1,1,2",
        (issue("pytorch", 71465), issue("pytorch", 74661), torch_page("LayerNorm")),
    ),
    Question(
        "q2",
        SHAPES,
        _not_last,
        "explore",
        "shape=2,4,4,6&layout=NHWC&layer=LayerNorm([6])&at=0,1,2,3",
        (issue("mmsegmentation", 3809), torch_page("LayerNorm")),
    ),
    Question(
        "q20",
        SHAPES,
        _sequence,
        "compare",
        "shape=2,4,6&layout=NLC&layers=BatchNorm1d(4);Norm('n l c -> c','c')&at=0,1,4",
        (issue("pytorch", 7577), torch_page("BatchNorm1d")),
    ),
)
