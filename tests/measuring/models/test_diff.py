"""``a.diff(b)`` says what differs between a model and its port."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from tests.measuring.models.zoo import Decoder, Gemma, Llama, OverChannels, images, tokens
from tests.support.needs import HAS_RMS_NORM, cases_in_torch

X = torch.zeros(2, 3, 4, 4)


def rows(*layers):
    return nv.norms(nn.Sequential(*layers), torch.zeros(2, 8, 4, 4))


CASES = [
    ([nn.BatchNorm2d(8)], [nn.BatchNorm2d(8)], ()),
    ([nn.BatchNorm2d(8)], [nn.BatchNorm2d(8, eps=1e-3)], ("0: eps differs: 1e-05 and 0.001.",)),
    ([nn.BatchNorm2d(8)], [nn.BatchNorm2d(8, momentum=0.01)], ("0: momentum differs: 0.1 and 0.01.",)),
    ([nn.GroupNorm(2, 8)], [nn.GroupNorm(4, 8)], ("0: the numbers of groups along an axis differ: 2 and 4.",)),
    ([nn.GroupNorm(1, 8)], [nn.GroupNorm(8, 8)], ("0: the averaged axes differ: (1, 2, 3) and (2, 3).",)),
    ([nn.GroupNorm(8, 8)], [nn.InstanceNorm2d(8, affine=True)], ()),
    ([nn.GroupNorm(1, 8, affine=False)], [nn.LayerNorm([8, 4, 4], elementwise_affine=False)], ()),
    (
        [nn.BatchNorm2d(8)],
        [nn.BatchNorm2d(8, track_running_stats=False)],
        ("0: only the first keeps running statistics, so the two differ in eval mode.",),
    ),
    ([nn.BatchNorm2d(8).eval()], [nn.BatchNorm2d(8)], ("0: only the first uses stored statistics.",)),
    ([nn.LayerNorm(4)], [nn.LayerNorm(4, bias=False)], ("0: only the first has a beta.",)),
    *(
        [([nn.RMSNorm(4, eps=1e-5)], [nn.LayerNorm(4, bias=False)], ("0: only the second subtracts the mean.",))]
        if HAS_RMS_NORM
        else []
    ),
    ([nn.BatchNorm2d(8)], [], ("0 (BatchNorm2d(8)) is missing in the second model.",)),
    ([], [nn.BatchNorm2d(8)], ("0 (BatchNorm2d(8)) is only in the second model.",)),
]


@pytest.mark.parametrize(("one", "other", "sentences"), CASES)
def test_one_sentence_for_each_difference(one, other, sentences):
    assert rows(*one).diff(rows(*other)) == sentences


@pytest.mark.parametrize(("one", "other", "sentences"), [case for case in CASES if case[0] and case[1]])
def test_layers_differ_where_their_outputs_do(one, other, sentences):
    x = torch.randn(2, 8, 4, 4)
    outputs = [nn.Sequential(*layers)(x) for layers in (one, other)]
    unseen = ("momentum", "eval mode", "beta")  # in an output in train mode with beta 0
    seen = [one for one in sentences if not any(word in one for word in unseen)]
    assert torch.allclose(*outputs, atol=1e-6) == (not seen)


def test_one_plus_gamma_differs_from_gamma():
    found = nv.norms(Decoder(Llama), tokens()).diff(nv.norms(Decoder(Gemma), tokens()))
    assert found[0] == "input_norm: the factors differ: gamma and 1 + gamma."
    assert len(found) == 4


def test_a_norm_per_head_differs_from_one_over_the_whole_projection():
    found = nv.norms(Decoder(), tokens()).diff(nv.norms(Decoder(per_head=False), tokens()))
    assert "attention.q_norm: the averaged axes differ: (3,) and (2,)." in found
    assert "attention.k_norm: the shapes of gamma differ: (3,) and (6,)." in found
    assert not any("the patterns of gamma" in sentence for sentence in found)
    assert not any(sentence.startswith(("input_norm", "norm")) for sentence in found)


def test_other_axes_differ():
    found = nv.norms(images(OverChannels(8)), X).diff(nv.norms(images(nn.GroupNorm(1, 8, eps=1e-6)), X))
    assert found == ("1: the averaged axes differ: (1,) and (1, 2, 3).",)


class Own(nn.Module):
    """A function as a module."""

    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x):
        return self.fn(x)


def centered(x, scale):
    return (x - x.mean(-1, keepdim=True)) / scale


DEPARTURES = {
    "outside the root": (lambda x: centered(x, x.std(-1, correction=0, keepdim=True) + 1e-6), "LayerNorm([4], eps=1e-06, elementwise_affine=False)"),
    "m - 1": (lambda x: centered(x, (x.var(-1, keepdim=True) + 1e-5).sqrt()), "LayerNorm([4], elementwise_affine=False)"),
    "the maximum of the denominator and eps": (lambda x: F.normalize(x, dim=-1), "RMSNorm([4], eps=1e-12, elementwise_affine=False)"),
    "does not divide the sum of squares": (lambda x: F.normalize(x, dim=-1), "RMSNorm([4], eps=1e-12, elementwise_affine=False)"),
    "its output is not that of the formula": (lambda x: F.layer_norm(x, (4,)).clamp(-1.6, 1.6), "LayerNorm([4], elementwise_affine=False)"),
}  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("words", "fn", "layer"), [(words, *made) for words, made in DEPARTURES.items()])
def test_what_a_module_does_otherwise_than_its_layer_is_listed_and_differs(words, fn, layer):
    found, usual = rows(Own(fn)), rows(nn.LayerNorm(4, elementwise_affine=False))
    assert found[0].layer == layer
    assert any(words in one for one in found[0].departures)
    assert any(words in one for one in found.remarks)
    assert any(
        one.startswith("0, first model: It") or one.startswith("0, first model: For") for one in found.diff(usual)
    )
    assert any(one.startswith("0, second model: ") and words in one for one in usual.diff(found))
    assert found.diff(rows(Own(fn))) == ()
