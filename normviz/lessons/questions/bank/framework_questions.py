"""Keras and TensorFlow beside torch: the same words for other things. Their rules are data; tests hold them to the packages."""

from __future__ import annotations

import numpy as np

from normviz.analysis.examples import example
from normviz.analysis.explanation import describe
from normviz.analysis.running.modes import train_and_eval
from normviz.analysis.running.momentum import half_life, moving_average, to_keras, to_torch, two_forms
from normviz.analysis.running.torch_module import buffers
from normviz.code.axis_numbers import Placement
from normviz.code.frameworks import KERAS_LAYERS
from normviz.layers.layer import Layer
from normviz.lessons.questions.outputs import keras_default
from normviz.lessons.questions.question import Facts, Question
from normviz.lessons.questions.sources import Source, issue, keras_page, torch_page

FRAMEWORKS = "Other frameworks"


def keras_moves(training: bool, trainable: bool, early: bool = False) -> bool:
    """Does Keras's BatchNormalization normalize with the batch's statistics, and move its moving ones?

    Source: keras.io, BatchNormalization, "About setting layer.trainable = False"; of early Keras, before TF2, keras #4762.

    >>> keras_moves(training=True, trainable=False), keras_moves(training=True, trainable=False, early=True)
    (False, True)
    """
    return training and (trainable or early)


def _momentum() -> Facts:
    torch_default = float(Layer.make("BatchNorm1d", 1).given["momentum"])
    usual = keras_default("momentum")
    means = example("normal", (40,), ("n",)).double().numpy()
    ours, theirs = moving_average(means, torch_default), two_forms(means, to_keras(torch_default)).weighted
    copied = two_forms(means, torch_default).weighted
    return {
        "torch": torch_default,
        "keras": to_keras(torch_default),
        "life": half_life(torch_default),
        "copied_life": half_life(torch_default, "keras"),
        "keras_default": usual,
        "as_torch": to_torch(usual),
        "default_life": half_life(usual, "keras"),
        "right": to_keras(torch_default),
        "holds": {
            "with the two momenta both keep the same": bool(np.abs(ours - theirs).max() < 1e-12),
            "with one number they do not": bool(np.abs(ours - copied).max() > 0.1),
            "the defaults are not the same either": to_torch(usual) != torch_default,
        },
    }


def _frozen() -> Facts:
    x = example("scales", (6, 3), ("n", "d"))
    module = Layer.make("BatchNorm1d", 3).module().requires_grad_(False)
    before = [value.clone() for value in module.buffers()]
    module(x)
    moved = sum(bool((one != other).any()) for one, other in zip(before, module.buffers(), strict=True))
    both = train_and_eval("BatchNorm1d(3)", x)
    names = {(True, True): "both", (True, False): "torch", (False, True): "keras", (False, False): "neither"}
    return {
        "moved": moved,
        "difference": both.largest_difference,
        "right": names[bool(moved), keras_moves(training=True, trainable=False)],
        "holds": {
            "in torch, frozen gamma and beta leave the buffers moving": moved > 0,
            "in Keras a frozen layer runs as in inference": not keras_moves(training=True, trainable=False),
            "in early Keras it did not": keras_moves(training=True, trainable=False, early=True),
            "torch's eval mode stops them": both.changed_by_eval == (),
        },
    }


def _axis() -> Facts:
    shape = (2, 4, 4, 3)
    batch, layer = (Placement.of(describe(text, shape)) for text in ("Norm('n h w c -> c', 'c')", "LayerNorm(3)"))
    called = [KERAS_LAYERS.layer(p) for p in (batch, layer)]
    names = [found.name.rpartition(".")[2] for found in called if found]
    axes = [found.arguments(p)["axis"] for found, p in zip(called, (batch, layer), strict=True) if found]
    return {
        "batch": batch.e.counts.statistics,
        "batch_elements": batch.e.counts.elements_per_statistic,
        "layer": layer.e.counts.statistics,
        "layer_elements": layer.e.counts.elements_per_statistic,
        "axis": axes[0],
        "right": batch.e.counts.statistics,
        "holds": {
            "Keras's BatchNormalization with axis=-1 keeps the last axis": (names[0], axes[0])
            == ("BatchNormalization", "-1")
            and batch.kept == (3,),
            "its LayerNormalization with axis=-1 reduces the last axis": (names[1], axes[1])
            == ("LayerNormalization", "-1")
            and layer.reduced == (3,),
        },
    }


def _four() -> Facts:
    text, shape = "BatchNorm2d(4)", (2, 4, 3, 3)
    e = describe(text, shape)
    assert e.layer is not None
    p = Placement.of(e)
    keras = KERAS_LAYERS.layer(p)
    moving = sum(buffer.elements for buffer in buffers(text) if buffer.name != "num_batches_tracked")
    learned = e.counts.parameters
    return {
        "keras": learned + moving,
        "learned": learned,
        "moving": moving,
        "torch": sum(parameter.numel() for parameter in e.layer.module().parameters()),
        "buffers": e.counts.buffers,
        "right": learned + moving,
        "holds": {
            "Keras counts four a channel": learned + moving == 4 * shape[1],
            "its four are gamma, beta, moving_mean and moving_variance": keras is not None
            and [*keras.learns, *keras.running] == ["gamma", "beta", "moving_mean", "moving_variance"],
            "an optimizer of torch sees two a channel": learned == 2 * shape[1],
            "the buffers are these and a count of batches": e.counts.buffers == moving + 1,
        },
    }


QUESTIONS = (
    Question(
        "q11",
        FRAMEWORKS,
        _momentum,
        "train_and_eval",
        "show=stream&momentum=0.1",
        (issue("pytorch", 15298), torch_page("BatchNorm1d"), keras_page("BatchNormalization")),
    ),
    Question(
        "q18",
        FRAMEWORKS,
        _frozen,
        "train_and_eval",
        "show=modes&shape=6,3&layout=ND&layer=BatchNorm1d(3)&data=scales&at=1,2",
        (issue("keras", 4762), keras_page("BatchNormalization")),
    ),
    Question(
        "q19",
        FRAMEWORKS,
        _axis,
        "compare",
        "shape=2,4,4,3&layout=NHWC&layers=Norm('n h w c -> c','c');LayerNorm([3])&at=0,1,2,1",
        (issue("keras", 13463), keras_page("BatchNormalization"), keras_page("LayerNormalization")),
    ),
    Question(
        "q25",
        FRAMEWORKS,
        _four,
        "explore",
        "shape=2,4,3,3&layer=BatchNorm2d(4)&at=0,1,0,2",
        (
            Source("Stack Overflow 42521005", "https://stackoverflow.com/questions/42521005"),
            keras_page("BatchNormalization"),
        ),
    ),
)
