"""What a layer is: where gamma and beta stand, what its arguments mean, what it learns."""

from __future__ import annotations

from normviz.analysis.explanation import Explanation, describe
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.torch_module import buffers, torch_words
from normviz.layers.layer import Layer
from normviz.lessons.questions.facts import ROUNDING
from normviz.lessons.questions.outputs import gammas, normal, output
from normviz.lessons.questions.question import Facts, Question
from normviz.lessons.questions.sources import GROUP_NORM_PAPER, INSTANCE_NORM_PAPER, issue, torch_page
from normviz.lessons.questions.topics import SHARING


def _gamma_axes() -> Facts:
    shape = (2, 2, 3)
    texts = {
        "layer": "LayerNorm([2, 3])",
        "batch": "BatchNorm1d(2)",
        "instance": "InstanceNorm1d(2, affine=True)",
        "group": "GroupNorm(1, 2)",
    }
    found = {key: describe(text, shape) for key, text in texts.items()}
    layer, batch, group = (found[key].norm for key in ("layer", "batch", "group"))
    options = {"kept": layer.pattern.right, "reduced": layer.pattern.reduced, "channel": ("c",)}
    return {
        **{key: str(e.counts.gamma_shape) for key, e in found.items()},
        "right": next(key for key, axes in options.items() if axes == layer.gamma_axes),
        "holds": {
            "LayerNorm's gamma stands on the axes that it averages over": layer.gamma_axes == layer.pattern.reduced,
            "BatchNorm's on the one that it does not": batch.gamma_axes == batch.pattern.right,
            "GroupNorm's on neither: groups are averaged, channels have gamma": group.gamma_axes
            not in (group.pattern.right, group.pattern.reduced),
            "InstanceNorm's and GroupNorm's gamma are BatchNorm's": found["batch"].counts.gamma_shape
            == found["instance"].counts.gamma_shape
            == found["group"].counts.gamma_shape,
        },
    }


def _one_group() -> Facts:
    x = normal(2, 2, 3)
    group, layer = (describe(text, x) for text in ("GroupNorm(1, 2)", "LayerNorm([2, 3])"))
    same = (bool((group.stat_ids == layer.stat_ids).all()), group.counts.gamma_shape == layer.counts.gamma_shape)
    names = {(True, True): "nothing", (False, True): "means", (True, False): "gammas", (False, False): "both"}
    other = normal(2, 2, 5)
    return {
        "statistics": group.counts.statistics,
        "difference": largest_difference(output("GroupNorm(1, 2)", x), output("LayerNorm([2, 3])", x)),
        "group_gammas": gammas("GroupNorm(1, 2)", x.shape),
        "layer_gammas": gammas("LayerNorm([2, 3])", x.shape),
        "right": names[same],
        "holds": {
            "the means are those of the same elements": same[0],
            "while gamma is one and beta zero, the outputs agree": largest_difference(
                group.trace.output, layer.trace.output
            )
            < ROUNDING,
            "GroupNorm takes any length": output("GroupNorm(1, 2)", other).shape == other.shape,
            "and LayerNorm does not": torch_words("LayerNorm([2, 3])", other) != "",
        },
    }


def _groups() -> Facts:
    e = describe("GroupNorm(2, 6)", (2, 6, 3, 3))
    together = {0, *(channel for _, channel, _, _ in e.peers((0, 0, 0, 0)))}
    legal = [groups for groups in range(1, 7) if not torch_words(f"GroupNorm({groups}, 6)", normal(2, 6, 3, 3))]
    return {
        "groups": e.norm.split_sizes["g"],
        "images": e.shape[0],
        "total": e.shape[1],
        "channels": len(together),
        "statistics": e.counts.statistics,
        "words": torch_words("GroupNorm(4, 6)", normal(2, 6, 3, 3)),
        "legal": ", ".join(map(str, legal)),
        "right": len(together),
        "holds": {
            "the channels of a group are neighbours": together == set(range(len(together))),
            "the legal numbers are those that divide the channels": legal == [k for k in range(1, 7) if 6 % k == 0],
        },
    }


def _instance() -> Facts:
    plain, affine, tracking, batch = (
        describe(text, (2, 4, 3, 3))
        for text in (
            "InstanceNorm2d(4)",
            "InstanceNorm2d(4, affine=True)",
            "InstanceNorm2d(4, track_running_stats=True)",
            "BatchNorm2d(4)",
        )
    )
    return {
        "learned": _learned(plain),
        "affine": _learned(affine),
        "batch": _learned(batch),
        "buffers": sum(buffer.elements for buffer in buffers("InstanceNorm2d(4)")),
        "batch_buffers": sum(buffer.elements for buffer in buffers("BatchNorm2d(4)")),
        "right": _learned(plain),
        "holds": {
            "torch's own module has as many": all(
                e.counts.parameters == _learned(e) for e in (plain, affine, tracking, batch)
            ),
            "without running statistics train and eval are the same": buffers("InstanceNorm2d(4)") == (),
            "with track_running_stats=True it keeps what BatchNorm keeps": buffers(_layer(tracking))
            == buffers("BatchNorm2d(4)"),
        },
    }


def _layer(e: Explanation) -> Layer:
    assert e.layer is not None
    return e.layer


def _learned(e: Explanation) -> int:
    """What torch's own module gives an optimizer."""
    return sum(parameter.numel() for parameter in _layer(e).module().parameters())


QUESTIONS = (
    Question(
        "q5",
        SHARING,
        _gamma_axes,
        "compare",
        "shape=2,2,3&layout=NCL&layers=LayerNorm([2,3]);BatchNorm1d(2)&at=0,1,2",
        (torch_page("LayerNorm"), torch_page("GroupNorm")),
    ),
    Question(
        "q6",
        SHARING,
        _one_group,
        "compare",
        "shape=2,2,3&layout=NCL&layers=GroupNorm(1,2);LayerNorm([2,3])&at=0,1,2",
        (issue("pytorch", 75862), torch_page("GroupNorm")),
    ),
    Question(
        "q8",
        SHARING,
        _groups,
        "explore",
        "shape=2,6,3,3&layer=GroupNorm(2,6)&at=0,1,0,2",
        (issue("onnx", 8445, "pull"), torch_page("GroupNorm"), GROUP_NORM_PAPER),
    ),
    Question(
        "q9",
        SHARING,
        _instance,
        "explore",
        "shape=2,4,3,3&layer=InstanceNorm2d(4)&at=0,1,0,2",
        (issue("pytorch", 22755), torch_page("InstanceNorm2d"), INSTANCE_NORM_PAPER),
    ),
)
