import pytest
import torch
from hypothesis import given, settings
from torch import nn

from normviz.layers.axes import parse_layout
from normviz.layers.fit import is_probably_channels_last, meant_for_channels, remedies
from normviz.layers.layer import Layer
from tests.layers.refusals import REFUSALS, torch_error
from tests.support.needs import needs_refused_eps
from tests.support.strategies import IN_TORCH, layers_that_may_not_fit

REMEDIES = [
    # a layer, the shape of x that it refuses, and what torch accepts, the most probable first
    (
        "LayerNorm(96)",
        (8, 96, 56, 56),
        [
            "`ChannelsFirstLayerNorm(96, eps=1e-05)`",
            "`LayerNorm([96])` on `x.movedim(1, -1)`, shape (8, 56, 56, 96)",
            "`LayerNorm([56])`",
            "`LayerNorm([96, 56, 56])`",
        ],
    ),
    (
        "RMSNorm(96)",
        (8, 96, 56, 56),
        ["`RMSNorm([96])` on `x.movedim(1, -1)`, shape (8, 56, 56, 96)", "`RMSNorm([56])`", "`RMSNorm([96, 56, 56])`"],
    ),
    (
        "BatchNorm2d(96)",
        (8, 56, 56, 96),
        ["`BatchNorm2d(96)` on `x.movedim(-1, 1)`, shape (8, 96, 56, 56)", "`BatchNorm2d(56)`"],
    ),
    ("BatchNorm2d(128)", (2, 64, 4, 4), ["`BatchNorm2d(64)`"]),
    ("BatchNorm2d(3)", (3, 4, 4), ["`BatchNorm2d(3)` on `x.unsqueeze(0)`, shape (1, 3, 4, 4)", "`BatchNorm1d(4)`"]),
    ("BatchNorm1d(64)", (8, 64, 4, 4), ["`BatchNorm2d(64)`"]),
    ("BatchNorm1d(3)", (1, 3), ["`BatchNorm1d(3)` on `torch.randn(2, 3)`", "`BatchNorm1d(3).eval()`"]),
    ("GroupNorm(32, 100)", (2, 100, 4, 4), ["`GroupNorm(25, 100)`"]),
    ("GroupNorm(4, 4)", (1, 4, 1, 1), ["`GroupNorm(4, 4)` on `torch.randn(2, 4, 1, 1)`", "`GroupNorm(2, 4)`"]),
    ("BatchNorm1d(3, eps=0)", (2, 3), ["`BatchNorm1d(3)`", "`BatchNorm1d(3, eps=0.0).eval()`"]),
    ("LayerNorm(4)", (2, 3, 4, 4), []),
    # without a beta, or without a gamma too, no ChannelsFirstLayerNorm does the same
    (
        "LayerNorm(96, bias=False)",
        (8, 96, 56),
        [
            "`LayerNorm([96], bias=False)` on `x.movedim(1, -1)`, shape (8, 56, 96)",
            "`LayerNorm([56], bias=False)`",
            "`LayerNorm([96, 56], bias=False)`",
        ],
    ),
    # of two axes with the size of the layer, axis 1 is moved
    (
        "RMSNorm(6)",
        (6, 6, 4),
        ["`RMSNorm([6])` on `x.movedim(1, -1)`, shape (6, 4, 6)", "`RMSNorm([4])`", "`RMSNorm([6, 4])`"],
    ),
    (
        "RMSNorm(6)",
        (2, 5, 6, 4),
        ["`RMSNorm([6])` on `x.movedim(2, -1)`, shape (2, 5, 4, 6)", "`RMSNorm([4])`", "`RMSNorm([5, 6, 4])`"],
    ),
    ("GroupNorm(2, 6)", (2, 4, 6), ["`GroupNorm(2, 6)` on `x.movedim(-1, 1)`, shape (2, 6, 4)", "`GroupNorm(2, 4)`"]),
    ("BatchNorm1d(6)", (2, 4, 6), ["`BatchNorm1d(6)` on `x.movedim(-1, 1)`, shape (2, 6, 4)", "`BatchNorm1d(4)`"]),
    ("BatchNorm1d(3)", (3, 4), ["`BatchNorm1d(4)`"]),  # two axes are a batch already
]


# the last remedy: a tensor of the layer's size, if any tensor helps
EXAMPLES = {
    "LayerNorm(96)": (2, 5, 96),
    "RMSNorm(96)": (2, 5, 96),
    "BatchNorm2d(96)": (2, 96, 3, 5),
    "BatchNorm2d(128)": (2, 128, 3, 5),
    "BatchNorm2d(3)": (2, 3, 4, 5),
    "BatchNorm1d(64)": (2, 64, 5),
    "BatchNorm1d(3)": (2, 3, 5),
    "GroupNorm(4, 4)": (2, 4, 3, 5),
    "LayerNorm(96, bias=False)": (2, 5, 96),
    "RMSNorm(6)": (2, 5, 6),
    "GroupNorm(2, 6)": (2, 6, 3, 5),
    "BatchNorm1d(6)": (2, 6, 5),
}
WITHOUT_AN_EXAMPLE = ("GroupNorm(32, 100)", "BatchNorm1d(3, eps=0)", "LayerNorm(4)")


def remedies_of(layer, shape, layout=None):
    return remedies(layer, shape, parse_layout(layout or layer.kind.layout(len(shape)), len(shape)))


@pytest.mark.parametrize(
    ("text", "shape", "labels"),
    [pytest.param(*r, id=f"{r[0]} on {r[1]}", marks=needs_refused_eps if "eps=0" in r[0] else ()) for r in REMEDIES],
)
def test_what_torch_accepts_instead_begins_with_what_was_probably_meant(text, shape, labels):
    found = [remedy.label for remedy in remedies_of(Layer.parse(text), shape)]
    assert found[: len(labels)] == labels
    assert found[len(labels) :] == (
        [] if text in WITHOUT_AN_EXAMPLE else [f"`{Layer.parse(text)}` on `torch.randn{EXAMPLES[text]}`"]
    )


@pytest.mark.parametrize(
    ("text", "shape", "layout", "moved"),
    [
        ("LayerNorm(96)", (8, 96, 56, 56), "NCHW", "NHWC"),
        ("RMSNorm(5)", (2, 5, 3), "NCL", "NLC"),
        ("BatchNorm2d(96)", (8, 56, 56, 96), "NHWC", "NCHW"),
        ("BatchNorm2d(96)", (8, 56, 56, 96), "NCHW", "NCHW"),  # the letters were those of the layer, not of x
        ("LayerNorm(5)", (2, 5, 3), "NLC", "NLC"),
    ],
)
def test_a_moved_x_has_its_axes_in_the_new_order(text, shape, layout, moved):
    assert moved in [remedy.layout for remedy in remedies_of(Layer.parse(text), shape, layout) if remedy.change]


@pytest.mark.parametrize(
    ("text", "shape", "layout"),
    [
        ("BatchNorm1d(64)", (8, 64, 4, 4), "NCHW"),
        ("LayerNorm(5)", (2, 5, 3), "NCL"),
        ("LayerNorm(5)", (2, 5, 3, 3), "NCHW"),
    ],
)
def test_another_layer_has_the_letters_of_its_own_default_layout(text, shape, layout):
    assert remedies_of(Layer.parse(text), shape)[0].layout == layout


@pytest.mark.parametrize(("text", "shape"), [refusal[:2] for refusal in REFUSALS])
def test_torch_accepts_every_remedy(text, shape):
    for remedy in remedies_of(Layer.parse(text), shape, "ABCDEFG"[: len(shape)]):
        assert remedy.layer.kind.module is None or torch_error(remedy.layer, remedy.shape) is None


@pytest.mark.parametrize(
    ("text", "shape"), [r[:2] for r in REMEDIES if r[0] not in ("BatchNorm1d(3, eps=0)", "LayerNorm(4)")]
)
def test_the_code_of_a_remedy_runs_on_the_readers_x_and_keeps_its_shape(text, shape):
    found = [remedy for remedy in remedies_of(Layer.parse(text), shape) if remedy.code]
    assert found
    for remedy in found:
        names = {"nn": nn, "x": torch.randn(shape)}
        exec(remedy.code, names)
        assert names["y"].shape == shape
    left_out = [remedy for remedy in remedies_of(Layer.parse(text), shape) if not remedy.code]
    assert all(one.layer.kind.module is None or one.change.startswith("torch.randn") for one in left_out)


@settings(max_examples=60)
@given(layers_that_may_not_fit(IN_TORCH))
def test_only_a_refused_layer_has_remedies(drawn):
    layer, shape = drawn
    found = remedies_of(layer, shape, "ABCDEFG"[: len(shape)])
    assert not found or torch_error(layer, shape) is not None
    in_torch = [remedy for remedy in found if remedy.layer.kind.module]
    assert all(torch_error(remedy.layer, remedy.shape) is None for remedy in in_torch)


@pytest.mark.parametrize(
    ("layer", "shape", "layout", "probably"),
    [
        ("LayerNorm(96)", (8, 56, 56, 96), "NCHW", True),
        ("RMSNorm(96)", (8, 56, 56, 96), "NCHW", True),
        ("LayerNorm(96)", (8, 56, 56, 96), "NHWC", False),
        ("LayerNorm(56)", (8, 96, 56, 56), "NCHW", False),
        ("LayerNorm([56, 96])", (8, 56, 56, 96), "NCHW", False),
        ("LayerNorm(4)", (2, 3, 4, 4), "NCHW", False),
        ("LayerNorm(768)", (32, 128, 768), "NLC", False),
    ],
)
def test_an_x_is_probably_nhwc_if_its_middle_axes_are_equal_and_only_the_last_is_normalized(
    layer, shape, layout, probably
):
    assert is_probably_channels_last(Layer.parse(layer), shape, parse_layout(layout, len(shape))) is probably


@pytest.mark.parametrize(("text", "shape"), [refusal[:2] for refusal in REFUSALS])
def test_the_layout_of_a_remedy_names_its_axes(text, shape):
    for remedy in remedies_of(Layer.parse(text), shape, "ABCDEFG"[: len(shape)]):
        assert len(parse_layout(remedy.layout, len(remedy.shape))) == len(remedy.shape)


def test_another_layer_keeps_the_letters_that_are_not_a_default_layout():
    assert remedies_of(Layer.parse("LayerNorm(5)"), (2, 5, 3, 3), "NABD")[0].layout == "NABD"


FOR_CHANNELS = [
    # a layer that normalizes over the last axis, which has the size of C; what normalizes over C
    (
        "LayerNorm(4)",
        (2, 4, 3, 4),
        "NCHW",
        ["`ChannelsFirstLayerNorm(4, eps=1e-05)`", "`LayerNorm([4])` on `x.movedim(1, -1)`, shape (2, 3, 4, 4)"],
    ),
    ("RMSNorm(4)", (2, 4, 3, 4), "NCHW", ["`RMSNorm([4])` on `x.movedim(1, -1)`, shape (2, 3, 4, 4)"]),
    ("LayerNorm(4)", (2, 4, 4, 4), "NHCW", ["`LayerNorm([4])` on `x.movedim(2, -1)`, shape (2, 4, 4, 4)"]),
    ("LayerNorm(4)", (2, 3, 4, 4), "NHWC", []),
    ("LayerNorm(4)", (2, 3, 3, 4), "NCHW", []),
    ("LayerNorm([3, 4])", (2, 4, 3, 4), "NCHW", []),
    ("LayerNorm(4)", (2, 4, 4), "NLD", []),
    ("BatchNorm2d(4)", (2, 4, 3, 4), "NCHW", []),
]


@pytest.mark.parametrize(("text", "shape", "layout", "labels"), FOR_CHANNELS)
def test_a_last_axis_with_the_size_of_c_was_perhaps_meant_to_be_c(text, shape, layout, labels):
    found = meant_for_channels(Layer.parse(text), shape, parse_layout(layout, len(shape)))
    assert [remedy.label for remedy in found] == labels
