"""A layer has two patterns and some properties, and agrees with its text and its torch module."""

import re
import warnings
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from torch import nn

from normviz.layers.axes import parse_layout
from normviz.layers.catalogue import KINDS
from normviz.layers.layer import Layer
from normviz.texts.errors import NormvizError
from tests.support.cases import case
from tests.support.needs import HAS_BIAS, cases_in_torch, needs_rms_norm
from tests.support.strategies import IN_TORCH, layers_that_fit, norms

NCHW, NLC, ND = ("n", "c", "h", "w"), ("n", "l", "c"), ("n", "d")
PATTERNS = [
    # layer, axes of x, statistics pattern, axes of gamma
    ("LayerNorm([3, 4, 5])", NCHW, "n c h w -> n", "c h w"),
    ("LayerNorm([4, 5])", NCHW, "n c h w -> n c", "h w"),
    ("LayerNorm(5)", NCHW, "n c h w -> n c h", "w"),
    ("LayerNorm([2, 3, 4, 5])", NCHW, "n c h w ->", "n c h w"),
    ("RMSNorm(5)", NCHW, "n c h w -> n c h", "w"),
    ("BatchNorm1d(3)", ND, "n d -> d", "d"),
    ("BatchNorm1d(3)", NLC, "n l c -> l", "l"),
    ("BatchNorm2d(3)", NCHW, "n c h w -> c", "c"),
    ("BatchNorm2d(3).eval()", NCHW, "n c h w -> c", "c"),
    ("InstanceNorm2d(3)", NCHW, "n c h w -> n c", None),
    ("InstanceNorm2d(3, affine=True)", NCHW, "n c h w -> n c", "c"),
    ("InstanceNorm2d(3, affine=True)", ("c", "h", "w"), "c h w -> c", "c"),
    ("InstanceNorm2d(3, track_running_stats=True)", NCHW, "n c h w -> n c", None),
    ("InstanceNorm2d(3, track_running_stats=True).eval()", NCHW, "n c h w -> c", None),
    ("InstanceNorm2d(3).eval()", NCHW, "n c h w -> n c", None),
    ("GroupNorm(3, 6)", NCHW, "n (g k) h w -> n g", "c"),
    ("GroupNorm(3, 6)", ("g", "k", "h"), "g (g0 k0) h -> g g0", "k"),
    ("GroupNorm(3, 6, affine=False)", ("n", "c"), "n (g k) -> n g", None),
    ("ChannelsFirstLayerNorm(3)", NCHW, "n c h w -> n h w", "c"),
    ("DimNorm(3, dim=0)", ND, "n d -> d", "d"),
    ("DimNorm(3)", NLC, "n l c -> n l", "c"),
    ("DimNorm(3, dim=1)", NLC, "n l c -> n c", "c"),
]


@pytest.mark.parametrize(("text", "axes", "stats", "params"), PATTERNS)
def test_a_layer_has_two_patterns(text, axes, stats, params):
    norm = Layer.parse(text).norm(axes)
    assert (norm.stats, norm.params) == (stats, params)


FACTS = [
    # the layer, center, bias, eps, running, elements of its buffers
    ("LayerNorm(3)", True, True, 1e-5, False, 0),
    ("LayerNorm(3, bias=False)", True, False, 1e-5, False, 0),
    ("LayerNorm(3, elementwise_affine=False)", True, False, 1e-5, False, 0),
    ("RMSNorm(3)", False, False, None, False, 0),
    ("RMSNorm(3, eps=1e-6)", False, False, 1e-6, False, 0),
    ("BatchNorm1d(3)", True, True, 1e-5, False, 7),
    ("BatchNorm1d(3).eval()", True, True, 1e-5, True, 7),
    ("BatchNorm1d(3, bias=False).eval()", True, False, 1e-5, True, 7),
    ("BatchNorm1d(3, track_running_stats=False).eval()", True, True, 1e-5, False, 0),
    ("SyncBatchNorm(3).eval()", True, True, 1e-5, True, 7),
    ("InstanceNorm1d(3)", True, False, 1e-5, False, 0),
    ("InstanceNorm1d(3, affine=True, track_running_stats=True).eval()", True, True, 1e-5, True, 7),
    ("GroupNorm(3, 3, eps=0, bias=False)", True, False, 0.0, False, 0),
    ("ChannelsFirstLayerNorm(3)", True, True, 1e-6, False, 0),
    ("DimNorm(3)", True, True, 1e-12, False, 0),
]


@pytest.mark.parametrize(("text", "center", "bias", "eps", "running", "buffers"), FACTS)
def test_a_layer_has_the_properties_of_its_arguments(text, center, bias, eps, running, buffers):
    layer = Layer.parse(text)
    norm = layer.norm(("n", "c", "l") if "Instance" in text else ("n", "c"))
    assert (norm.center, norm.bias, norm.eps, norm.running) == (center, bias, eps, running)
    assert layer.buffers() == buffers


WRITTEN = [
    ("LayerNorm([3, 4, 4])", "LayerNorm([3, 4, 4])"),
    ("LayerNorm(4)", "LayerNorm([4])"),
    ("LayerNorm((3, 4))", "LayerNorm([3, 4])"),
    (" nn.LayerNorm(normalized_shape=[4], eps=1e-5) ", "LayerNorm([4])"),
    ("torch.nn.GroupNorm(2, 4, 1e-3)", "GroupNorm(2, 4, eps=0.001)"),
    ("nn.LayerNorm([3, 4, 4], eps=1e-6, bias=False)", "LayerNorm([3, 4, 4], eps=1e-06, bias=False)"),
    ("GroupNorm(num_channels=4, num_groups=2)", "GroupNorm(2, 4)"),
    ("BatchNorm2d(3, 1e-3, None, False, False)", "BatchNorm2d(3, eps=0.001, momentum=None, affine=False, track_running_stats=False)"),
    ("BatchNorm2d(3, momentum=1)", "BatchNorm2d(3, momentum=1.0)"),
    ("BatchNorm2d(3).eval()", "BatchNorm2d(3).eval()"),
    ("BatchNorm2d(3).train()", "BatchNorm2d(3)"),
    ("nv.DimNorm(3, 0)", "DimNorm(3, dim=0)"),
    ("normviz.ChannelsFirstLayerNorm(3)", "ChannelsFirstLayerNorm(3)"),
    ("RMSNorm(4, None)", "RMSNorm([4])"),
    ("LayerNorm(4, eps=-0.0)", "LayerNorm([4], eps=0.0)"),
    ("BatchNorm1d(4, momentum=-0.0)", "BatchNorm1d(4, momentum=0.0)"),
    ("LayerNorm(\n  4,\n)", "LayerNorm([4])"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "written"), WRITTEN)
def test_text_is_parsed_and_written_without_defaults(text, written):
    assert str(Layer.parse(text)) == written
    assert Layer.parse(written) == Layer.parse(text)


@given(layers_that_fit())
def test_the_text_of_a_layer_parses_to_the_layer(drawn):
    layer, _ = drawn
    assert Layer.parse(str(layer)) == layer


@given(norms())
def test_the_text_of_a_norm_parses_to_the_norm(drawn):
    norm, _ = drawn
    assert Layer.parse(repr(norm)) == norm


@given(layers_that_fit(IN_TORCH))
def test_a_layer_is_read_from_its_torch_module(drawn):
    layer, _ = drawn
    if not layer.affine:
        layer = layer.with_(**({"bias": True} if "bias" in layer.given else {}))  # without gamma, bias has no effect
    assert Layer.of(layer.module()) == layer


@given(layers_that_fit(IN_TORCH))
def test_the_torch_module_has_the_arguments(drawn):
    layer, _ = drawn
    module = layer.module()
    for argument in layer.kind.arguments:
        if argument.in_torch and argument.name != "bias":
            assert getattr(module, argument.name) == layer.given[argument.name]
    assert module.training == layer.training


def test_default_arguments_are_those_of_torch():
    for kind in (kind for kind in KINDS.values() if kind.module):
        required = [2 for _argument in kind.sizes]
        module = kind.module(*required)
        assert Layer.of(module) == Layer.make(kind.name, *required), kind.name


OF = [
    (nn.LayerNorm(torch.Size([3, 4])), "LayerNorm([3, 4])"),
    (nn.BatchNorm2d(np.int64(3)), "BatchNorm2d(3)"),
    (nn.LayerNorm(4, eps=np.float32(0.5)), "LayerNorm([4], eps=0.5)"),
    *([(nn.GroupNorm(2, 4, bias=False).eval(), "GroupNorm(2, 4, bias=False).eval()")] if HAS_BIAS else []),
    (nn.SyncBatchNorm(3), "SyncBatchNorm(3)"),
    *(
        [(nn.InstanceNorm1d(3, affine=True, bias=False), "InstanceNorm1d(3, affine=True, bias=False)")]
        if HAS_BIAS
        else []
    ),
    *([(nn.InstanceNorm1d(3, bias=False), "InstanceNorm1d(3)")] if HAS_BIAS else []),
]


@pytest.mark.parametrize(("module", "text"), OF)
def test_a_module_is_written_as_a_call(module, text):
    assert str(Layer.of(module)) == text


def test_running_statistics_are_those_of_torchs_forward_whatever_the_flag():
    module = nn.BatchNorm2d(3).eval()
    module.track_running_stats = False
    assert Layer.of(module).running
    module.running_mean = module.running_var = None
    assert not Layer.of(module).running


class Overriding(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.movedim(1, -1)).movedim(-1, 1)


class Renamed(nn.LayerNorm):
    """A subclass that overrides nothing."""


def test_a_subclass_that_overrides_forward_raises_an_error():
    assert str(Layer.of(Renamed(3))) == "LayerNorm([3])"
    with pytest.raises(
        NormvizError,
        match=re.escape(
            "Overriding overrides the forward of LayerNorm. If it normalizes over the channels of (N, C, H, W), as in "
            "ConvNeXt, give 'ChannelsFirstLayerNorm(3, eps=1e-05)' instead; otherwise describe it with a Norm, as in "
            "Norm('n c h w -> n h w', 'c')."
        ),
    ):
        Layer.of(Overriding(3))


def test_a_module_with_a_beta_and_no_gamma_raises_an_error():
    module = nn.LayerNorm(3)
    module.weight = None
    message = "this LayerNorm has a beta and no gamma; give it a weight of ones, or describe it with a Norm."
    with pytest.raises(NormvizError, match=re.escape(message)):
        Layer.of(module)


LAYERS_OF_TORCH = (
    "LayerNorm, RMSNorm, BatchNorm1d, BatchNorm2d, BatchNorm3d, SyncBatchNorm, InstanceNorm1d, InstanceNorm2d, "
    "InstanceNorm3d or GroupNorm"
)


@needs_rms_norm
@pytest.mark.parametrize("module", [nn.Linear(2, 3), nn.LocalResponseNorm(2), nn.Sequential(nn.ReLU())])
def test_another_module_raises_an_error(module):
    name = type(module).__name__
    message = f"{name}: what is described here is {LAYERS_OF_TORCH}, or a Norm. Use nv.check(module, x) to measure what"
    with pytest.raises(NormvizError, match=re.escape(message)):
        Layer.of(module)


def test_a_model_raises_an_error_that_names_its_normalization_layers():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Sequential(nn.BatchNorm2d(8), nn.ReLU()), nn.GroupNorm(2, 8))
    message = (
        "Sequential is a model, not one layer. It contains '1.0' (BatchNorm2d) and '2' (GroupNorm); give one of them, as in "
        "model.get_submodule('1.0'), or list all with nv.norms(model, x)."
    )
    with pytest.raises(NormvizError, match=re.escape(message)):
        Layer.of(model)
    many = nn.Sequential(*(nn.LayerNorm(3) for _ in range(5)))
    with pytest.raises(NormvizError, match=re.escape("'1' (LayerNorm), '2' (LayerNorm) and 2 more; give one of them")):
        Layer.of(many)


@pytest.mark.parametrize(
    ("name", "meant"), [("batchnorm2d", "BatchNorm2d"), ("Layernorm", "LayerNorm"), ("norm", "Norm")]
)
def test_a_misspelled_name_is_answered_with_the_name_that_was_meant(name, meant):
    message = f"'{name}' is not a layer of the catalogue. Did you mean {meant}?"
    with pytest.raises(NormvizError, match=re.escape(message)):
        Layer.parse(f"nn.{name}(3)")


def test_a_lazy_module_raises_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch: "Lazy modules are a new feature"
        module = nn.LazyBatchNorm2d()
    with pytest.raises(NormvizError, match="LazyBatchNorm2d: what is described here is"):
        Layer.of(module)


def test_a_layer_that_torch_does_not_have_has_no_module():
    with pytest.raises(NormvizError, match=re.escape("torch.nn has no DimNorm; use its 'torch-scratch' code.")):
        Layer.parse("DimNorm(3)").module()


def test_with_returns_a_changed_copy():
    layer = Layer.parse("BatchNorm2d(3)")
    assert str(layer.with_(training=False, momentum=None)) == "BatchNorm2d(3, momentum=None).eval()"
    assert str(layer) == "BatchNorm2d(3)"
    with pytest.raises(NormvizError, match="has no argument 'dim'"):
        layer.with_(dim=3)


def test_the_default_layout_names_each_axis_once():
    for name, rank in product(KINDS, (1, 2, 3, 4, 5, 6, 9)):
        if KINDS[name].takes_rank(rank):
            with case(name, rank):
                assert len(parse_layout(KINDS[name].layout(rank), rank)) == rank


LAYOUTS = [
    ("LayerNorm", ["D", "ND", "NLC", "NCHW", "NCDHW", "ND1D2D3D4D5"]),
    ("BatchNorm1d", [None, "ND", "NCL"]),
    ("SyncBatchNorm", [None, "ND", "NCL", "NCHW", "NCDHW", "NCD1D2D3D4"]),
    ("GroupNorm", [None, "ND", "NCL", "NCHW", "NCDHW", "NCD1D2D3D4"]),
    ("InstanceNorm1d", [None, "CL", "NCL"]),
    ("InstanceNorm2d", [None, None, "CHW", "NCHW"]),
    ("InstanceNorm3d", [None, None, None, "CDHW", "NCDHW"]),
    ("DimNorm", ["D", "ND", "NLC", "NHWC", "NDHWC"]),
]


@pytest.mark.parametrize(("name", "layouts"), LAYOUTS)
def test_the_default_layout_for_each_rank(name, layouts):
    for rank, layout in enumerate(layouts, start=1):
        assert KINDS[name].takes_rank(rank) == (layout is not None)
        if layout:
            assert KINDS[name].layout(rank) == layout


def test_a_dim_outside_the_rank_raises_an_error():
    with pytest.raises(NormvizError, match="dim=2 is not an axis of a tensor of rank 2; give one from -2 to 1"):
        Layer.parse("DimNorm(3, dim=2)").norm(ND)


@pytest.mark.parametrize("word", ["training", "name", "cls", "self", "positional", "named"])
def test_a_parameter_of_our_functions_is_not_an_argument_of_the_layer(word):
    with pytest.raises(NormvizError, match=f"LayerNorm has no argument '{word}'; it takes normalized_shape, eps,"):
        Layer.parse(f"LayerNorm(4, {word}=1)")


def test_the_largest_arguments():
    sizes = str([1] * 64)
    for text in (f"BatchNorm2d({2**40})", f"LayerNorm({sizes})", "DimNorm(3, dim=64)", "DimNorm(3, dim=-64)"):
        assert str(Layer.parse(text)) == text
    assert str(Layer.parse("LayerNorm(3)".ljust(500))) == "LayerNorm([3])"
    with pytest.raises(NormvizError, match="is not a layer"):
        Layer.parse("LayerNorm(3)".ljust(501))


def test_a_model_with_three_layers_names_them_all():
    with pytest.raises(NormvizError, match=re.escape("'0' (LayerNorm), '1' (LayerNorm) and '2' (LayerNorm); give one")):
        Layer.of(nn.Sequential(*(nn.LayerNorm(3) for _ in range(3))))


class OwnBatchNorm(nn.BatchNorm2d):
    def forward(self, x):
        return super().forward(x + 1)


class OwnGroupNorm(nn.GroupNorm):
    def forward(self, x):
        return super().forward(x + 1)


@pytest.mark.parametrize(
    ("module", "layer"),
    [(OwnBatchNorm(3), "BatchNorm2d"), (OwnGroupNorm(1, 3), "GroupNorm"), (Overriding([3, 4]), "LayerNorm")],
)
def test_another_forward_of_its_own_raises_an_error(module, layer):
    message = (
        f"{type(module).__name__} overrides the forward of {layer}, so it may use other statistics; describe it with a Norm, "
        "as in Norm('n c h w -> n h w', 'c')."
    )
    with pytest.raises(NormvizError, match=re.escape(message)):
        Layer.of(module)


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (nn.BatchNorm1d(3), "BatchNorm1d(3, affine=False)"),
        (nn.LayerNorm(3), "LayerNorm([3], elementwise_affine=False)"),
    ],
)
def test_a_module_that_lost_its_gamma_and_beta_is_not_affine(module, text):
    module.weight = module.bias = None
    assert str(Layer.of(module)) == text


@pytest.mark.parametrize("name", KINDS)
def test_only_rms_norm_takes_no_eps(name):
    assert KINDS[name].eps_may_be_none == (name == "RMSNorm")


SOURCES = {
    "LayerNorm": "Ba, Kiros & Hinton 2016",
    "RMSNorm": "Zhang & Sennrich 2019",
    "BatchNorm2d": "Ioffe & Szegedy 2015",
    "InstanceNorm2d": "Ulyanov et al. 2016",
    "GroupNorm": "Wu & He 2018",
    "ChannelsFirstLayerNorm": "ConvNeXt (Liu et al. 2022)",
    "DimNorm": "",
}


@cases_in_torch
@pytest.mark.parametrize("name", SOURCES)
def test_a_layer_names_the_paper_that_introduced_it(name):
    assert KINDS[name].source == SOURCES[name]
