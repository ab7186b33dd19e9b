"""Questions on layers written by hand: their loops, ``dim``, assertions and tests."""

from __future__ import annotations

from itertools import product
from math import prod

from normviz.analysis.description import describe
from normviz.analysis.examples import example
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.modes import train_and_eval
from normviz.analysis.running.momentum import half_life, other_momentum
from normviz.analysis.running.torch_module import buffers
from normviz.code.frameworks import KERAS_LAYERS, AxisNumbers
from normviz.layers.layer import Layer
from normviz.lessons.compare import LOOPS, READY_SETS, loops_difference
from normviz.lessons.compare import PAGE as COMPARE_PAGE
from normviz.lessons.explore import PAGE as EXPLORE_PAGE
from normviz.lessons.questions.question import (
    ANNOTATED,
    ARTICLE,
    CODE,
    FRAMEWORKS,
    Facts,
    Source,
    issue,
    keras_default,
    keras_page,
    module_of,
    normal,
    only,
    output,
    scene_of,
    torch_page,
    which,
)
from normviz.lessons.step_by_step import PAGE as STEP_BY_STEP_PAGE
from normviz.lessons.train_and_eval import PAGE as TRAIN_AND_EVAL_PAGE

TOKENS = N, L, C = (4, 3, 5)


@CODE.question("s3c", STEP_BY_STEP_PAGE, "shape=4,3,5&layer=LayerNorm(5)&at=2,1,3&step=1", ARTICLE)
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


PER_FEATURE = "Norm('n l c -> c', 'c')"


@CODE.question("s3", COMPARE_PAGE, f"shape=4,3,5&layout=NLC&layers={LOOPS};{PER_FEATURE}&at=2,1,3", ARTICLE)
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
    "s3d", COMPARE_PAGE, f"shape=3,5,2,4&layout=NHWC&layers={';'.join(READY_SETS['dim-0'].layers)}&at=1,2,1,3", ARTICLE
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


@CODE.question("s3e", COMPARE_PAGE, "shape=4,3,5&layout=NLC&layers=DimNorm(5,dim=-1);LayerNorm(5)&at=2,1,3", ARTICLE)
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
    "s3g", COMPARE_PAGE, "shape=3,2,4&params=index&layers=DimNorm(4,dim=0);DimNorm(4,dim=-1)&at=1,1,2", ARTICLE
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


@CODE.question("s2p", STEP_BY_STEP_PAGE, "shape=2,3,2,4&layer=LayerNorm([2,4])&at=1,2,0,3&step=1", ANNOTATED)
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


@CODE.question("s2m", STEP_BY_STEP_PAGE, ZEROS, ANNOTATED)
def zeros_test() -> Facts:
    right, x = "LayerNorm([2, 4])", normal(2, 3, 2, 4)
    zeros = scene_of(ZEROS).description.x
    assert zeros is not None
    noticed = sum(largest_difference(output(text, zeros), output(right, zeros)) > 0 for text in WRONG)
    differences = [largest_difference(output(text, x), output(right, x)) for text in WRONG]
    return {
        "noticed": noticed,
        "wrong": len(WRONG),
        "caught": sum(difference > 1e-3 for difference in differences),
        "least": min(differences),
        "right": noticed,
    }


@CODE.question("s2q", EXPLORE_PAGE, "shape=2,3,2,4&layer=LayerNorm((2,4))&params=index&at=1,2,0,3", ANNOTATED)
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
    COMPARE_PAGE,
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
    EXPLORE_PAGE,
    "shape=2,4,3,3&layer=BatchNorm2d(4)&at=0,1,0,2",
    Source("Stack Overflow 42521005", "https://stackoverflow.com/questions/42521005"),
    keras_page("BatchNormalization"),
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
