"""Questions from bugs in well-known models and libraries: each was found, reported and fixed in public."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.forward import largest_difference
from normviz.lessons.compare import PAGE as COMPARE_PAGE
from normviz.lessons.numerics import PAGE as NUMERICS_PAGE
from normviz.lessons.questions.facts import ROUNDING, changed_buffers, module_of, normal, only, output, output_change
from normviz.lessons.questions.question import BUGS, Facts
from normviz.lessons.questions.sources import Source, issue, torch_page
from normviz.lessons.step_by_step import PAGE as STEP_BY_STEP_PAGE
from normviz.lessons.train_and_eval import PAGE as TRAIN_AND_EVAL_PAGE

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
