"""Who shares a mean: pixels, tokens, time steps, padding and biases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from normviz.analysis.examples import from_values
from normviz.analysis.explanation import describe
from normviz.analysis.forward import largest_difference
from normviz.analysis.gradients.closed_form import autograd_backward, upstream
from normviz.analysis.gradients.derivatives import perturb
from normviz.analysis.running.torch_module import torch_words
from normviz.lessons.questions.facts import ROUNDING
from normviz.lessons.questions.outputs import change, gammas, normal, output
from normviz.lessons.questions.question import Facts, Question
from normviz.lessons.questions.sources import (
    BATCH_NORM_PAPER,
    CONVNEXT_PAPER,
    GROUP_NORM_PAPER,
    LAYER_NORM_PAPER,
    RMS_NORM_PAPER,
    issue,
    torch_page,
)
from normviz.lessons.questions.topics import SHARING

if TYPE_CHECKING:
    from torch import Tensor


def _convnext() -> Facts:
    pixel, image = (describe(text, (2, 3, 4, 4)) for text in ("ChannelsFirstLayerNorm(3)", "LayerNorm([3, 4, 4])"))
    at, x, larger = (1, 1, 2, 1), normal(2, 3, 4, 4), normal(2, 3, 5, 5)
    channels_last = output("LayerNorm(3, eps=1e-06)", x.movedim(1, -1)).movedim(-1, 1)
    return {
        "statistics": pixel.counts.statistics,
        "channels": pixel.counts.elements_per_statistic,
        "images": image.counts.statistics,
        "elements": image.counts.elements_per_statistic,
        "gammas": gammas("ChannelsFirstLayerNorm(3)", x.shape),
        "image_gammas": gammas("LayerNorm([3, 4, 4])", x.shape),
        "right": pixel.counts.statistics,
        "holds": {
            "no other pixel is in a pixel's mean": all((i[0], *i[2:]) == (at[0], *at[2:]) for i in pixel.peers(at)),
            "it is LayerNorm(3) on x with the channels last": largest_difference(
                channels_last, output("ChannelsFirstLayerNorm(3)", x)
            )
            < ROUNDING,
            "it takes images of any size": output("ChannelsFirstLayerNorm(3)", larger).shape == larger.shape,
            "and LayerNorm([3, 4, 4]) does not": torch_words("LayerNorm([3, 4, 4])", larger) != "",
        },
    }


def _tokens() -> Facts:
    token, sequence = (describe(text, (2, 4, 6)) for text in ("LayerNorm(6)", "LayerNorm([4, 6])"))
    x = normal(2, 4, 6)
    later = x.clone()
    later[:, -1] += 3 * x[:, 0]
    first = (slice(None), 0)
    return {
        "statistics": token.counts.statistics,
        "features": token.counts.elements_per_statistic,
        "sequences": sequence.counts.statistics,
        "kept": change("LayerNorm(6)", x, later, first),
        "leak": change("LayerNorm([4, 6])", x, later, first),
        "right": token.counts.statistics,
        "holds": {
            "no token's mean has another token in it": all(i[:2] == (0, 1) for i in token.peers((0, 1, 4))),
            "a later token changes nothing before it": change("LayerNorm(6)", x, later, first) == 0,
            "over (L, C) it would": change("LayerNorm([4, 6])", x, later, first) > 0.1,
        },
    }


def _clip() -> Facts:
    x, at = normal(1, 4, 5), (0, 0, 4)
    group, step = (perturb(describe(text, x), at, h=1.0) for text in ("GroupNorm(2, 4)", "ChannelsFirstLayerNorm(4)"))
    early = (group.after - group.before)[0, 0, 0].abs()
    channels, steps = int(group.moved.any(dim=2).sum()), int(group.moved.any(dim=1).sum())
    return {
        "moved": int(group.moved.sum()),
        "channels": channels,
        "steps": steps,
        "early": float(early),
        "alone": int(step.moved.sum()),
        "right": int(group.moved.sum()),
        "holds": {
            "what moves is the group of x[0, 0, 4] and nothing else": int(group.moved.sum())
            == describe("GroupNorm(2, 4)", x).counts.elements_per_statistic,
            "the first step moves with the last": float(early) > 0.01,
            "a norm over channels moves the last step alone": bool(step.moved[..., 4].all())
            and not step.moved[..., :4].any(),
        },
    }


PADDED_LAYERS = {
    "batch": "BatchNorm1d(3)",
    "token": "ChannelsFirstLayerNorm(3)",
    "instance": "InstanceNorm1d(3)",
    "group": "GroupNorm(1, 3)",
}
REAL = 2  # steps of the second sequence that are no padding


def _sequences(length: int = 6) -> Tensor:
    """Two sequences around 3, (2, 3, length): the first has six steps, the second two, zeros after them."""
    long = 3 + normal(2, 3, 6, seed=4)
    padded = from_values((0.0,) * (2 * 3 * length), (2, 3, length))
    padded[0, :, :6], padded[1, :, :REAL] = long[0], long[1, :, :REAL]
    return padded


def _padding() -> Facts:
    x, longer = _sequences(), _sequences(12)
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
        "holds": {
            "padding moves BatchNorm, InstanceNorm and GroupNorm": all(
                changes[key] > 0.01 for key in ("batch", "instance", "group")
            ),
            "and not a norm over the channels of each token": changes["token"] == 0,
        },
    }


def _bias() -> Facts:
    x, bias = normal(8, 3), from_values((5.0, -3.0, 10.0), (3,))
    layers = {"batch": "BatchNorm1d(3)", "rms": "RMSNorm(3)", "layer": "LayerNorm(3)"}
    changes = {key: change(text, x, x + bias) for key, text in layers.items()}
    gradients = {
        key: float(autograd_backward(describe(layers[key], x), upstream((8, 3))).dx.sum(0).abs().max())
        for key in ("batch", "rms")
    }
    same = (changes["batch"] < ROUNDING, changes["rms"] < ROUNDING)
    return {
        **changes,
        "gradient": gradients["batch"],
        "right": {(True, True): "both", (True, False): "batch", (False, True): "rms", (False, False): "neither"}[same],
        "holds": {
            "before BatchNorm the bias does nothing but round": changes["batch"] < ROUNDING,
            "nothing trains it there": gradients["batch"] < 1e-12,
            "before RMSNorm it works": changes["rms"] > 0.1 and gradients["rms"] > 0.01,
            "before LayerNorm too": changes["layer"] > 0.1,
        },
    }


QUESTIONS = (
    Question(
        "q3",
        SHARING,
        _convnext,
        "compare",
        "shape=2,3,4,4&layers=ChannelsFirstLayerNorm(3);LayerNorm([3,4,4])&at=1,1,2,1",
        (issue("ConvNeXt", 112), CONVNEXT_PAPER),
    ),
    Question(
        "q4",
        SHARING,
        _tokens,
        "compare",
        "shape=2,4,6&layout=NLC&layers=LayerNorm([6]);LayerNorm([4,6])&at=0,1,4",
        (issue("minGPT", 113), LAYER_NORM_PAPER),
    ),
    Question(
        "q7",
        SHARING,
        _clip,
        "gradients",
        "shape=1,4,5&layout=NCL&layer=GroupNorm(2,4)&at=0,0,4",
        (issue("Wan2.1", 294), torch_page("GroupNorm"), GROUP_NORM_PAPER),
    ),
    Question(
        "q21",
        SHARING,
        _padding,
        "compare",
        f"shape=2,3,6&layout=NCL&layers={';'.join(PADDED_LAYERS.values()).replace(' ', '')}&at=1,0,1"
        f"&values={','.join(f'{value:.4g}' for value in _sequences().flatten().tolist())}",
        (issue("pytorch", 81985), torch_page("BatchNorm1d")),
    ),
    Question(
        "q26",
        SHARING,
        _bias,
        "gradients",
        "shape=8,3&layout=ND&layer=BatchNorm1d(3)&at=2,1",
        (BATCH_NORM_PAPER, RMS_NORM_PAPER),
    ),
)
