"""Questions of the second document: layer normalization in the signature of Stanford's CS231n, and its follow-up."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from normviz.analysis.explanation import describe
from normviz.analysis.forward import largest_difference
from normviz.analysis.gradients.closed_form import autograd_backward, parameter_sum, upstream
from normviz.analysis.running.torch_module import buffers
from normviz.code.cs231n import Cache, layernorm_backward, layernorm_forward
from normviz.layers.errors import NormvizError
from normviz.lessons.questions.documents import COURSE
from normviz.lessons.questions.facts import module_of, only, same, scene_of
from normviz.lessons.questions.outputs import normal, output
from normviz.lessons.questions.question import Facts, Question
from normviz.lessons.questions.topics import NUMBERS, SHARING, TRAINING
from normviz.lessons.train_and_eval import experiments

if TYPE_CHECKING:
    from torch import Tensor

ASKED = (COURSE,)
ROWS, COLUMNS = SHAPE = (4, 6)
LAYER, BATCH = "LayerNorm(6)", "BatchNorm1d(6)"


def _gamma_a_column() -> Facts:
    e, x = describe(LAYER, SHAPE), normal(*SHAPE).numpy()
    shape = e.counts.gamma_shape
    try:
        refusal, _ = "", layernorm_forward(x, np.ones(ROWS), np.zeros(ROWS), {})
    except NormvizError as error:
        refusal = str(error)
    assert e.param_ids is not None
    return {
        "gamma": shape,
        "means": e.counts.statistics,
        "features": prod(shape or ()),
        "right": only(
            rows=shape == (ROWS,), columns=shape == (COLUMNS,), cells=shape == SHAPE, scalar=prod(shape or ()) == 1
        ),
        "holds": {
            "torch's own weight has that shape": tuple(module_of(LAYER).get_parameter("weight").shape) == shape,
            "every row meets the same gammas": bool((e.param_ids == e.param_ids[0]).all()),
            "layernorm_forward refuses a gamma a row": "not one a row" in refusal,
            "and takes one a column": layernorm_forward(x, np.ones(COLUMNS), np.zeros(COLUMNS), {})[0].shape == SHAPE,
        },
    }


def _mean_of_a_row() -> Facts:
    x = normal(*SHAPE).double()
    e, y = describe(LAYER, x), output(LAYER, x)
    out, _ = layernorm_forward(x.numpy(), np.ones(COLUMNS), np.zeros(COLUMNS), {"eps": 1e-5})
    means = e.counts.statistics
    return {
        "means": means,
        "features": e.counts.elements_per_statistic,
        "column": max(y.mean(0).tolist(), key=abs),
        "columns": describe(BATCH, x).counts.statistics,
        "right": only(rows=means == ROWS, columns=means == COLUMNS, one=means == 1),
        "holds": {
            "each row has mean 0": bool((y.mean(1).abs() < 1e-9).all()),
            "and variance 1, but for eps": bool(((y.var(1, correction=0) - 1).abs() < 1e-3).all()),
            "the columns have not": bool((y.mean(0).abs() > 1e-2).any()),
            "BatchNorm's columns have": bool((output(BATCH, x).mean(0).abs() < 1e-9).all()),
            "layernorm_forward does it so": bool(np.allclose(out, y.numpy(), atol=1e-9)),
        },
    }


def _as_in_batch_norm() -> Facts:
    layer, batch = (scene_of(f"shape=4,6&layer={text}&params=random").explanation for text in (LAYER, BATCH))
    shapes = layer.counts.gamma_shape, batch.counts.gamma_shape
    met = layer.param_ids, batch.param_ids
    assert met[0] is not None
    assert met[1] is not None
    gap = largest_difference(layer.trace.output, batch.trace.output)
    alike = shapes[0] == shapes[1] and bool((met[0] == met[1]).all())
    equal = gap < 1e-3
    return {
        "shape": shapes[0],
        "gap": gap,
        "right": only(
            shape=alike and not equal, output=equal and not alike, both=alike and equal, neither=not alike and not equal
        ),
        "holds": {
            "gamma and beta are the same numbers": same(layer.layer_values().gamma, batch.layer_values().gamma),  # type: ignore[arg-type]
            "every column meets one gamma in both": alike,
            "the rows are normalized here, and the columns there": (layer.norm.stats, batch.norm.stats)
            == ("n d -> n", "n d -> d"),
            "torch's layers differ as much": largest_difference(
                output(LAYER, normal(*SHAPE)), output(BATCH, normal(*SHAPE))
            )
            > 0.1,
        },
    }


def _modes() -> Facts:
    both = {text: experiments.modes(scene_of(f"shape=4,6&layer={text}").explanation, 0) for text in (LAYER, BATCH)}
    gaps = {text: found.largest_difference for text, found in both.items()}
    differ = {text: gap > 0 for text, gap in gaps.items()}
    return {
        "layer": gaps[LAYER],
        "batch": gaps[BATCH],
        "right": only(
            layer=differ == {LAYER: True, BATCH: False},
            batch=differ == {LAYER: False, BATCH: True},
            both=all(differ.values()),
            neither=not any(differ.values()),
        ),
        "holds": {
            "LayerNorm gives the same bit by bit": gaps[LAYER] == 0,
            "BatchNorm uses running statistics in eval": both[BATCH].eval_norm.running,
            "and the batch's own in training": not both[BATCH].train_norm.running,
        },
    }


def _nothing_kept() -> Facts:
    kept = sum(buffer.elements for buffer in buffers(LAYER))
    mean, var, count = buffers(BATCH)
    return {
        "layer": kept,
        "batch": sum(buffer.elements for buffer in (mean, var, count)),
        "mean": mean.elements,
        "var": var.elements,
        "right": kept,
        "holds": {
            "these are running_mean, running_var and a count": [mean.name, var.name, count.name]
            == ["running_mean", "running_var", "num_batches_tracked"],
            "the count is one number": count.elements == 1,
            "the state of LayerNorm is gamma and beta": set(module_of(LAYER).state_dict()) == {"weight", "bias"},
        },
    }


ROWS_AFTER = "shape=4,6&layer=LayerNorm(6)&params=random&at=1,4&step=6"


def _rows_after_scaling() -> Facts:
    e = scene_of(ROWS_AFTER).explanation
    assert e.x is not None
    assert e.param_ids is not None
    before, after = output(LAYER, e.x.double()), e.trace.output.double()
    means, variances = after.mean(1), after.var(1, correction=0)
    alike_before = bool((before.mean(1).abs() < 1e-5).all() and ((before.var(1, correction=0) - 1).abs() < 1e-3).all())
    alike_after = bool(means.max() - means.min() < 1e-3 and variances.max() - variances.min() < 1e-3)
    return {
        "off": float((before.var(1, correction=0) - 1).abs().max()),
        "low": float(means.min()),
        "high": float(means.max()),
        "least": float(variances.min()),
        "most": float(variances.max()),
        "right": only(
            both=alike_before and alike_after,
            before=alike_before and not alike_after,
            after=alike_after and not alike_before,
            neither=not alike_before and not alike_after,
        ),
        "holds": {
            "before gamma every row has mean 0 and variance 1": alike_before,
            "after it the means differ": bool(means.max() - means.min() > 0.1),
            "and the variances": bool(variances.max() - variances.min() > 0.1),
            "every row meets the same gammas": bool((e.param_ids == e.param_ids[0]).all()),
            "torch's own layer gives this output": (e.agreement or 0.0) < 1e-5,
        },
    }


COLUMNS_AFTER = "shape=6,3&layer=BatchNorm1d(3)&params=random&at=2,1&step=6"


def _columns_after_scaling() -> Facts:
    e = scene_of(COLUMNS_AFTER).explanation
    held, before, after = e.layer_values(), e.trace.normalized.double(), e.trace.output.double()
    assert held.gamma is not None
    assert held.beta is not None
    deviations = after.std(0, correction=0)
    alike_before = bool((before.mean(0).abs() < 1e-5).all() and ((before.std(0, correction=0) - 1).abs() < 1e-3).all())
    of_beta = bool((after.mean(0) - held.beta).abs().max() < 1e-4)
    of_gamma = bool((deviations - held.gamma.abs()).abs().max() < 1e-3)
    alike_after = bool(deviations.max() - deviations.min() < 1e-3)
    return {
        "low": float(deviations.min()),
        "high": float(deviations.max()),
        "small": float(held.gamma.abs().min()),
        "large": float(held.gamma.abs().max()),
        "right": only(
            same=alike_before and alike_after,
            learned=alike_before and of_gamma and of_beta and not alike_after,
            data=not alike_before,
        ),
        "holds": {
            "before gamma every column has mean 0 and variance 1": alike_before,
            "after it a column's mean is its beta": of_beta,
            "and its standard deviation its gamma": of_gamma,
            "torch's own layer gives this output": (e.agreement or 0.0) < 1e-5,
        },
    }


def _backward() -> Facts:
    x, dout = normal(*SHAPE).double(), upstream(SHAPE)
    gamma = 1 + normal(COLUMNS, seed=1).double().numpy() / 2
    _, cache = layernorm_forward(x.numpy(), gamma, np.zeros(COLUMNS), {"eps": 1e-5})
    summed = int(parameter_sum(describe(LAYER, x), (1, 4), dout).elements.sum())
    module = module_of(LAYER, x.dtype)
    module.get_parameter("weight").data.copy_(x.new_tensor(gamma))
    theirs = autograd_backward(describe(module, x), dout)
    ours = layernorm_backward(dout.numpy(), cache)
    wanted = (theirs.dx, theirs.dgamma, theirs.dbeta)
    gap = max(
        largest_difference(x.new_tensor(one), other)
        for one, other in zip(ours, wanted, strict=True)
        if other is not None
    )
    return {
        "summed": summed,
        "gap": gap,
        "right": summed,
        "holds": {
            "down the column": summed == ROWS,
            "dgamma and dbeta have gamma's shape": ours[1].shape == ours[2].shape == (COLUMNS,),
            "what is cached: xhat, sigma, gamma, and the axis of the means": Cache._fields
            == ("xhat", "sigma", "gamma", "axis"),
            "one sigma a row": cache.sigma.size == ROWS,
            "it agrees with torch's autograd": gap < 1e-12,
            "dx of a row takes nothing from other rows": _alone(dout.numpy(), cache, ours[0]),
        },
    }


def _alone(dout: np.ndarray, cache: Cache, dx: np.ndarray) -> bool:
    """Is the first row's dx the same when dout of the other rows is 0?"""
    first = dout.copy()
    first[1:] = 0
    return bool(np.array_equal(layernorm_backward(first, cache)[0][0], dx[0]))


CONSTANT_ROW = "shape=2,4&layer=LayerNorm(4)&values=5,5,5,5,1,2,3,8&at=0,2&step=5"


def _what_eps_is_for() -> Facts:
    e = scene_of(CONSTANT_ROW).explanation
    assert e.x is not None
    x, without, usual = e.x.double(), "LayerNorm(4, eps=0.0)", "LayerNorm(4)"
    bare, y = output(without, x), output(usual, x)
    nan = bool(bare[0].isnan().all())
    beta = y.new_tensor([0.0] * 4)
    return {
        "var": float(e.trace.var[0, 0]),
        "bare": float(bare[0, 0]),
        "with_eps": float(y[0].abs().max()),
        "change": largest_difference(y[1], bare[1]),
        "right": only(nan=bool(y[0].isnan().all()), beta=bool((y[0] == beta).all()), input=bool((y[0] == x[0]).all())),
        "holds": {
            "without eps it is NaN": nan,
            "with eps it is beta": bool((y[0] == beta).all()),
            "whatever beta is": bool((_with_beta(x)[0] == 3).all()),
            "the other row hardly changes": largest_difference(y[1], bare[1]) < 1e-5,
        },
    }


def _with_beta(x: Tensor) -> Tensor:
    module = module_of("LayerNorm(4)", x.dtype)
    module.get_parameter("bias").data.fill_(3)
    output: Tensor = module(x).detach()
    return output


QUESTIONS = (
    Question(
        "s1", SHARING, _gamma_a_column, "explore", "shape=4,6&layer=LayerNorm(6)&params=index&at=1,4", ASKED,
    ),
    Question("s1a", SHARING, _mean_of_a_row, "explore", "shape=4,6&layer=LayerNorm(6)&at=1,4", ASKED),
    Question(
        "s1b", SHARING, _as_in_batch_norm, "compare",
        "shape=4,6&params=random&layers=LayerNorm(6);BatchNorm1d(6)&at=1,4", ASKED,
    ),
    Question(
        "s1c", TRAINING, _modes, "train_and_eval", "show=modes&shape=4,6&layer=BatchNorm1d(6)", ASKED,
    ),
    Question(
        "s1d", TRAINING, _nothing_kept, "compare",
        "shape=4,6&layers=LayerNorm(6);BatchNorm1d(6);GroupNorm(2,6)&at=1,4", ASKED,
    ),
    Question("s1e", NUMBERS, _rows_after_scaling, "step_by_step", ROWS_AFTER, ASKED),
    Question("s1f", NUMBERS, _columns_after_scaling, "step_by_step", COLUMNS_AFTER, ASKED),
    Question(
        "s1g", NUMBERS, _backward, "gradients", "show=parameters&shape=4,6&layer=LayerNorm(6)&at=1,4", ASKED,
    ),
    Question("s1h", NUMBERS, _what_eps_is_for, "step_by_step", CONSTANT_ROW, ASKED),
)  # fmt: skip
