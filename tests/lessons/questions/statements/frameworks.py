"""What the answers on Keras and TensorFlow state."""

from __future__ import annotations

import numpy as np
import pytest

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.running.modes import train_and_eval
from normviz.analysis.running.stream import half_life, moving_average, other_momentum, two_forms
from normviz.code.programs import KERAS_LAYERS, AxisNumbers
from normviz.lessons.questions.facts import keras_default
from normviz.lessons.questions.topics.frameworks import keras_updates
from tests.lessons.questions.statements.measure import Statements, facts


def q11() -> Statements:
    f, means = facts("q11"), example("normal", (40,), ("n",)).double().numpy()
    average = moving_average(means, f["torch"])
    return {
        "with the two momenta both keep the same": np.abs(average - two_forms(means, f["keras"]).weighted).max()
        < 1e-12,
        "with the same number they do not": np.abs(average - two_forms(means, f["torch"]).weighted).max() > 0.1,
        "the defaults differ too": other_momentum(keras_default("momentum")) != f["torch"],
        "Keras's momentum is the weight of the old value": two_forms([1.0], f["keras"]).weighted[0]
        == pytest.approx(1 - f["keras"]),
        "torch's momentum is the weight of the new value": moving_average([1.0], f["torch"])[0] == f["torch"],
        "a lower one forgets sooner in Keras": half_life(other_momentum(0.1)) < half_life(other_momentum(0.5)),
        "a lower one forgets later in torch": half_life(0.1) > half_life(0.5),
        "0.1 of the old value is left in Keras": two_forms([1.0, 0.0], f["torch"]).weighted[1]
        == pytest.approx((1 - f["left"]) * f["left"]),
    }


def q18() -> Statements:
    x = example("scales", (6, 3), ("n", "d"))
    both, still = (train_and_eval(text, x) for text in ("BatchNorm1d(3)", "BatchNorm1d(3, momentum=0.0)"))
    return {
        "in torch a frozen layer updates its buffers": facts("q18")["moved"] > 0,
        "in Keras a frozen layer runs in inference mode": not keras_updates(training=True, trainable=False),
        "in early Keras it did not": keras_updates(training=True, trainable=False, early=True),
        "torch's eval mode stops the updates": both.changed_by_eval == (),
        "momentum=0.0 keeps the running statistics": still.changed_by_train == ("num_batches_tracked",),
        "momentum=0.0 still normalizes with the batch": np.array_equal(still.train, both.train),
        "after train() the buffers change again": {"running_mean", "running_var"} <= set(both.changed_by_train),
    }


def q19() -> Statements:
    batch, layer = (
        AxisNumbers.of(describe(text, (2, 4, 4, 3))) for text in ("Norm('n h w c -> c', 'c')", "LayerNorm(3)")
    )
    called = {placement: KERAS_LAYERS.layer(placement) for placement in (batch, layer)}
    return {
        "BatchNormalization with axis=-1": called[batch].name.endswith(".BatchNormalization")
        and called[batch].arguments(batch)["axis"] == "-1",
        "BatchNormalization keeps the last axis": batch.kept == (3,),
        "LayerNormalization with axis=-1": called[layer].name.endswith(".LayerNormalization")
        and called[layer].arguments(layer)["axis"] == "-1",
        "LayerNormalization reduces the last axis": layer.reduced == (3,),
    }


def q25() -> Statements:
    f, keras = facts("q25"), KERAS_LAYERS.layer(AxisNumbers.of(describe("BatchNorm2d(4)", (2, 4, 3, 3))))
    return {
        "Keras counts four per channel": f["keras"] == 4 * 4,
        "these are gamma, beta, moving_mean and moving_variance": [*keras.parameters, *keras.running]
        == ["gamma", "beta", "moving_mean", "moving_variance"],
        "an optimizer of torch sees two per channel": f["learned"] == 2 * 4,
        "the buffers are these and a count of batches": f["buffers"] == f["moving"] + 1,
    }
