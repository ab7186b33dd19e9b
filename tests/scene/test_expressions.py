"""Expressions of other code: each is read as the layer that computes what the code computes, and nothing is guessed."""

import re

import pytest
import torch
from torch.nn import functional as F

from normviz.analysis.forward import Values, forward
from normviz.layers.layer import Layer
from normviz.scene.controls import with_typed
from normviz.scene.edits import repair
from normviz.scene.view import typed_query
from normviz.texts.errors import NormvizError
from tests.support.needs import cases_in_torch

IMAGES, LAST, SEQUENCE, ROWS = (2, 4, 3, 5), (2, 3, 5, 4), (2, 5, 4), (4, 6)


def scene_of(shape):
    return repair(shape=shape, layout="NHWC").scene if shape == LAST else repair(shape=shape).scene


def read(text, shape):
    reading = with_typed(scene_of(shape), text)
    assert reading.problem is None
    return str(reading.scene.layer) if isinstance(reading.scene.layer, Layer) else repr(reading.scene.layer)


READ = [
    # text, shape, layer
    ("F.layer_norm(x, x.shape[1:])", IMAGES, "LayerNorm([4, 3, 5], elementwise_affine=False)"),
    ("torch.nn.functional.layer_norm(h, (h.size(-1),), self.weight, self.bias, 1e-6)", SEQUENCE, "LayerNorm([4], eps=1e-06)"),
    ("F.layer_norm(x, [3, 5], weight=w, bias=None)", IMAGES, "LayerNorm([3, 5], bias=False)"),
    ("F.layer_norm(input=x, normalized_shape=x.size()[-2:])", IMAGES, "LayerNorm([3, 5], elementwise_affine=False)"),
    ("F.rms_norm(x, (x.shape[-1],), w)", SEQUENCE, "RMSNorm([4])"),
    ("F.rms_norm(x, (x.shape[-1],), 1 + self.weight)", SEQUENCE, "RMSNorm([4], zero_centered_gamma=True)"),
    ("F.layer_norm(x, (4,), w + 1.0, b)", SEQUENCE, "LayerNorm([4], zero_centered_gamma=True)"),
    ("F.group_norm(x, 2, weight=w, bias=b)", IMAGES, "GroupNorm(2, 4)"),
    ("F.batch_norm(x, None, None, training=True)", IMAGES, "BatchNorm2d(4, affine=False, track_running_stats=False)"),
    ("F.batch_norm(x, rm, rv, w, b)", ROWS, "BatchNorm1d(6).eval()"),
    ("F.instance_norm(x)", IMAGES, "InstanceNorm2d(4)"),
    ("x.mean((0, 2, 3), keepdim=True)", IMAGES, "BatchNorm2d(4, affine=False)"),
    ("torch.mean(x, dim=[-1])", SEQUENCE, "LayerNorm([4], elementwise_affine=False)"),
    ("np.mean(x, axis=0, keepdims=True)", ROWS, "BatchNorm1d(6, affine=False)"),
    ("tf.reduce_mean(x, axis=[1, 2])", LAST, "ChannelsLastInstanceNorm(4)"),
    ("x.pow(2).mean(-1, keepdim=True)", SEQUENCE, "RMSNorm([4], elementwise_affine=False)"),
    ("(x ** 2).mean(-1)", ROWS, "RMSNorm([6], elementwise_affine=False)"),
    ("x.mean()", ROWS, "LayerNorm([4, 6], elementwise_affine=False)"),
    ("keras.layers.LayerNormalization(axis=-1)", SEQUENCE, "LayerNorm([4], eps=0.001)"),
    ("LayerNormalization(axis=1, epsilon=1e-6)", IMAGES, "ChannelsFirstLayerNorm(4)"),
    ("tf.keras.layers.BatchNormalization()", LAST, "ChannelsLastBatchNorm(4, eps=0.001, momentum=0.01)"),
    ("layers.BatchNormalization(axis=1, momentum=0.9, epsilon=1e-5)", IMAGES, "BatchNorm2d(4)"),
    ("GroupNormalization(groups=2)", LAST, "ChannelsLastGroupNorm(2, 4, eps=0.001)"),
    ("GroupNormalization(groups=2, axis=1, scale=False, center=False)", IMAGES, "GroupNorm(2, 4, eps=0.001, affine=False)"),
    ("RMSNormalization()", SEQUENCE, "RMSNorm([4], eps=1e-06)"),
    ('reduce(x, "n c h w -> c", "mean")', IMAGES, "BatchNorm2d(4, affine=False)"),
    ("einops.reduce(x, 'b t d -> b t 1', 'mean')", SEQUENCE, "LayerNorm([4], elementwise_affine=False)"),
    ("reduce(x, 'b (a e) h w -> b a', 'mean', a=2)", IMAGES, "GroupNorm(2, 4, affine=False)"),
    ("F.layer_norm(x, x.shape[1:]) on (8, 96, 56, 56)", ROWS, "LayerNorm([96, 56, 56], elementwise_affine=False)"),
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("text", "shape", "layer"), READ)
def test_an_expression_is_read_as_its_layer(text, shape, layer):
    assert read(text, shape) == layer


@pytest.mark.parametrize(
    "text",
    [
        "F.layer_norm(x, x.shape[1:])",
        "F.layer_norm(x, (x.size(-1),), eps=0.1)",
        "F.rms_norm(x, x.shape[2:])",
        "F.group_norm(x, 2)",
        "F.batch_norm(x, None, None, training=True)",
        "F.instance_norm(x, eps=0.5)",
    ],
)
def test_the_layer_computes_what_the_function_of_torch_computes(text):
    scene = with_typed(scene_of(IMAGES), text).scene
    x = torch.randn(IMAGES, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    assert isinstance(scene.layer, Layer)
    torch.testing.assert_close(scene.layer.module(torch.float64)(x), eval(text, {"F": F, "x": x}))


@pytest.mark.parametrize("dims", [(0, 2, 3), (1,), (2, 3), (1, 2, 3), (0,), (0, 1, 2, 3), (0, 1)])
def test_the_mean_of_the_layer_is_that_of_the_expression(dims):
    scene = with_typed(scene_of(IMAGES), f"x.mean({dims}, keepdim=True)").scene
    x = torch.randn(IMAGES, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    found = x - forward(scene.shape_description.norm, x, Values()).centered
    torch.testing.assert_close(found, x.mean(dims, keepdim=True).expand(IMAGES))


REFUSED = [
    # text, shape, words
    ("F.layer_norm(x, shape)", IMAGES, re.escape("has no value for 'shape'; shown is normalized_shape=[5].")),
    ("F.layer_norm(x, 5)", IMAGES, "normalized_shape is a list of sizes"),  # a TypeError in torch
    ("F.layer_norm(x, [d])", IMAGES, re.escape("has no value for '[d]'; shown is normalized_shape=[5].")),
    ("F.layer_norm(x, y.shape[1:])", IMAGES, "normalized_shape is a list of sizes"),  # whose shape?
    ("F.layer_norm(x, x.shape[n:])", IMAGES, re.escape("The value of 'x.shape[n:]' is not in the text")),
    ("F.layer_norm(x, [x.shape[9]])", IMAGES, re.escape("The value of 'x.shape[9]' is not in the text")),
    ("F.layer_norm(x, [5], None, b)", IMAGES, "A beta without a gamma"),
    ("F.layer_norm(*args)", IMAGES, "layer_norm is read with these arguments: x, normalized_shape"),
    ("F.layer_norm(x, [5], **options)", IMAGES, "layer_norm is read with these arguments"),
    ("F.batch_norm(x, None, None)", IMAGES, "needs running_mean and running_var, or training=True"),  # an error in torch
    ("F.batch_norm(x, rm, rv, training=self.training)", IMAGES, "has no value for 'self.training'; shown is training=False."),
    ("F.instance_norm(x)", ROWS, "InstanceNorm has no layer for an x of shape .4, 6."),
    ("F.group_norm(x, 3)", IMAGES, "must be divisible by num_groups"),
    ("x.mean(dims)", IMAGES, "The value of 'dims' is not in the text"),
    ("x.mean((0, 4))", IMAGES, re.escape("(0, 4) is not a list of different axes of x, which has the axes 0 to 3: N, C, H, W.")),
    ("x.mean((1, -3))", IMAGES, "is not a list of different axes"),
    ("x.mean(())", IMAGES, "is not a list of different axes"),  # torch: all axes, NumPy: none
    ("x.mean(True)", IMAGES, "is not a list of different axes"),
    ("x.mean(0, 2, 3)", IMAGES, "mean is read with these arguments: x, dim and keepdim"),
    ("x.mean(0, 2)", IMAGES, "mean is read with these arguments: x, dim and keepdim"),
    ("(x + y).mean(0)", IMAGES, "Write the mean of one tensor"),
    ("x.pow(3).mean(0)", IMAGES, "Write the mean of one tensor"),
    ("BatchNormalization()", IMAGES, "Keras takes the last axis, which is W of this x, and not C: write axis=1"),
    ("LayerNormalization(scale=False)", SEQUENCE, "A beta without a gamma"),
    ("BatchNormalization(axis=1, momentum=2)", IMAGES, "momentum=2 must be a number from 0 to 1"),
    ("BatchNormalization(axis=[1, 2])", IMAGES, "BatchNormalization takes one axis"),
    ("GroupNormalization(groups=3)", LAST, "3"),
    ("GroupNormalization(axis=0)", LAST, "takes one axis other than the first"),
    ('reduce(x, "n h w c -> c", "mean")', IMAGES, "The pattern has the axes n h w c, and x has n c h w"),
    ('reduce(x, "n c h -> c", "mean")', IMAGES, "The pattern has the axes n c h, and x has n c h w"),
    ('reduce(x, "n c h w -> c", "max")', IMAGES, "Write the mean of whole axes"),
    ('reduce(x, "n ... -> n", "mean")', IMAGES, "Write the mean of whole axes"),
    ('reduce(x, pattern, "mean")', IMAGES, "The value of 'pattern' is not in the text"),
    ('reduce(x, "n c h w -> z", "mean")', IMAGES, "z"),
    ("x.mean(__import__('os').abort())", IMAGES, "The value of .* is not in the text"),
    ("__import__('os').mean(0)", IMAGES, "Write the mean of one tensor"),
    ("exec('1').layer_norm(x, [5])", IMAGES, "what is read here is a layer"),
    ("x.median(0)", IMAGES, "what is read here is a layer"),
    ("x.mean(" + "-" * 400 + "1)", IMAGES, "is read here|not a list of different axes|not in the text"),
    ("x.mean(" + "(" * 300 + "0" + ")" * 300 + ")", IMAGES, "is read here"),
    ("x.mean(0" + ",0" * 2000 + ")", IMAGES, "is read here"),
    ("F.layer_norm(x, [" + "9" * 400 + "])", IMAGES, "must be a size or a list of the last sizes"),
    ("F.layer_norm(x, x.shape[::0])", IMAGES, "not in the text"),
    ("F.layer_norm(x, x.shape[9:])", IMAGES, "normalized_shape"),
    ("F.layer_norm(x, [5]) on (0, 5)", ROWS, "has a size below 1"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shape", "words"), REFUSED)
def test_what_is_ambiguous_or_wrong_gets_a_message(text, shape, words):
    try:
        reading = with_typed(scene_of(shape), text)
        problem = reading.problem or reading.note
    except NormvizError as error:
        problem = str(error)
    assert problem
    assert re.search(words, problem), problem


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("x.mean((0, 2, 3), keepdim=True)", {"layer": "BatchNorm2d(4, affine=False)"}),
        ("F.layer_norm(x, [96])", {"layer": "LayerNorm([96], elementwise_affine=False)"}),
        ("BatchNormalization()", {"shape": "2,3,5,4", "layer": "ChannelsLastBatchNorm(4, eps=0.001, momentum=0.01)"}),
        ("F.layer_norm(x, x.shape[1:]) on 8,96,56,56", {"shape": "8,96,56,56", "layer": "LayerNorm([96, 56, 56], elementwise_affine=False)"}),
    ],
)  # fmt: skip
def test_the_field_of_the_front_page_takes_expressions_on_an_example(text, query):
    found = typed_query(text)
    assert {name: found.get(name, "").replace(", ", ",") for name in query} == {
        name: text.replace(", ", ",") for name, text in query.items()
    }


def test_an_expression_gets_an_example_that_it_can_divide():
    assert typed_query("GroupNormalization(groups=3)")["layer"] == "ChannelsLastGroupNorm(3,6,eps=0.001)"
