"""``nv.explain`` of modules that torch.nn does not have: they are measured."""

import pytest
import torch
from torch import nn

import normviz as nv
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
    with pytest.raises(nv.NormvizError, match=r"list all with nv\.norms\(model, x\)|is not a normalization layer"):
        nv.explain(model, (2, 8))


@pytest.mark.parametrize("module", [Scale(8), Softmax(), nn.GELU(), nn.Linear(8, 8)])
def test_another_module_is_no_normalization(module):
    with pytest.raises(nv.NormvizError, match=r"is not a normalization layer of torch\.nn"):
        nv.explain(module, (2, 8))


def test_images_with_the_channels_last_are_named():
    with pytest.warns(nv.NormvizWarning, match="are probably N, H, W and C; then give layout NHWC"):
        nv.explain(nn.LayerNorm(96), (8, 56, 56, 96))
    assert nv.explain(nn.LayerNorm(96), (8, 56, 56, 96), layout="NHWC").norm.stats == "n h w c -> n h w"
