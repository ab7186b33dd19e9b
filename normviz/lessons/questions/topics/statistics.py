"""Questions on statistics: which elements share a mean and a variance, and which elements of x change an output."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from normviz.analysis.closed_form import autograd_backward, upstream
from normviz.analysis.comparison import compare
from normviz.analysis.derivatives import perturb
from normviz.analysis.description import describe
from normviz.analysis.examples import from_values
from normviz.analysis.forward import largest_difference
from normviz.analysis.invariance import invariances
from normviz.analysis.running.torch_module import torch_refusal
from normviz.lessons.compare.page import PAGE as COMPARE_PAGE
from normviz.lessons.explore.page import PAGE as EXPLORE_PAGE
from normviz.lessons.gradients.page import PAGE as GRADIENTS_PAGE
from normviz.lessons.questions.facts import (
    ROUNDING,
    count_gammas,
    normal,
    only,
    output,
    output_change,
    scene_of,
    skewness,
    which,
)
from normviz.lessons.questions.question import DEPENDENCE, STATISTICS, Facts
from normviz.lessons.questions.sources import ANNOTATED, ARTICLE, COURSE, FORUM, issue, keras_page, paper, torch_page
from normviz.lessons.step_by_step.page import PAGE as STEP_BY_STEP_PAGE

if TYPE_CHECKING:
    from torch import Tensor


@STATISTICS.question("s1a", EXPLORE_PAGE, "shape=4,6&layer=LayerNorm(6)&at=1,4", [COURSE])
def row_means() -> Facts:
    x = normal(4, 6).double()
    e, y = describe("LayerNorm(6)", x), output("LayerNorm(6)", x)
    means = e.counts.statistics
    return {
        "means": means,
        "features": e.counts.elements_per_statistic,
        "column": max(y.mean(0).tolist(), key=abs),
        "columns": describe("BatchNorm1d(6)", x).counts.statistics,
        "right": only(rows=means == 4, columns=means == 6, one=means == 1),
    }


IMAGES = (2, 3, 4, 4)
ALL = "LayerNorm([3, 4, 4])"


@STATISTICS.question(
    "s0a", COMPARE_PAGE, "shape=2,3,4,4&layers=LayerNorm([3,4,4]);LayerNorm([4,4]);LayerNorm(4)&at=0,1,0,3", [FORUM]
)
def whole_example() -> Facts:
    example = prod(IMAGES[1:])
    whole, planes, rows = (describe(text, IMAGES).counts for text in (ALL, "LayerNorm([4, 4])", "LayerNorm(4)"))
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
    }


@STATISTICS.question("s2e", EXPLORE_PAGE, "shape=4,3,2,2&layer=BatchNorm2d(3)&at=0,1,0,1", [ANNOTATED])
def batch_norm_channels() -> Facts:
    shape = (4, 3, 2, 2)
    x = normal(*shape)
    y, counts = output("BatchNorm2d(3)", x), describe("BatchNorm2d(3)", shape).counts
    zero = {
        "place": bool((y.mean(0).abs() < 1e-5).all()),
        "channel": bool((y.mean((0, 2, 3)).abs() < 1e-5).all()),
        "example": bool((y.mean((1, 2, 3)).abs() < 1e-5).all()),
    }
    return {
        "means": counts.statistics,
        "elements": counts.elements_per_statistic,
        "place": max(y.mean(0).flatten().tolist(), key=abs),
        "right": only(**zero),
    }


@STATISTICS.question(
    "s2f", COMPARE_PAGE, "shape=2,3,4,4&layers=LayerNorm([3,4,4]);LayerNorm([2,3,4,4])&at=1,2,0,3", [ANNOTATED]
)
def one_mean_per_example() -> Facts:
    whole_batch, counts, x = "LayerNorm([2, 3, 4, 4])", describe(ALL, IMAGES).counts, normal(*IMAGES)
    other = x.clone()
    other[1] = 3 * x[1] + 1
    means = counts.statistics
    return {
        "means": means,
        "elements": counts.elements_per_statistic,
        "one": describe(whole_batch, IMAGES).counts.statistics,
        "still": output_change(ALL, x, other, 0),
        "moved": output_change(whole_batch, x, other, 0),
        "right": only(batch=means == 1, example=means == 2, channel=means == 3, plane=means == 6),
    }


@STATISTICS.question(
    "q4",
    COMPARE_PAGE,
    "shape=2,4,6&layout=NLC&layers=LayerNorm([6]);LayerNorm([4,6])&at=0,1,4",
    [issue("minGPT", 113), paper("LayerNorm"), ARTICLE],
)
def tokens() -> Facts:
    token, sequence = (describe(text, (2, 4, 6)) for text in ("LayerNorm(6)", "LayerNorm([4, 6])"))
    x = normal(2, 4, 6)
    later = x.clone()
    later[:, -1] += 3 * x[:, 0]
    first = (slice(None), 0)
    reached = perturb(describe("ChannelsLastBatchNorm(6)", x), (0, 1, 4), h=1.0).changed.any(2)
    return {
        "reached": int(reached.sum()),
        "statistics": token.counts.statistics,
        "features": token.counts.elements_per_statistic,
        "sequences": sequence.counts.statistics,
        "kept": output_change("LayerNorm(6)", x, later, first),
        "leak": output_change("LayerNorm([4, 6])", x, later, first),
        "right": token.counts.statistics,
    }


@STATISTICS.question(
    "q3",
    COMPARE_PAGE,
    "shape=2,3,4,4&layers=ChannelsFirstLayerNorm(3);LayerNorm([3,4,4])&at=1,1,2,1",
    [issue("ConvNeXt", 112), paper("ConvNeXt")],
)
def convnext() -> Facts:
    pixel, image = (describe(text, IMAGES) for text in ("ChannelsFirstLayerNorm(3)", ALL))
    return {
        "statistics": pixel.counts.statistics,
        "channels": pixel.counts.elements_per_statistic,
        "images": image.counts.statistics,
        "elements": image.counts.elements_per_statistic,
        "gammas": count_gammas("ChannelsFirstLayerNorm(3)", IMAGES),
        "image_gammas": count_gammas(ALL, IMAGES),
        "right": pixel.counts.statistics,
    }


@STATISTICS.question(
    "q8",
    EXPLORE_PAGE,
    "shape=2,6,3,3&layer=GroupNorm(2,6)&at=0,1,0,2",
    [issue("onnx", 8445, "pull"), torch_page("GroupNorm"), paper("GroupNorm")],
)
def groups() -> Facts:
    e = describe("GroupNorm(2, 6)", (2, 6, 3, 3))
    together = {0, *(channel for _, channel, _, _ in e.peers((0, 0, 0, 0)))}
    legal = [groups for groups in range(1, 7) if not torch_refusal(f"GroupNorm({groups}, 6)", normal(2, 6, 3, 3))]
    return {
        "groups": e.norm.split_sizes["g"],
        "images": e.shape[0],
        "total": e.shape[1],
        "channels": len(together),
        "statistics": e.counts.statistics,
        "words": torch_refusal("GroupNorm(4, 6)", normal(2, 6, 3, 3)),
        "legal": ", ".join(map(str, legal)),
        "right": len(together),
    }


@STATISTICS.question(
    "s3a",
    COMPARE_PAGE,
    "shape=2,3,4,4&layers=BatchNorm2d(3);LayerNorm([3,4,4]);ChannelsFirstLayerNorm(3)&at=0,1,0,3",
    [ARTICLE],
)
def vision_and_text() -> Facts:
    batch, layer, pixel = (
        describe(text, IMAGES).counts for text in ("BatchNorm2d(3)", ALL, "ChannelsFirstLayerNorm(3)")
    )
    return {
        "batch": batch.statistics,
        "layer": layer.statistics,
        "pixels": pixel.statistics,
        "right": which(
            batch=torch_refusal("BatchNorm1d(5)", normal(2, 5, 4)) != "",
            layer=torch_refusal(ALL, normal(*IMAGES)) != "",
            neither="none",
        ),
    }


SCALED_COLUMNS = "shape=6,3&layer=BatchNorm1d(3)&params=random&at=2,1&step=6"


@STATISTICS.question("s1f", STEP_BY_STEP_PAGE, SCALED_COLUMNS, [COURSE])
def columns_after_scaling() -> Facts:
    e = scene_of(SCALED_COLUMNS).description
    values, before, after = e.layer_values(), e.trace.normalized.double(), e.trace.output.double()
    assert values.gamma is not None
    assert values.beta is not None
    deviations = after.std(0, correction=0)
    alike_before = bool((before.mean(0).abs() < 1e-5).all() and ((before.std(0, correction=0) - 1).abs() < 1e-3).all())
    of_beta = bool((after.mean(0) - values.beta).abs().max() < 1e-4)
    of_gamma = bool((deviations - values.gamma.abs()).abs().max() < 1e-3)
    alike_after = bool(deviations.max() - deviations.min() < 1e-3)
    squares = normal(64, 1).square()
    return {
        "skewed": skewness(squares.double()),
        "still": skewness(output("BatchNorm1d(1)", squares).double()),
        "low": float(deviations.min()),
        "high": float(deviations.max()),
        "small": float(values.gamma.abs().min()),
        "large": float(values.gamma.abs().max()),
        "right": only(
            same=alike_before and alike_after,
            learned=alike_before and of_gamma and of_beta and not alike_after,
            data=not alike_before,
        ),
    }


SCALED_ROWS = "shape=4,6&layer=LayerNorm(6)&params=random&at=1,4&step=6"


@STATISTICS.question("s1e", STEP_BY_STEP_PAGE, SCALED_ROWS, [COURSE])
def rows_after_scaling() -> Facts:
    e = scene_of(SCALED_ROWS).description
    assert e.x is not None
    before, after = output("LayerNorm(6)", e.x.double()), e.trace.output.double()
    means, variances = after.mean(1), after.var(1, correction=0)
    alike_before = bool((before.mean(1).abs() < 1e-5).all() and ((before.var(1, correction=0) - 1).abs() < 1e-3).all())
    alike_after = bool(means.max() - means.min() < 1e-3 and variances.max() - variances.min() < 1e-3)
    return {
        "off": float((before.var(1, correction=0) - 1).abs().max()),
        "low": float(means.min()),
        "high": float(means.max()),
        "least": float(variances.min()),
        "most": float(variances.max()),
        "right": which(before=alike_before, after=alike_after),
    }


# Questions on dependence: which elements of x change an output.


@DEPENDENCE.question(
    "s3i", COMPARE_PAGE, "shape=4,6&layers=LayerNorm(6);BatchNorm1d(6);BatchNorm1d(6).eval()&at=0,4", [ARTICLE]
)
def other_examples() -> Facts:
    x = normal(4, 6)
    other = x.clone()
    other[1:] = 3 * x[1:] + 1
    layer, batch = (output_change(text, x, other, 0) for text in ("LayerNorm(6)", "BatchNorm1d(6)"))
    return {
        "layer": layer,
        "batch": batch,
        "evaluated": output_change("BatchNorm1d(6).eval()", x, other, 0),
        "right": which(layer=layer > 0, batch=batch > 0),
    }


@DEPENDENCE.question(
    "q7",
    GRADIENTS_PAGE,
    "shape=1,4,5&layout=NCL&layer=GroupNorm(2,4)&at=0,0,4",
    [issue("Wan2.1", 294), torch_page("GroupNorm"), paper("GroupNorm")],
)
def group_norm_positions() -> Facts:
    x, at = normal(1, 4, 5), (0, 0, 4)
    group, step = (perturb(describe(text, x), at, h=1.0) for text in ("GroupNorm(2, 4)", "ChannelsFirstLayerNorm(4)"))
    early = (group.after - group.before)[0, 0, 0].abs()
    channels, time_steps = int(group.changed.any(dim=2).sum()), int(group.changed.any(dim=1).sum())
    return {
        "moved": int(group.changed.sum()),
        "channels": channels,
        "steps": time_steps,
        "early": float(early),
        "alone": int(step.changed.sum()),
        "right": int(group.changed.sum()),
    }


PLANES = "LayerNorm([4, 4])"


@DEPENDENCE.question(
    "s0h",
    COMPARE_PAGE,
    "shape=2,3,4,4&layers=LayerNorm([3,4,4]);LayerNorm([4,4]);ChannelsFirstLayerNorm(3)&at=0,0,1,2",
    [FORUM, paper("LayerNorm")],
)
def over_channels() -> Facts:
    x = normal(*IMAGES).double()
    scaled = x.clone()
    scaled[:, 0] *= 4
    moved = {text: output_change(text, x, scaled) for text in (ALL, PLANES)}
    invariant = {
        text: next(found.holds for found in invariances(describe(text, IMAGES)) if found.key == "scale_channel")
        for text in (ALL, PLANES)
    }
    first, second = (e.counts.statistics for e in compare([ALL, PLANES], IMAGES, "NCHW").descriptions)
    return {
        "moved": moved[ALL],
        "still": moved[PLANES],
        "first": first,
        "second": second,
        "right": which(whole=invariant[ALL], planes=invariant[PLANES]),
    }


@DEPENDENCE.question(
    "q26",
    GRADIENTS_PAGE,
    "shape=8,3&layout=ND&layer=BatchNorm1d(3)&at=2,1",
    [paper("BatchNorm"), paper("RMSNorm")],
    needs="RMSNorm(3)",
)
def bias() -> Facts:
    x, bias = normal(8, 3), from_values((5.0, -3.0, 10.0), (3,))
    layers = {"batch": "BatchNorm1d(3)", "rms": "RMSNorm(3)", "layer": "LayerNorm(3)"}
    changes = {key: output_change(text, x, x + bias) for key, text in layers.items()}
    bias_gradient = autograd_backward(describe(layers["batch"], x), upstream((8, 3))).dx.sum(0)
    return {
        **changes,
        "evaluated": output_change("BatchNorm1d(3).eval()", x, x + bias),
        "gradient": float(bias_gradient.abs().max()),
        "right": which(batch=changes["batch"] < ROUNDING, rms=changes["rms"] < ROUNDING),
    }


PADDED_LAYERS = {
    "batch": "BatchNorm1d(3)",
    "token": "ChannelsFirstLayerNorm(3)",
    "instance": "InstanceNorm1d(3)",
    "group": "GroupNorm(1, 3)",
}


REAL = 2  # steps of the second sequence that are not padding


def padded_sequences(length: int = 6) -> Tensor:
    """Two sequences of values around 3, of six and two steps, zero-padded to (2, 3, length)."""
    values = 3 + normal(2, 3, 6, seed=4)
    padded = from_values((0.0,) * (2 * 3 * length), (2, 3, length))
    padded[0, :, :6], padded[1, :, :REAL] = values[0], values[1, :, :REAL]
    return padded


@DEPENDENCE.question(
    "q21",
    COMPARE_PAGE,
    f"shape=2,3,6&layout=NCL&layers={';'.join(PADDED_LAYERS.values()).replace(' ', '')}&at=1,0,1"
    f"&values={','.join(f'{value:.4g}' for value in padded_sequences().flatten().tolist())}",
    [issue("pytorch", 81985), torch_page("BatchNorm1d"), keras_page("BatchNormalization")],
)
def padding() -> Facts:
    x, longer = padded_sequences(), padded_sequences(12)
    real = (1, slice(None), slice(0, REAL))
    changes = {
        key: largest_difference(output(text, x)[real], output(text, longer)[real])
        for key, text in PADDED_LAYERS.items()
    }
    channel = [x[0, 0], x[1, 0, :REAL]]
    tokens = sum(len(part) for part in channel)
    unmoved = [key for key, moved in changes.items() if moved == 0]
    return {
        **changes,
        "real": float(sum(part.sum() for part in channel)) / tokens,
        "padded": float(x[:, 0].mean()),
        "longer": float(longer[:, 0].mean()),
        "right": unmoved[0] if len(unmoved) == 1 else "none",
    }
