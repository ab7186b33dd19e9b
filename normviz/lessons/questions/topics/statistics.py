"""Questions on statistics: which elements share a mean and a variance."""

from __future__ import annotations

from math import prod

from normviz.analysis.derivatives import perturb
from normviz.analysis.description import describe
from normviz.analysis.running.torch_module import torch_refusal
from normviz.lessons.compare import PAGE as COMPARE_PAGE
from normviz.lessons.explore import PAGE as EXPLORE_PAGE
from normviz.lessons.questions.facts import count_gammas, normal, only, output, output_change, scene_of, skewness, which
from normviz.lessons.questions.question import STATISTICS, Facts
from normviz.lessons.questions.sources import ANNOTATED, ARTICLE, COURSE, FORUM, issue, paper, torch_page
from normviz.lessons.step_by_step import PAGE as STEP_BY_STEP_PAGE


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
    reached = perturb(describe("Norm('n l c -> c', 'c')", x), (0, 1, 4), h=1.0).changed.any(2)
    return {
        "reached": int(reached.sum()),
        "tokens": reached.numel(),
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
