"""Questions on code: layers written by hand, other frameworks, and bugs that were found, reported and fixed in public."""

from __future__ import annotations

from itertools import product
from math import prod

import torch
from torch.nn import functional as F

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.modes import train_and_eval
from normviz.analysis.running.momentum import half_life, other_momentum
from normviz.analysis.running.torch_module import buffers
from normviz.code.programs import KERAS_LAYERS, AxisNumbers
from normviz.layers.layer import Layer
from normviz.lessons.compare.page import LOOPS, READY_SETS, loops_difference
from normviz.lessons.compare.page import PAGE as COMPARE_PAGE
from normviz.lessons.explore.page import PAGE as EXPLORE_PAGE
from normviz.lessons.numerics.page import PAGE as NUMERICS_PAGE
from normviz.lessons.questions.facts import (
    ROUNDING,
    changed_buffers,
    keras_default,
    module_of,
    normal,
    only,
    output,
    output_change,
    which,
    x_of,
)
from normviz.lessons.questions.question import BUGS, CODE, FRAMEWORKS, Facts
from normviz.lessons.questions.sources import ANNOTATED, ARTICLE, Source, issue, keras_page, torch_page
from normviz.lessons.step_by_step.page import PAGE as STEP_BY_STEP_PAGE
from normviz.lessons.train_and_eval.page import PAGE as TRAIN_AND_EVAL_PAGE

TOKENS = N, L, C = (4, 3, 5)


@CODE.question("s3c", STEP_BY_STEP_PAGE, "shape=4,3,5&layer=LayerNorm(5)&at=2,1,3&step=1", [ARTICLE])
def layer_loops() -> Facts:
    x = normal(*TOKENS)
    y = x.clone()
    calls = 0
    for i in range(N):
        for j in range(L):
            token = x[i, j]
            y[i, j] = (token - token.mean()) / (token.var(correction=0) + 1e-5).sqrt()
            calls += 1
    return {
        "calls": calls,
        "features": describe("LayerNorm(5)", TOKENS).counts.elements_per_statistic,
        "gap": largest_difference(y, output("LayerNorm(5)", x)),
        "right": calls,
    }


PER_FEATURE = "ChannelsLastBatchNorm(5)"


@CODE.question("s3", COMPARE_PAGE, f"shape=4,3,5&layout=NLC&layers={LOOPS};{PER_FEATURE}&at=2,1,3", [ARTICLE])
def batch_loops() -> Facts:
    x = normal(*TOKENS)
    loops, feature = describe(LOOPS, TOKENS).counts, describe("BatchNorm1d(5)", (N, C, L)).counts
    permuted = output("BatchNorm1d(5)", x.transpose(1, 2)).transpose(1, 2)
    return {
        "loops": loops.statistics,
        "examples": loops.elements_per_statistic,
        "features": feature.statistics,
        "values": feature.elements_per_statistic,
        "gap": largest_difference(output(LOOPS, x), permuted),
        "twin": loops_difference(TOKENS),
        "right": loops.statistics,
    }


CHANNELS_LAST = READY_SETS["dim-0"].shape  # N, H, W, C


@CODE.question(
    "s3d",
    COMPARE_PAGE,
    f"shape=3,5,2,4&layout=NHWC&layers={';'.join(READY_SETS['dim-0'].layers)}&at=1,2,1,3",
    [ARTICLE],
)
def dim_0() -> Facts:
    x, (along_dim_0, batch) = normal(*CHANNELS_LAST), READY_SETS["dim-0"].layers
    first, second = (describe(text, CHANNELS_LAST).counts for text in (along_dim_0, batch))
    batch_norm = output("BatchNorm2d(4)", x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
    three = (x - x.mean((0, 1, 2))) / (x.var((0, 1, 2), correction=0) + 1e-5).sqrt()
    return {
        "means": first.statistics,
        "examples": first.elements_per_statistic,
        "channels": second.statistics,
        "values": second.elements_per_statistic,
        "gap": largest_difference(output(along_dim_0, x), batch_norm),
        "three": largest_difference(three, batch_norm),
        "right": only(
            example=first.statistics == CHANNELS_LAST[0],
            channel=first.statistics == CHANNELS_LAST[3],
            cell=first.statistics == prod(CHANNELS_LAST[1:]),
        ),
    }


@CODE.question("s3e", COMPARE_PAGE, "shape=4,3,5&layout=NLC&layers=DimNorm(5,dim=-1);LayerNorm(5)&at=2,1,3", [ARTICLE])
def dim_last() -> Facts:
    x, by_hand = normal(*TOKENS).double(), "DimNorm(5, dim=-1)"
    counts = describe(by_hand, TOKENS).counts
    difference = largest_difference(output(by_hand, x), output("LayerNorm(5)", x))
    equal_eps = largest_difference(output(by_hand, x), output("LayerNorm(5, eps=1e-12)", x))
    return {
        "gap": difference,
        "equal": equal_eps,
        "means": counts.statistics,
        "features": counts.elements_per_statistic,
        "right": only(
            same=difference < 1e-3,
            mean=difference >= 1e-3 and equal_eps >= 1e-3,
            variance=difference >= 1e-3 > equal_eps,
        ),
    }


@CODE.question(
    "s3g", COMPARE_PAGE, "shape=3,2,4&params=index&layers=DimNorm(4,dim=0);DimNorm(4,dim=-1)&at=1,1,2", [ARTICLE]
)
def dim_and_gamma() -> Facts:
    shape, at = (3, 2, 4), (1, 1, 2)
    first, last = (describe(f"DimNorm(4, dim={dim})", shape) for dim in (0, -1))
    sharing = [set(e.parameter_peers(at)) | {at} for e in (first, last)]
    indices = list(product(*map(range, shape)))
    same_last, same_first = {i for i in indices if i[-1] == at[-1]}, {i for i in indices if i[0] == at[0]}
    return {
        "elements": len(sharing[0]),
        "first": first.counts.statistics,
        "last": last.counts.statistics,
        "right": only(
            last=sharing == [same_last, same_last], dim=sharing == [same_first, same_last], none=sharing == [{at}, {at}]
        ),
    }


@CODE.question("s2p", STEP_BY_STEP_PAGE, "shape=2,3,2,4&layer=LayerNorm([2,4])&at=1,2,0,3&step=1", [ANNOTATED])
def mean_per_group() -> Facts:
    x = normal(2, 3, 2, 4)
    mean = x.mean(dim=(-1, -2), keepdim=True)
    return {
        "means": mean.numel(),
        "shape": tuple(mean.shape),
        "elements": describe("LayerNorm([2, 4])", x).counts.elements_per_statistic,
        "right": mean.numel(),
    }


WRONG = ("LayerNorm(4)", "LayerNorm([3, 2, 4])", "BatchNorm2d(3)", "RMSNorm([2, 4])", "LayerNorm([2, 4], eps=1.0)")
ZEROS = f"shape=2,3,2,4&layer=LayerNorm([2,4])&values={','.join(['0'] * 48)}&at=1,2,0,3&step=5"


@CODE.question("s2m", STEP_BY_STEP_PAGE, ZEROS, [ANNOTATED], needs="RMSNorm([2, 4])")
def zeros_test() -> Facts:
    right, x = "LayerNorm([2, 4])", normal(2, 3, 2, 4)
    zeros = x_of(ZEROS)
    noticed = sum(largest_difference(output(text, zeros), output(right, zeros)) > 0 for text in WRONG)
    differences = [largest_difference(output(text, x), output(right, x)) for text in WRONG]
    return {
        "noticed": noticed,
        "wrong": len(WRONG),
        "caught": sum(difference > 1e-3 for difference in differences),
        "least": min(differences),
        "bare": str(float(output("LayerNorm([2, 4], eps=0.0)", zeros).max())).replace("nan", "NaN"),
        "right": noticed,
    }


@CODE.question("s2q", EXPLORE_PAGE, "shape=2,3,2,4&layer=LayerNorm((2,4))&params=index&at=1,2,0,3", [ANNOTATED])
def normalized_shape_types() -> Facts:
    texts = ("LayerNorm(4)", "LayerNorm([4])", "LayerNorm((4,))")
    x = normal(3, 4)
    difference = max(largest_difference(output(text, x), output(texts[0], x)) for text in texts)
    arguments = {"int": 4, "list": [4], "tuple": (4,), "Size": type(x.shape)((4,))}
    module = type(module_of(texts[0]))
    accepted = [kind for kind, argument in arguments.items() if module(argument).normalized_shape == (4,)]
    return {
        "kinds": len(arguments),
        "gap": difference,
        "right": only(
            every=accepted == list(arguments), size=accepted == ["Size"], numbers=accepted == ["int", "list"]
        ),
    }


# Questions on Keras and TensorFlow: the same words as in torch with other meanings.


@FRAMEWORKS.question(
    "q11",
    TRAIN_AND_EVAL_PAGE,
    "show=stream&momentum=0.1",
    [issue("pytorch", 15298), torch_page("BatchNorm1d"), keras_page("BatchNormalization"), ARTICLE],
    x="shape=8,1",
)
def momentum() -> Facts:
    torch_default = float(Layer.make("BatchNorm1d", 1).given["momentum"])
    keras_momentum = keras_default("momentum")
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


@FRAMEWORKS.question(
    "q18",
    TRAIN_AND_EVAL_PAGE,
    "show=modes&shape=6,3&layout=ND&layer=BatchNorm1d(3)&data=scales&at=1,2",
    [issue("keras", 4762), keras_page("BatchNormalization")],
)
def frozen() -> Facts:
    x = example("scales", (6, 3), ("n", "d"))
    module = Layer.make("BatchNorm1d", 3).module().requires_grad_(False)
    moved = changed_buffers(module, module, x)
    return {
        "moved": moved,
        "difference": train_and_eval("BatchNorm1d(3)", x).largest_difference,
        "right": which(torch=moved > 0, keras=keras_updates(training=True, trainable=False)),
    }


@FRAMEWORKS.question(
    "q19",
    COMPARE_PAGE,
    "shape=2,4,4,3&layout=NHWC&layers=ChannelsLastBatchNorm(3);LayerNorm([3])&at=0,1,2,1",
    [issue("keras", 13463), keras_page("BatchNormalization"), keras_page("LayerNormalization")],
)
def axis() -> Facts:
    shape = (2, 4, 4, 3)
    batch, layer = (AxisNumbers.of(describe(text, shape)) for text in ("ChannelsLastBatchNorm(3)", "LayerNorm(3)"))
    keras_layer = KERAS_LAYERS.layer(batch)
    assert keras_layer is not None
    return {
        "batch": batch.e.counts.statistics,
        "batch_elements": batch.e.counts.elements_per_statistic,
        "layer": layer.e.counts.statistics,
        "layer_elements": layer.e.counts.elements_per_statistic,
        "axis": keras_layer.arguments(batch)["axis"],
        "right": batch.e.counts.statistics,
    }


@FRAMEWORKS.question(
    "q25",
    EXPLORE_PAGE,
    "shape=2,4,3,3&layer=BatchNorm2d(4)&at=0,1,0,2",
    [
        Source("Stack Overflow 42521005", "https://stackoverflow.com/questions/42521005"),
        keras_page("BatchNormalization"),
    ],
)
def parameter_count() -> Facts:
    text, shape = "BatchNorm2d(4)", (2, 4, 3, 3)
    e = describe(text, shape)
    assert e.layer is not None
    moving = sum(prod(shape) for name, shape in buffers(text).items() if name != "num_batches_tracked")
    learned = e.counts.parameters
    return {
        "keras": learned + moving,
        "learned": learned,
        "moving": moving,
        "torch": sum(parameter.numel() for parameter in e.layer.module().parameters()),
        "buffers": e.counts.buffers,
        "right": learned + moving,
    }


# Questions from bugs in well-known models and libraries.


HEADS = (2, 3, 2, 4)  # batch, token, head, head dimension
PER_HEAD, ALL_HEADS = "RMSNorm(4)", "RMSNorm([2, 4])"
MMLU_PRO = {"before": 68.58, "after": 71.53}  # accuracy in percent: vllm PR #16311


@BUGS.question(
    "q28",
    COMPARE_PAGE,
    "shape=2,3,2,4&layout=NLHD&layers=RMSNorm(4);RMSNorm([2,4])&at=1,2,0,3",
    [issue("vllm", 16311, "pull"), issue("vllm-metal", 767)],
)
def query_norm() -> Facts:
    x, louder = normal(*HEADS), normal(*HEADS)
    louder[:, :, 1] *= 10
    head, both = (describe(text, HEADS).counts for text in (PER_HEAD, ALL_HEADS))
    return {
        "heads": head.statistics,
        "dimension": head.elements_per_statistic,
        "tokens": both.statistics,
        "elements": both.elements_per_statistic,
        "moved": output_change(ALL_HEADS, x, louder, (..., 0, slice(None))),
        "still": output_change(PER_HEAD, x, louder, (..., 0, slice(None))),
        **MMLU_PRO,
        "right": head.statistics,
    }


SCORES = (1, 3, 4, 2)  # batch, query, key, head
OVER_QUERIES = "Norm('b i j h -> b j h',center=False);Norm('b i j h -> b i h',center=False)"


@BUGS.question(
    "q29", COMPARE_PAGE, f"shape=1,3,4,2&layout=BIJH&layers={OVER_QUERIES}&at=0,1,2,0", [issue("labml", 146)]
)
def softmax_axis() -> Facts:
    weights = normal(*SCORES).softmax(dim=1)
    of_keys, of_queries = weights.sum(2), weights.sum(1)
    keys, queries = (bool(((sums - 1).abs() < ROUNDING).all()) for sums in (of_keys, of_queries))
    return {
        "sums": of_queries.numel(),
        "low": float(of_keys.min()),
        "high": float(of_keys.max()),
        "gap": float((normal(*SCORES).softmax(dim=2).sum(2) - 1).abs().max()),
        "right": only(keys=keys and not queries, queries=queries and not keys, both=keys and queries),
    }


OVER_TOKENS = "Norm('n l c -> n c',center=False);Norm('n l c -> n l',center=False)"


@BUGS.question(
    "q30",
    COMPARE_PAGE,
    f"shape=2,3,4&layout=NLC&layers={OVER_TOKENS}&at=0,1,2",
    [issue("mmt", 1), issue("VSRN", 7), torch_page("torch.nn.functional.normalize")],
    needs="RMSNorm(4)",
)
def normalize_default() -> Facts:
    x = normal(2, 3, 4)
    y, over_features = F.normalize(x), F.normalize(x, dim=-1)
    lengths = y.norm(dim=-1)

    def is_one(length: torch.Tensor) -> bool:
        return bool(((length - 1).abs() < ROUNDING).all())

    return {
        "low": float(lengths.min()),
        "high": float(lengths.max()),
        "gap": float((over_features.norm(dim=-1) - 1).abs().max()),
        "rms": largest_difference(2 * over_features, output("RMSNorm(4, eps=0.0)", x)),  # 2 is the root of 4 features
        "right": only(features=is_one(lengths), tokens=is_one(y.norm(dim=1)), example=is_one(y.norm(dim=(1, 2)))),
    }


STORED = 0.25  # a weight of a model that multiplies by 1 + weight


def weighted(weight: float) -> torch.Tensor:
    """The output of torch's RMSNorm(4), all of whose weights are ``weight``."""
    module = module_of("RMSNorm(4)")
    module.get_parameter("weight").data.fill_(weight)
    return module(normal(1, 4)).detach()


@BUGS.question(
    "q31",
    STEP_BY_STEP_PAGE,
    "shape=1,4&layer=RMSNorm(4)&params=random&step=4&at=0,2",
    [issue("mlx-vlm", 2114, "pull"), issue("executorch", 19901, "pull")],
)
def one_plus_gamma() -> Facts:
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


@BUGS.question(
    "q32",
    COMPARE_PAGE,
    f"shape=1,4,3,2,2&layout=NCTHW&layers=GroupNorm(2,4);{PER_PIXEL.replace(', ', ',')}&at=0,1,0,0,0",
    [issue("Wan2.1", 294), issue("Open-Sora-Plan", 526)],
)
def causal_video() -> Facts:
    x, other = normal(*VIDEO), normal(*VIDEO)
    other[:, :, -1] = 3 * other[:, :, -1] + 1
    moved = [output_change(OVER_TIME, x, other, (slice(None), slice(None), t)) > ROUNDING for t in range(VIDEO[2])]
    frames, other_frames = (video.transpose(1, 2).flatten(0, 1) for video in (x, other))
    return {
        "first": output_change(OVER_TIME, x, other, (slice(None), slice(None), 0)),
        "folded": output_change(OVER_TIME, frames, other_frames, 0),
        "alone": output_change(PER_PIXEL, x, other, (slice(None), slice(None), 0)),
        "right": only(last=moved == [False, False, True], all=all(moved), none=not any(moved)),
    }


HEAD_PATTERN = "Norm('n l h d -> n l h', 'h d')"


@BUGS.question(
    "q33",
    COMPARE_PAGE,
    f"shape=2,3,2,4&layout=NLHD&params=index&layers=LayerNorm(4);LayerNorm([2,4]);{HEAD_PATTERN.replace(', ', ',')}&at=1,2,0,3",
    [issue("transformers", 31534, "pull")],
)
def mean_and_gamma_per_head() -> Facts:
    x = normal(*HEADS)
    last, both, wanted = (describe(text, HEADS).counts for text in ("LayerNorm(4)", "LayerNorm([2, 4])", HEAD_PATTERN))
    fits = [
        counts.statistics == wanted.statistics and counts.gamma_shape == wanted.gamma_shape for counts in (last, both)
    ]
    gamma, beta = 1 + normal(2, 4, seed=1) / 2, normal(2, 4, seed=2)
    by_hand = F.layer_norm(x, (4,)) * gamma + beta
    return {
        "means": last.statistics,
        "gamma": last.gamma_shape,
        "fewer": both.statistics,
        "whole": both.gamma_shape,
        "gap": largest_difference(by_hand, F.layer_norm(x, (2, 4), gamma, beta)),
        "right": only(last=fits[0], both=fits[1], neither=not any(fits)),
    }


FAR = 1e4


def group_norm_error(memory_format: torch.memory_format) -> float:
    """The largest error of torch's GroupNorm(2, 8) on the CPU, in float32, for numbers of deviation 1 far from zero."""
    x = FAR + example("normal", (2, 8, 4, 4), ("n", "c", "h", "w"))
    exact = module_of("GroupNorm(2, 8)", torch.float64)(x.double()).detach()
    return largest_difference(module_of("GroupNorm(2, 8)")(x.contiguous(memory_format=memory_format)).detach(), exact)


@BUGS.question(
    "q34",
    NUMERICS_PAGE,
    f"show=variance&dtype=float32&distance={FAR:.0f}",
    [
        issue("pytorch", 54293),
        issue("pytorch", 49821, "pull"),
        Source(
            "PyTorch: channels last memory format",
            "https://docs.pytorch.org/tutorials/intermediate/memory_format_tutorial.html",
        ),
    ],
    x="shape=2,8,4,4",
)
def memory_format() -> Facts:
    x = normal(2, 8, 4, 4)
    last = x.to(memory_format=torch.channels_last)
    shape = tuple(last.shape)
    return {
        "shape": shape,
        "before": x.stride(),
        "after": last.stride(),
        "far": int(FAR),
        "error": round(group_norm_error(torch.channels_last)),
        "contiguous": group_norm_error(torch.contiguous_format),
        "right": only(same=shape == (2, 8, 4, 4), last=shape == (2, 4, 4, 8), pixels=shape == (2, 16, 8)),
    }


@BUGS.question(
    "q35",
    TRAIN_AND_EVAL_PAGE,
    "show=modes&shape=6,3&layout=ND&layer=BatchNorm1d(3)&data=scales&at=1,2",
    [issue("pytorch", 66073), issue("indexnet_matting", 35)],
)
def woken_by_train() -> Facts:
    x, layer = example("scales", (6, 3), ("n", "d")), module_of("BatchNorm1d(3)")
    model = torch.nn.Sequential(layer.requires_grad_(False).eval())
    frozen = model(x)
    difference = largest_difference(model.train()(x), frozen)
    changed = changed_buffers(layer, model, x)
    layer.eval()
    return {"changed": changed, "gap": difference, "still": changed_buffers(layer, model, x), "right": changed}
