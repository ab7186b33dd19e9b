"""Questions on statistics: which elements share a mean and a variance, and which elements of x change an output."""

from math import prod

from torch.nn.functional import pad

from normviz.analysis import closed_form, derivatives, examples, forward, invariance
from normviz.analysis.description import describe
from normviz.analysis.running.torch_module import torch_refusal
from normviz.lessons.questions import facts


def row_means() -> facts.Facts:
    y = facts.output("LayerNorm(6)", facts.normal(4, 6).double())
    return {"column": max(y.mean(0).tolist(), key=abs)}


IMAGES = (2, 3, 4, 4)
ALL = "LayerNorm([3, 4, 4])"


def whole_example() -> facts.Facts:
    texts = {"whole": ALL, "planes": "LayerNorm([4, 4])", "rows": "LayerNorm(4)"}
    elements = {key: describe(text, IMAGES).counts.elements_per_statistic for key, text in texts.items()}
    covers = [key for key, number in elements.items() if number == prod(IMAGES[1:])]
    return {"right": facts.only(every=len(covers) == 3, **{key: covers == [key] for key in texts})}


def batch_norm_channels() -> facts.Facts:
    y = facts.output("BatchNorm2d(3)", facts.normal(4, 3, 2, 2))
    means = {"place": y.mean(0), "channel": y.mean((0, 2, 3)), "example": y.mean((1, 2, 3))}
    return {
        "place": max(means["place"].flatten().tolist(), key=abs),
        "right": facts.only(**{key: bool((mean.abs() < facts.ROUNDING).all()) for key, mean in means.items()}),
    }


def one_mean_per_example() -> facts.Facts:
    x = facts.normal(*IMAGES)
    other = x.clone()
    other[1] = 3 * x[1] + 1
    return {
        "still": facts.output_change(ALL, x, other, 0),
        "moved": facts.output_change("LayerNorm([2, 3, 4, 4])", x, other, 0),
    }


def tokens() -> facts.Facts:
    x = facts.normal(2, 4, 6)
    later = x.clone()
    later[:, -1] += 3 * x[:, 0]
    first = (slice(None), 0)
    reached = derivatives.perturb(describe("ChannelsLastBatchNorm(6)", x), (0, 1, 4), h=1.0).changed.any(2)
    return {
        "reached": int(reached.sum()),
        "kept": facts.output_change("LayerNorm(6)", x, later, first),
        "leak": facts.output_change("LayerNorm([4, 6])", x, later, first),
    }


def groups() -> facts.Facts:
    e = describe("GroupNorm(2, 6)", (2, 6, 3, 3))
    together = {0, *(channel for _, channel, _, _ in e.peers((0, 0, 0, 0)))}
    legal = [groups for groups in range(1, 7) if not torch_refusal(f"GroupNorm({groups}, 6)", facts.normal(2, 6, 3, 3))]
    return {
        "groups": e.norm.split_sizes["g"],
        "images": e.shape[0],
        "total": e.shape[1],
        "channels": len(together),
        "legal": ", ".join(map(str, legal)),
        "right": len(together),
    }


def vision_and_text() -> facts.Facts:
    batch = torch_refusal("BatchNorm1d(5)", facts.normal(2, 5, 4)) != ""
    return {"right": facts.which(batch=batch, layer=torch_refusal(ALL, facts.normal(*IMAGES)) != "", neither="none")}


def columns_after_scaling() -> facts.Facts:
    e = facts.view_of("s1f").description
    values, before, after = e.layer_values(), e.trace.normalized.double(), e.trace.output.double()
    assert values.gamma is not None
    assert values.beta is not None
    deviations = after.std(0, correction=0)
    alike_before = bool((before.mean(0).abs() < 1e-5).all() and ((before.std(0, correction=0) - 1).abs() < 1e-3).all())
    of_beta = bool((after.mean(0) - values.beta).abs().max() < 1e-4)
    of_gamma = bool((deviations - values.gamma.abs()).abs().max() < 1e-3)
    alike_after = bool(deviations.max() - deviations.min() < 1e-3)
    squares = facts.normal(64, 1).square()
    return {
        "skewed": facts.skewness(squares.double()),
        "still": facts.skewness(facts.output("BatchNorm1d(1)", squares).double()),
        "low": float(deviations.min()),
        "high": float(deviations.max()),
        "small": float(values.gamma.abs().min()),
        "large": float(values.gamma.abs().max()),
        "right": facts.only(
            same=alike_before and alike_after,
            learned=alike_before and of_gamma and of_beta and not alike_after,
            data=not alike_before,
        ),
    }


def rows_after_scaling() -> facts.Facts:
    e = facts.view_of("s1e").description
    assert e.x is not None
    before, after = facts.output("LayerNorm(6)", e.x.double()), e.trace.output.double()
    means, variances = after.mean(1), after.var(1, correction=0)
    alike_before = bool((before.mean(1).abs() < 1e-5).all() and ((before.var(1, correction=0) - 1).abs() < 1e-3).all())
    alike_after = bool(means.max() - means.min() < 1e-3 and variances.max() - variances.min() < 1e-3)
    return {
        "off": float((before.var(1, correction=0) - 1).abs().max()),
        "low": float(means.min()),
        "high": float(means.max()),
        "least": float(variances.min()),
        "most": float(variances.max()),
        "right": facts.which(before=alike_before, after=alike_after),
    }


# Questions on dependence: which elements of x change an output.


def other_examples() -> facts.Facts:
    x = facts.normal(4, 6)
    other = x.clone()
    other[1:] = 3 * x[1:] + 1
    layer, batch = (facts.output_change(text, x, other, 0) for text in ("LayerNorm(6)", "BatchNorm1d(6)"))
    return {
        "layer": layer,
        "batch": batch,
        "evaluated": facts.output_change("BatchNorm1d(6).eval()", x, other, 0),
        "right": facts.which(layer=layer > 0, batch=batch > 0),
    }


def group_norm_positions() -> facts.Facts:
    x, at = facts.normal(1, 4, 5), (0, 0, 4)
    group, step = (
        derivatives.perturb(describe(text, x), at, h=1.0) for text in ("GroupNorm(2, 4)", "ChannelsFirstLayerNorm(4)")
    )
    return {
        "moved": int(group.changed.sum()),
        "channels": int(group.changed.any(dim=2).sum()),
        "steps": int(group.changed.any(dim=1).sum()),
        "early": float((group.after - group.before)[0, 0, 0].abs()),
        "alone": int(step.changed.sum()),
        "right": int(group.changed.sum()),
    }


def over_channels() -> facts.Facts:
    x, texts = facts.normal(*IMAGES).double(), {"whole": ALL, "planes": "LayerNorm([4, 4])"}
    scaled = x.clone()
    scaled[:, 0] *= 4
    moved = {key: facts.output_change(text, x, scaled) for key, text in texts.items()}
    invariant = {
        key: next(
            found.holds for found in invariance.invariances(describe(text, IMAGES)) if found.key == "scale_channel"
        )
        for key, text in texts.items()
    }
    return {
        "moved": moved["whole"],
        "still": moved["planes"],
        "right": facts.which(whole=invariant["whole"], planes=invariant["planes"]),
    }


def bias() -> facts.Facts:
    x, bias = facts.normal(8, 3), examples.from_values((5.0, -3.0, 10.0), (3,))
    layers = {"batch": "BatchNorm1d(3)", "rms": "RMSNorm(3)", "layer": "LayerNorm(3)"}
    changes = {key: facts.output_change(text, x, x + bias) for key, text in layers.items()}
    bias_gradient = closed_form.autograd_backward(describe(layers["batch"], x), closed_form.upstream((8, 3))).dx.sum(0)
    return {
        **changes,
        "evaluated": facts.output_change("BatchNorm1d(3).eval()", x, x + bias),
        "gradient": float(bias_gradient.abs().max()),
        "right": facts.which(batch=changes["batch"] < facts.ROUNDING, rms=changes["rms"] < facts.ROUNDING),
    }


PADDED_LAYERS = {
    "batch": "BatchNorm1d(3)",
    "token": "ChannelsFirstLayerNorm(3)",
    "instance": "InstanceNorm1d(3)",
    "group": "GroupNorm(1, 3)",
}


REAL = 2  # steps of the second sequence that are not padding


def padding() -> facts.Facts:
    x = facts.x_of("q21")
    longer = pad(x, (0, 6))
    real = (1, slice(None), slice(0, REAL))
    changes = {
        key: forward.largest_difference(facts.output(text, x)[real], facts.output(text, longer)[real])
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
