"""What the answers on dependence state: which elements of x change an output."""

from __future__ import annotations

from normviz.analysis.comparing.invariance import depends_on_batch
from normviz.analysis.description import describe
from normviz.analysis.gradients.closed_form import autograd_backward, upstream
from normviz.analysis.gradients.derivatives import perturb
from normviz.lessons.questions.facts import ROUNDING, count_gammas, module_of, nearly_equal, normal, output
from tests.lessons.questions.statements.measure import Statements, facts


def s3i() -> Statements:
    layers = {text: depends_on_batch(describe(text, (4, 6))) for text in ("LayerNorm(6)", "BatchNorm1d(6)")}
    return {
        "on many tensors LayerNorm does not depend on the batch": layers["LayerNorm(6)"] is False,
        "BatchNorm does": layers["BatchNorm1d(6)"] is True,
        "in eval mode BatchNorm does not": depends_on_batch(describe("BatchNorm1d(6).eval()", (4, 6))) is False,
    }


def s3q() -> Statements:
    shape, at = (2, 3, 4), (0, 1, 2)
    x, short = normal(*shape), normal(*shape)[:, :2]
    layer, batch = (
        perturb(describe(text, x), at, h=1.0).changed.any(2) for text in ("LayerNorm(4)", "Norm('n l c -> c', 'c')")
    )
    return {
        "the token itself changes": layer[0, 1],
        "under BatchNorm the other sentence changes too": batch[1].all(),
        "a shorter sequence gives the same": nearly_equal(
            output("LayerNorm(4)", short), output("LayerNorm(4)", x)[:, :2]
        ),
        "a shorter sequence has the same gammas": count_gammas("LayerNorm(4)", shape)
        == count_gammas("LayerNorm(4)", (2, 2, 4)),
        "one module accepts both": module_of("LayerNorm(4)")(short).shape == short.shape,
    }


def q7() -> Statements:
    x = normal(1, 4, 5)
    step = perturb(describe("ChannelsFirstLayerNorm(4)", x), (0, 0, 4), h=1.0).changed
    return {
        "the group of x[0, 0, 4] changes and nothing else": facts("q7")["moved"]
        == describe("GroupNorm(2, 4)", x).counts.elements_per_statistic,
        "the first step changes with the last": facts("q7")["early"] > 0.01,
        "a norm over channels changes the last step only": step[..., 4].all() and not step[..., :4].any(),
    }


def s0h() -> Statements:
    x = normal(2, 3, 4, 4).double()
    scaled = x.clone()
    scaled[:, 0] *= 4
    image, plane = "LayerNorm([3, 4, 4])", "LayerNorm([4, 4], eps=0.0)"
    return {
        "the other channels change too": not nearly_equal(output(image, x)[:, 1:], output(image, scaled)[:, 1:]),
        "averaged over planes without eps, nothing changes": nearly_equal(output(plane, x), output(plane, scaled)),
    }


def q26() -> Statements:
    f = facts("q26")
    rms_gradient = autograd_backward(describe("RMSNorm(3)", normal(8, 3)), upstream((8, 3))).dx.sum(0)
    return {
        "before BatchNorm a bias changes the output by rounding only": f["batch"] < ROUNDING,
        "before BatchNorm a bias has no gradient": f["gradient"] < 1e-12,
        "before RMSNorm a bias changes the output": f["rms"] > 0.1,
        "before RMSNorm a bias has a gradient": rms_gradient.abs().max() > 0.01,
        "before LayerNorm a bias changes the output": f["layer"] > 0.1,
    }


def q21() -> Statements:
    f = facts("q21")
    return {
        "padding changes BatchNorm, InstanceNorm and GroupNorm": min(f["batch"], f["instance"], f["group"]) > 0.01,
        "padding does not change a norm over the channels of each token": f["token"] == 0,
    }
