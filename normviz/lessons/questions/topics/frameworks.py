"""Questions on code: layers written by hand, other frameworks, and bugs that were found, reported and fixed in public."""

from itertools import product
from math import prod

import torch
from torch.nn import functional as F

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.modes import train_and_eval
from normviz.analysis.running.stream import half_life, other_momentum
from normviz.analysis.running.torch_module import buffers
from normviz.code.programs import KERAS_LAYERS, AxisNumbers
from normviz.layers.layer import Layer
from normviz.lessons.compare.page import LOOPS, loops_difference
from normviz.lessons.questions import facts

TOKENS = N, L, C = (4, 3, 5)


def layer_loops() -> facts.Facts:
    x = facts.normal(*TOKENS)
    y = x.clone()
    calls = 0
    for i in range(N):
        for j in range(L):
            token = x[i, j]
            y[i, j] = (token - token.mean()) / (token.var(correction=0) + 1e-5).sqrt()
            calls += 1
    return {"calls": calls, "gap": largest_difference(y, facts.output("LayerNorm(5)", x)), "right": calls}


def batch_loops() -> facts.Facts:
    x = facts.normal(*TOKENS)
    permuted = facts.output("BatchNorm1d(5)", x.transpose(1, 2)).transpose(1, 2)
    return {"gap": largest_difference(facts.output(LOOPS, x), permuted), "twin": loops_difference(TOKENS)}


def dim_0() -> facts.Facts:
    x = facts.normal(3, 5, 2, 4)  # N, H, W, C
    batch_norm = facts.output("BatchNorm2d(4)", x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
    three = (x - x.mean((0, 1, 2))) / (x.var((0, 1, 2), correction=0) + 1e-5).sqrt()
    return {
        "gap": largest_difference(facts.output("DimNorm(4, dim=0)", x), batch_norm),
        "three": largest_difference(three, batch_norm),
    }


def dim_last() -> facts.Facts:
    x, by_hand = facts.normal(*TOKENS).double(), "DimNorm(5, dim=-1)"
    difference = largest_difference(facts.output(by_hand, x), facts.output("LayerNorm(5)", x))
    equal_eps = largest_difference(facts.output(by_hand, x), facts.output("LayerNorm(5, eps=1e-12)", x))
    return {
        "gap": difference,
        "equal": equal_eps,
        "right": facts.only(
            same=difference < 1e-3,
            mean=difference >= 1e-3 and equal_eps >= 1e-3,
            variance=difference >= 1e-3 > equal_eps,
        ),
    }


def dim_and_gamma() -> facts.Facts:
    shape, at = (3, 2, 4), (1, 1, 2)
    sharing = [{*describe(f"DimNorm(4, dim={dim})", shape).parameter_peers(at), at} for dim in (0, -1)]
    indices = list(product(*map(range, shape)))
    same_last, same_first = {i for i in indices if i[-1] == at[-1]}, {i for i in indices if i[0] == at[0]}
    return {
        "elements": len(sharing[0]),
        "right": facts.only(
            last=sharing == [same_last, same_last], dim=sharing == [same_first, same_last], none=sharing == [{at}, {at}]
        ),
    }


def mean_per_group() -> facts.Facts:
    mean = facts.normal(2, 3, 2, 4).mean(dim=(-1, -2), keepdim=True)
    return {"means": mean.numel(), "shape": tuple(mean.shape), "right": mean.numel()}


WRONG = ("LayerNorm(4)", "LayerNorm([3, 2, 4])", "BatchNorm2d(3)", "RMSNorm([2, 4])", "LayerNorm([2, 4], eps=1.0)")


def zeros_test() -> facts.Facts:
    right, x, zeros = "LayerNorm([2, 4])", facts.normal(2, 3, 2, 4), facts.x_of("s2m")
    noticed = sum(largest_difference(facts.output(text, zeros), facts.output(right, zeros)) > 0 for text in WRONG)
    differences = [largest_difference(facts.output(text, x), facts.output(right, x)) for text in WRONG]
    return {
        "noticed": noticed,
        "wrong": len(WRONG),
        "caught": sum(difference > 1e-3 for difference in differences),
        "least": min(differences),
        "bare": str(float(facts.output("LayerNorm([2, 4], eps=0.0)", zeros).max())).replace("nan", "NaN"),
        "right": noticed,
    }


def normalized_shape_types() -> facts.Facts:
    texts = ("LayerNorm(4)", "LayerNorm([4])", "LayerNorm((4,))")
    x = facts.normal(3, 4)
    difference = max(largest_difference(facts.output(text, x), facts.output(texts[0], x)) for text in texts)
    arguments = {"int": 4, "list": [4], "tuple": (4,), "Size": type(x.shape)((4,))}
    module = type(facts.module_of(texts[0]))
    accepted = [kind for kind, argument in arguments.items() if module(argument).normalized_shape == (4,)]
    return {
        "kinds": len(arguments),
        "gap": difference,
        "right": facts.only(
            every=accepted == list(arguments), size=accepted == ["Size"], numbers=accepted == ["int", "list"]
        ),
    }


# Questions on Keras and TensorFlow: the same words as in torch with other meanings.


def momentum() -> facts.Facts:
    torch_default = float(Layer.make("BatchNorm1d", 1).given["momentum"])
    keras_momentum = facts.keras_default("momentum")
    return {
        "torch": torch_default,
        "keras": other_momentum(torch_default),
        "life": half_life(torch_default),
        "left": torch_default,
        "keras_default": keras_momentum,
        "as_torch": other_momentum(keras_momentum),
        "right": other_momentum(torch_default),
    }


def keras_updates(training: bool, trainable: bool, early: bool = False) -> bool:
    """Whether Keras's BatchNormalization uses the batch's statistics and updates its moving statistics.

    Source: keras.io, BatchNormalization, "About setting layer.trainable = False"; of early Keras, before TF2, keras #4762.

    >>> keras_updates(training=True, trainable=False), keras_updates(training=True, trainable=False, early=True)
    (False, True)
    """
    return training and (trainable or early)


def frozen() -> facts.Facts:
    x = example("scales", (6, 3), ("n", "d"))
    module = Layer.make("BatchNorm1d", 3).module().requires_grad_(False)
    moved = facts.changed_buffers(module, module, x)
    return {
        "moved": moved,
        "difference": train_and_eval("BatchNorm1d(3)", x).largest_difference,
        "right": facts.which(torch=moved > 0, keras=keras_updates(training=True, trainable=False)),
    }


def axis() -> facts.Facts:
    batch = AxisNumbers.of(describe("ChannelsLastBatchNorm(3)", (2, 4, 4, 3)))
    keras_layer = KERAS_LAYERS.layer(batch)
    assert keras_layer is not None
    return {"axis": keras_layer.arguments(batch)["axis"]}


def parameter_count() -> facts.Facts:
    kept = buffers("BatchNorm2d(4)")
    moving = prod(kept["running_mean"]) + prod(kept["running_var"])
    keras = moving + sum(parameter.numel() for parameter in facts.module_of("BatchNorm2d(4)").parameters())
    return {"keras": keras, "moving": moving, "right": keras}


# Questions from bugs in well-known models and libraries.


HEADS = (2, 3, 2, 4)  # batch, token, head, head dimension


def query_norm() -> facts.Facts:
    x, louder = facts.normal(*HEADS), facts.normal(*HEADS)
    louder[:, :, 1] *= 10
    return {
        "moved": facts.output_change("RMSNorm([2, 4])", x, louder, (..., 0, slice(None))),
        "still": facts.output_change("RMSNorm(4)", x, louder, (..., 0, slice(None))),
    }


SCORES = (1, 3, 4, 2)  # batch, query, key, head


def softmax_axis() -> facts.Facts:
    weights = facts.normal(*SCORES).softmax(dim=1)
    of_keys, of_queries = weights.sum(2), weights.sum(1)
    keys, queries = (bool(((sums - 1).abs() < facts.ROUNDING).all()) for sums in (of_keys, of_queries))
    return {
        "sums": of_queries.numel(),
        "low": float(of_keys.min()),
        "high": float(of_keys.max()),
        "gap": float((facts.normal(*SCORES).softmax(dim=2).sum(2) - 1).abs().max()),
        "right": facts.only(keys=keys and not queries, queries=queries and not keys, both=keys and queries),
    }


def normalize_default() -> facts.Facts:
    x = facts.normal(2, 3, 4)
    y, over_features = F.normalize(x), F.normalize(x, dim=-1)
    lengths = y.norm(dim=-1)

    def is_one(length: torch.Tensor) -> bool:
        return bool(((length - 1).abs() < facts.ROUNDING).all())

    return {
        "low": float(lengths.min()),
        "high": float(lengths.max()),
        "gap": float((over_features.norm(dim=-1) - 1).abs().max()),
        "rms": largest_difference(
            2 * over_features, facts.output("RMSNorm(4, eps=0.0)", x)
        ),  # 2 is the root of 4 features
        "right": facts.only(features=is_one(lengths), tokens=is_one(y.norm(dim=1)), example=is_one(y.norm(dim=(1, 2)))),
    }


STORED = 0.25  # a weight of a model that multiplies by 1 + weight


def weighted(weight: float) -> torch.Tensor:
    """The output of torch's RMSNorm(4), all of whose weights are ``weight``."""
    module = facts.module_of("RMSNorm(4)")
    module.get_parameter("weight").data.fill_(weight)
    return module(facts.normal(1, 4)).detach()


def one_plus_gamma() -> facts.Facts:
    meant = weighted(1) * (1 + STORED)
    return {
        "factor": float(meant[0, 0] / weighted(STORED)[0, 0]),
        "stored": STORED,
        "gap": largest_difference(meant, weighted(1 + STORED)),
        "twice": float(weighted(2 + STORED)[0, 0] / meant[0, 0]),
        "right": (1 + STORED) / STORED,
    }


VIDEO = (1, 4, 3, 2, 2)  # N, C, T, H, W
OVER_TIME, PER_PIXEL = "GroupNorm(2, 4)", "Norm('n c t h w -> n t h w', 'c', center=False)"


def causal_video() -> facts.Facts:
    x, other = facts.normal(*VIDEO), facts.normal(*VIDEO)
    other[:, :, -1] = 3 * other[:, :, -1] + 1
    moved = [
        facts.output_change(OVER_TIME, x, other, (slice(None), slice(None), t)) > facts.ROUNDING
        for t in range(VIDEO[2])
    ]
    frames, other_frames = (video.transpose(1, 2).flatten(0, 1) for video in (x, other))
    return {
        "first": facts.output_change(OVER_TIME, x, other, (slice(None), slice(None), 0)),
        "folded": facts.output_change(OVER_TIME, frames, other_frames, 0),
        "alone": facts.output_change(PER_PIXEL, x, other, (slice(None), slice(None), 0)),
        "right": facts.only(last=moved == [False, False, True], all=all(moved), none=not any(moved)),
    }


def mean_and_gamma_per_head() -> facts.Facts:
    x, texts = facts.normal(*HEADS), ("LayerNorm(4)", "LayerNorm([2, 4])", "Norm('n l h d -> n l h', 'h d')")
    last, both, wanted = (describe(text, HEADS).counts for text in texts)
    fits = [
        counts.statistics == wanted.statistics and counts.gamma_shape == wanted.gamma_shape for counts in (last, both)
    ]
    gamma, beta = 1 + facts.normal(2, 4, seed=1) / 2, facts.normal(2, 4, seed=2)
    by_hand = F.layer_norm(x, (4,)) * gamma + beta
    return {
        "gap": largest_difference(by_hand, F.layer_norm(x, (2, 4), gamma, beta)),
        "right": facts.only(last=fits[0], both=fits[1], neither=not any(fits)),
    }


FAR = 1e4


def group_norm_error(memory_format: torch.memory_format) -> float:
    """The largest error of torch's GroupNorm(2, 8) on the CPU, in float32, for numbers of deviation 1 far from zero."""
    x = FAR + example("normal", (2, 8, 4, 4), ("n", "c", "h", "w"))
    exact = facts.module_of("GroupNorm(2, 8)", torch.float64)(x.double()).detach()
    return largest_difference(
        facts.module_of("GroupNorm(2, 8)")(x.contiguous(memory_format=memory_format)).detach(), exact
    )


def memory_format() -> facts.Facts:
    x = facts.normal(2, 8, 4, 4)
    last = x.to(memory_format=torch.channels_last)
    shape = tuple(last.shape)
    return {
        "shape": shape,
        "before": x.stride(),
        "after": last.stride(),
        "far": int(FAR),
        "error": round(group_norm_error(torch.channels_last)),
        "contiguous": group_norm_error(torch.contiguous_format),
        "right": facts.only(same=shape == (2, 8, 4, 4), last=shape == (2, 4, 4, 8), pixels=shape == (2, 16, 8)),
    }


def woken_by_train() -> facts.Facts:
    x, layer = example("scales", (6, 3), ("n", "d")), facts.module_of("BatchNorm1d(3)")
    model = torch.nn.Sequential(layer.requires_grad_(False).eval())
    frozen = model(x)
    difference = largest_difference(model.train()(x), frozen)
    changed = facts.changed_buffers(layer, model, x)
    layer.eval()
    return {"changed": changed, "gap": difference, "still": facts.changed_buffers(layer, model, x), "right": changed}
