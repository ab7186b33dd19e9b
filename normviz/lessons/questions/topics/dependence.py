"""Questions on dependence: which elements of x change an output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from normviz.analysis.closed_form import autograd_backward, upstream
from normviz.analysis.comparison import compare
from normviz.analysis.derivatives import perturb
from normviz.analysis.description import describe
from normviz.analysis.examples import from_values
from normviz.analysis.forward import largest_difference
from normviz.analysis.invariance import invariances
from normviz.lessons.compare import PAGE as COMPARE_PAGE
from normviz.lessons.gradients import PAGE as GRADIENTS_PAGE
from normviz.lessons.questions.facts import ROUNDING, normal, output, output_change, which
from normviz.lessons.questions.question import DEPENDENCE, Facts
from normviz.lessons.questions.sources import ARTICLE, FORUM, issue, keras_page, paper, torch_page

if TYPE_CHECKING:
    from torch import Tensor


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


IMAGES = (2, 3, 4, 4)
ALL = "LayerNorm([3, 4, 4])"
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
    "q26", GRADIENTS_PAGE, "shape=8,3&layout=ND&layer=BatchNorm1d(3)&at=2,1", [paper("BatchNorm"), paper("RMSNorm")]
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
