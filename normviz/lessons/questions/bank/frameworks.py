"""Questions on Keras and TensorFlow: the same words as in torch with other meanings."""

from __future__ import annotations

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.running.modes import train_and_eval
from normviz.analysis.running.momentum import half_life, to_keras, to_torch
from normviz.analysis.running.torch_module import buffers
from normviz.code.axis_numbers import AxisNumbers
from normviz.code.frameworks import KERAS_LAYERS
from normviz.layers.layer import Layer
from normviz.lessons.questions.facts import keras_default, which
from normviz.lessons.questions.question import Facts
from normviz.lessons.questions.sources import ARTICLE, Source, issue, keras_page, torch_page
from normviz.lessons.questions.topics import FRAMEWORKS


@FRAMEWORKS.question(
    "q11",
    "train_and_eval",
    "show=stream&momentum=0.1",
    issue("pytorch", 15298),
    torch_page("BatchNorm1d"),
    keras_page("BatchNormalization"),
    ARTICLE,
    x="shape=8,1",
)
def momentum() -> Facts:
    torch_default = float(Layer.make("BatchNorm1d", 1).given["momentum"])
    keras_momentum = keras_default("momentum")
    return {
        "torch": torch_default,
        "keras": to_keras(torch_default),
        "life": half_life(torch_default),
        "left": torch_default,
        "keras_default": keras_momentum,
        "as_torch": to_torch(keras_momentum),
        "right": to_keras(torch_default),
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
    "train_and_eval",
    "show=modes&shape=6,3&layout=ND&layer=BatchNorm1d(3)&data=scales&at=1,2",
    issue("keras", 4762),
    keras_page("BatchNormalization"),
)
def frozen() -> Facts:
    x = example("scales", (6, 3), ("n", "d"))
    module = Layer.make("BatchNorm1d", 3).module().requires_grad_(False)
    before = [value.clone() for value in module.buffers()]
    module(x)
    moved = sum(bool((one != other).any()) for one, other in zip(before, module.buffers(), strict=True))
    return {
        "moved": moved,
        "difference": train_and_eval("BatchNorm1d(3)", x).largest_difference,
        "right": which(torch=moved > 0, keras=keras_updates(training=True, trainable=False)),
    }


@FRAMEWORKS.question(
    "q19",
    "compare",
    "shape=2,4,4,3&layout=NHWC&layers=Norm('n h w c -> c','c');LayerNorm([3])&at=0,1,2,1",
    issue("keras", 13463),
    keras_page("BatchNormalization"),
    keras_page("LayerNormalization"),
)
def axis() -> Facts:
    shape = (2, 4, 4, 3)
    batch, layer = (AxisNumbers.of(describe(text, shape)) for text in ("Norm('n h w c -> c', 'c')", "LayerNorm(3)"))
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
    "explore",
    "shape=2,4,3,3&layer=BatchNorm2d(4)&at=0,1,0,2",
    Source("Stack Overflow 42521005", "https://stackoverflow.com/questions/42521005"),
    keras_page("BatchNormalization"),
)
def parameter_count() -> Facts:
    text, shape = "BatchNorm2d(4)", (2, 4, 3, 3)
    e = describe(text, shape)
    assert e.layer is not None
    moving = sum(buffer.elements for buffer in buffers(text) if buffer.name != "num_batches_tracked")
    learned = e.counts.parameters
    return {
        "keras": learned + moving,
        "learned": learned,
        "moving": moving,
        "torch": sum(parameter.numel() for parameter in e.layer.module().parameters()),
        "buffers": e.counts.buffers,
        "right": learned + moving,
    }
