"""Questions of the fourth document: what is said of vision, language, channels, eps and the batch."""

from __future__ import annotations

from math import inf, prod

from normviz.analysis.explanation import describe
from normviz.analysis.gradients.derivatives import perturb
from normviz.analysis.invariance import depends_on_batch
from normviz.analysis.rounding.eps import eps_table
from normviz.analysis.running.torch_module import torch_words
from normviz.lessons.questions.documents import ARTICLE
from normviz.lessons.questions.facts import module_of, only, same
from normviz.lessons.questions.outputs import change, gammas, normal, output
from normviz.lessons.questions.question import Facts, Question
from normviz.lessons.questions.topics import CUSTOMS, NUMBERS, SHARING

ASKED = (ARTICLE,)
TOKENS = N, L, C = (4, 3, 5)
PER_FEATURE = "Norm('n l c -> c', 'c')"


def _vision_and_text() -> Facts:
    images = (2, 3, 4, 4)
    refused = {
        "batch": torch_words("BatchNorm1d(5)", normal(2, 5, 4)) != "",
        "layer": torch_words("LayerNorm([3, 4, 4])", normal(*images)) != "",
    }
    batch, layer, pixel = (
        describe(text, images).counts
        for text in ("BatchNorm2d(3)", "LayerNorm([3, 4, 4])", "ChannelsFirstLayerNorm(3)")
    )
    return {
        "batch": batch.statistics,
        "layer": layer.statistics,
        "pixels": pixel.statistics,
        "right": only(
            both=all(refused.values()),
            batch=refused == {"batch": True, "layer": False},
            layer=refused == {"batch": False, "layer": True},
            none=not any(refused.values()),
        ),
        "holds": {
            "BatchNorm has one mean a channel": batch.statistics == images[1],
            "LayerNorm one an image": layer.statistics == images[0],
            "ConvNeXt's one a pixel": pixel.statistics == prod(images) // images[1],
        },
    }


def _colours() -> Facts:
    deep = normal(2, 8, 4, 4)
    channels = describe("BatchNorm2d(8)", deep.shape).counts.statistics
    return {
        "channels": channels,
        "colours": describe("BatchNorm2d(3)", (2, 3, 6, 6)).counts.statistics,
        "features": describe("LayerNorm(5)", TOKENS).counts.elements_per_statistic,
        "right": channels,
        "holds": {
            "BatchNorm2d(3) refuses it": torch_words("BatchNorm2d(3)", deep) != "",
            "it takes the image itself": torch_words("BatchNorm2d(3)", normal(2, 3, 6, 6)) == "",
            "a layer for text averages over the features": describe("LayerNorm(5)", TOKENS).norm.pattern.reduced
            == ("c",),
        },
    }


def _tiny_eps() -> Facts:
    table = {(o.dtype, o.eps): o for o in eps_table()}
    half, tiny, usual = table["float16", 1e-12], table["float32", 1e-12], table["float32", 1e-5]
    return {
        "kept": half.kept,
        "own": half.by_torch["LayerNorm"],
        "var": tiny.var,
        "tiny": tiny.by_torch["LayerNorm"],
        "usual": usual.by_torch["LayerNorm"],
        "right": only(one=0.9 < half.by_hand < 1.1, small=half.by_hand < 0.5, infinite=half.by_hand == inf),
        "holds": {
            "float32 keeps the eps": tiny.kept > 0,
            "torch's own layer gives about one in float16 too": 0.9 < half.by_torch["LayerNorm"] < 1.1,
            "a small spread is kept with the one eps": tiny.by_torch["LayerNorm"] > 0.99,
            "and lost with the other": usual.by_torch["LayerNorm"] < 0.1,
        },
    }


def _other_examples() -> Facts:
    shape, texts = (4, 6), {"layer": "LayerNorm(6)", "batch": "BatchNorm1d(6)"}
    x = normal(*shape)
    other = x.clone()
    other[1:] = 3 * x[1:] + 1
    moved = {key: change(text, x, other, 0) for key, text in texts.items()}
    moves = [key for key, by in moved.items() if by > 0]
    return {
        **moved,
        "evaluated": change("BatchNorm1d(6).eval()", x, other, 0),
        "right": only(layer=moves == ["layer"], batch=moves == ["batch"], both=len(moves) == 2, neither=not moves),
        "holds": {
            "measured on many tensors LayerNorm is free of the batch": depends_on_batch(describe(texts["layer"], shape))
            is False,
            "and BatchNorm is not": depends_on_batch(describe(texts["batch"], shape)) is True,
            "in eval mode it is": depends_on_batch(describe("BatchNorm1d(6).eval()", shape)) is False,
        },
    }


def _other_tokens() -> Facts:
    shape, at = (2, 3, 4), (0, 1, 2)
    x = normal(*shape)
    moved = perturb(describe("LayerNorm(4)", x), at, h=1.0).moved.any(2)
    batch = perturb(describe(PER_FEATURE, x), at, h=1.0).moved.any(2)
    short = x[:, :2]
    return {
        "layer": int(moved.sum()),
        "batch": int(batch.sum()),
        "tokens": shape[0] * shape[1],
        "right": int(moved.sum()),
        "holds": {
            "the token itself": bool(moved[0, 1]),
            "the other sentence's too under BatchNorm": bool(batch[1].all()),
            "sequences of any length": same(output("LayerNorm(4)", short), output("LayerNorm(4)", x)[:, :2]),
            "with the same gammas": gammas("LayerNorm(4)", shape) == gammas("LayerNorm(4)", (2, 2, 4)),
            "by one module": module_of("LayerNorm(4)")(short).shape == short.shape,
        },
    }


QUESTIONS = (
    Question(
        "s3a", CUSTOMS, _vision_and_text, "compare",
        "shape=2,3,4,4&layers=BatchNorm2d(3);LayerNorm([3,4,4]);ChannelsFirstLayerNorm(3)&at=0,1,0,3", ASKED,
    ),
    Question("s3b", CUSTOMS, _colours, "explore", "shape=2,8,4,4&layer=BatchNorm2d(8)&at=0,5,0,3", ASKED),
    Question("s3h", NUMBERS, _tiny_eps, "numerics", "show=eps&dtype=float16", ASKED),
    Question(
        "s3i", SHARING, _other_examples, "compare",
        "shape=4,6&layers=LayerNorm(6);BatchNorm1d(6);BatchNorm1d(6).eval()&at=0,4", ASKED,
    ),
    Question(
        "s3q", SHARING, _other_tokens, "gradients", "show=column&shape=2,3,4&layer=LayerNorm(4)&at=0,1,2", ASKED,
    ),
)  # fmt: skip
