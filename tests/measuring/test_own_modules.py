"""``nv.explain`` of modules that torch.nn does not have: they are measured."""

import pytest
import torch
from torch import nn

import normviz as nv
from normviz.measuring.own_modules import describe_any, own_class, with_statistics
from tests.measuring.models.zoo import Decoder, Frozen, Gemma, Llama, OverChannels, Permuted, Pixel, Scale, Softmax

SHAPE = (2, 4, 3, 5)


def trained(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.rand(parameter.shape, generator=torch.Generator().manual_seed(1)) + 0.5)
    return module


CASES = [
    (Llama(5), SHAPE, "n c h w -> n c h", "w"),
    (Gemma(5), (3, 5), "n d -> n", "d"),
    (Permuted(4), SHAPE, "n c h w -> n h w", "c"),
    (OverChannels(4), SHAPE, "n c h w -> n h w", "c"),
    (Pixel(), SHAPE, "n c h w -> n h w", None),
]


@pytest.mark.parametrize(("module", "shape", "stats", "params"), CASES, ids=lambda case: type(case).__name__)
def test_the_trace_gives_the_output_of_the_module(module, shape, stats, params):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(2)) + 1
    e = nv.explain(trained(module), x)
    assert (e.norm.stats, e.norm.params) == (stats, params)
    assert torch.allclose(e.trace.output.float(), module(x), atol=1e-5)
    assert nv.explain(module, shape).norm == e.norm


def test_a_module_with_stored_statistics_is_batch_norm_in_eval_mode():
    module, x = Frozen(4), torch.randn(SHAPE, generator=torch.Generator().manual_seed(2))
    for number, buffer in enumerate(module.buffers()):
        buffer.copy_(torch.rand(4, generator=torch.Generator().manual_seed(number)) + 0.5)
    e = nv.explain(module, x)
    assert str(e.layer) == "BatchNorm2d(4).eval()"
    assert torch.allclose(e.trace.output, module(x), atol=1e-5)
    assert torch.allclose(e.values.gamma, module.weight, atol=1e-4)
    assert torch.allclose(e.values.beta, module.bias, atol=1e-4)
    assert torch.equal(e.values.running_mean, module.running_mean)
    assert str(nv.explain(module, SHAPE).layer) == "BatchNorm2d(4).eval()"


@pytest.mark.parametrize("model", [nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8)), Decoder()])
def test_a_model_is_listed_with_norms(model):
    with pytest.raises(nv.NormvizError, match=r"nv\.norms\(model, x\)"):
        nv.explain(model, (2, 8))


@pytest.mark.parametrize(
    ("module", "shape", "measured"),
    [
        (Scale(8), (2, 8), ""),
        (Softmax(), (2, 8), ""),
        (nn.GELU(), (2, 8), "Your function averages over no axis."),
        (nn.Linear(8, 8), (2, 8), "Your function works over D."),
        (
            nn.LocalResponseNorm(2),
            SHAPE,
            "In your function, the elements do not form groups that share their statistics.",
        ),
    ],
)
def test_of_another_module_it_is_said_what_was_measured(module, shape, measured):
    name = type(module).__name__
    with pytest.raises(nv.NormvizError) as caught:
        nv.explain(module, shape)
    assert str(caught.value).startswith(f"{name} was measured. {measured}")
    assert str(caught.value).endswith("Use nv.check(module, x) to see more.")


def test_images_with_the_channels_last_are_named():
    with pytest.warns(nv.NormvizWarning, match="are probably N, H, W and C; then give layout NHWC"):
        nv.explain(nn.LayerNorm(96), (8, 56, 56, 96))
    assert nv.explain(nn.LayerNorm(96), (8, 56, 56, 96), layout="NHWC").norm.stats == "n h w c -> n h w"


def test_a_lazy_module_has_no_shapes():
    with pytest.raises(
        nv.NormvizError,
        match=r"^0\.weight of the model has no shape yet, because it is lazy; call the model once first\.$",
    ):
        nv.explain(nn.Sequential(nn.LazyBatchNorm1d()), (2, 3))


def test_the_class_of_a_module_of_ones_own():
    assert [own_class(one) for one in (Llama(5), nn.LayerNorm(5), "LayerNorm(5)", nv.Norm("n d -> n"), nn.GELU())] == [
        "Llama", "", "", "", "GELU",
    ]  # fmt: skip


def test_the_axes_of_a_measured_module_have_the_names_of_the_layout():
    e = nv.explain(Permuted(4), (2, 4, 3, 3), layout="NDHW")
    assert (e.norm.stats, e.norm.params) == ("n d h w -> n h w", "d")


def test_a_module_of_ones_own_with_parts_is_not_measured():
    module = Llama(5)
    module.part = nn.Identity()
    with pytest.raises(nv.NormvizError, match=r"Use nv\.check\(module, x\)"):
        nv.explain(module, (2, 5))


@pytest.mark.parametrize(("eps", "shape"), [(0.0, SHAPE), (1e-5, SHAPE), (0.5, (2, 4, 3, 3))])
def test_stored_statistics_with_another_eps(eps, shape):
    module, x = Frozen(4), torch.randn(shape, generator=torch.Generator().manual_seed(2))
    module.eps = eps
    for number, buffer in enumerate(module.buffers()):
        buffer.copy_(torch.rand(4, generator=torch.Generator().manual_seed(number)) + 0.5)
    e = nv.explain(module, x)
    assert e.norm.eps == eps
    assert e.values.gamma.dtype == torch.float32
    assert torch.allclose(e.values.gamma, module.weight, atol=1e-4)
    assert torch.allclose(e.trace.output, module(x), atol=1e-5)


def test_stored_statistics_need_their_names():
    module = Frozen(4)
    module.moving_mean = module.running_mean
    del module._buffers["running_mean"]
    module.forward = lambda x: (
        (x - module.moving_mean[:, None, None]) / (module.running_var[:, None, None] + 1e-5).sqrt()
    )
    with pytest.raises(nv.NormvizError, match=r"nv\.check\(module, x\)"):
        nv.explain(module, SHAPE)


class InHalf(nn.Module):
    """Its only tensor is a buffer, behind a number."""

    def __init__(self, dtype):
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("gamma", torch.full((5,), 2.0, dtype=dtype))

    def forward(self, x):
        return torch.nn.functional.layer_norm(x, (5,)).to(self.gamma.dtype) * self.gamma


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_the_values_have_the_dtype_of_the_module(dtype):
    e = nv.explain(InHalf(dtype), (2, 5))
    assert (e.values.gamma.dtype, e.values.gamma.tolist(), e.values.beta) == (dtype, pytest.approx([2] * 5), None)
    assert nv.explain(InHalf(dtype), torch.rand(2, 5)).values.gamma.dtype == torch.float32


def test_stored_statistics_that_no_layer_of_torch_has_are_no_layer():
    module = Frozen(4)
    module.running_mean, module.running_var = torch.zeros(4, 3, 5), 1 + torch.arange(60.0).reshape(4, 3, 5)
    module.forward = lambda x: (x - module.running_mean) / (module.running_var + 1e-5).sqrt()
    with pytest.raises(nv.NormvizError, match=r"nv\.check\(module, x\)"):
        nv.explain(module, SHAPE)


@pytest.mark.parametrize(
    ("module", "shape", "stats"),
    [
        (Llama(5), (1, 5), "n d -> n"),
        (OverChannels(4), (1, 4, 1, 3), "n c h w -> n h w"),
        (Frozen(4), (1, 4, 3, 3), "n c h w -> c"),
    ],
    ids=str,
)
def test_a_batch_of_one_is_explained(module, shape, stats):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(2))
    e = nv.explain(trained(module), x)
    assert (e.norm.stats, e.shape) == (stats, shape)
    assert torch.allclose(e.trace.output.float(), module(x), atol=1e-5)


def test_a_gamma_along_an_axis_of_size_1_is_not_explained():
    module = nn.Module()
    module.weight = nn.Parameter(torch.ones(()))
    module.forward = lambda x: (
        nn.functional.layer_norm(x, x.shape[1:]) * (module.weight + torch.arange(len(x))[:, None])
    )
    with pytest.raises(nv.NormvizError, match=r"nv\.check\(module, x\)"):
        nv.explain(module, (1, 5))


class Stored(nn.Module):
    """BatchNorm with names of its own, and with nothing else that torch's has."""

    def __init__(self, channels):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.rand(channels) + 0.5), nn.Parameter(torch.rand(channels))
        self.register_buffer("kept", torch.stack([torch.rand(channels), torch.rand(channels) + 0.5]))

    def forward(self, x):
        mean, var = (x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)) if self.training else self.kept
        return torch.nn.functional.batch_norm(x, mean, var, self.scale, self.shift)


def test_stored_statistics_are_found_by_what_they_do():
    module, x = Stored(4), torch.randn(SHAPE, generator=torch.Generator().manual_seed(2))
    before = {name: value.clone() for name, value in module.state_dict().items()}
    e = with_statistics(module, x)
    assert (str(e.layer), module.training) == ("BatchNorm2d(4).eval()", True)
    assert torch.allclose(e.values.running_mean, module.kept[0], atol=1e-4)
    assert torch.allclose(e.values.running_var, module.kept[1], atol=1e-4)
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert torch.allclose(e.trace.output.float(), module.eval()(x), atol=1e-5)


@pytest.mark.parametrize("module", [Frozen(4), Permuted(4), nn.GELU()])
def test_a_module_that_stores_nothing_in_train_mode_has_no_statistics(module):
    assert with_statistics(module, SHAPE) is None


class StoredLast(Stored):
    """Its channels are the last axis."""

    def __init__(self, channels):
        super().__init__(channels)
        for name, value in zip(("running_mean", "running_var"), self.kept, strict=True):
            self.register_buffer(name, value.clone())

    def forward(self, x):
        axes = (0, 1, 2)
        stored = self.running_mean, self.running_var
        mean, var = (x.mean(axes), x.var(axes, unbiased=False)) if self.training else stored
        return (x - mean) / (var + 1e-5).sqrt() * self.scale + self.shift


@pytest.mark.parametrize("describe", [with_statistics, describe_any])
def test_the_channels_of_stored_statistics_may_be_the_last_axis(describe):
    x = torch.randn(2, 3, 5, 4, generator=torch.Generator().manual_seed(2))
    module = StoredLast(4).eval()
    e = describe(module, x, "NHWC")
    assert str(e.layer) == "ChannelsLastBatchNorm(4).eval()"
    for name, wanted in {"gamma": module.scale, "beta": module.shift, "running_mean": module.running_mean}.items():
        assert torch.allclose(getattr(e.values, name), wanted, atol=1e-4), name
