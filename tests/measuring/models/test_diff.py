"""``a.diff(b)`` says what differs between a model and its port."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from tests.measuring.models.port_modules import OwnBatchNorm, OwnGroupNorm
from tests.measuring.models.zoo import Decoder, Gemma, Llama, OverChannels, images, tokens
from tests.support.needs import HAS_RMS_NORM, cases_in_torch

X = torch.zeros(2, 3, 4, 4)


def rows(*layers):
    return nv.norms(nn.Sequential(*layers), torch.zeros(2, 8, 4, 4))


CASES = [
    ([nn.BatchNorm2d(8)], [nn.BatchNorm2d(8)], ()),
    ([nn.BatchNorm2d(8)], [nn.BatchNorm2d(8, eps=1e-3)], ("0, second model: Its eps is 0.001, not 1e-05.",)),
    ([nn.BatchNorm2d(8)], [nn.BatchNorm2d(8, momentum=0.01)], ("0, second model: Its momentum is 0.01, not 0.1.",)),
    (
        [nn.GroupNorm(2, 8)],
        [nn.GroupNorm(4, 8)],
        (
            "0, second model: It averages over H, W and groups of 2 neighbors along C; GroupNorm(2, 8) averages over H, W and groups of 4 neighbors along C.",
        ),
    ),
    (
        [nn.GroupNorm(1, 8)],
        [nn.GroupNorm(8, 8)],
        ("0, second model: It averages over H and W; GroupNorm(1, 8) averages over C, H and W.",),
    ),
    ([nn.GroupNorm(8, 8)], [nn.InstanceNorm2d(8, affine=True)], ()),
    ([nn.GroupNorm(1, 8, affine=False)], [nn.LayerNorm([8, 4, 4], elementwise_affine=False)], ()),
    (
        [nn.BatchNorm2d(8)],
        [nn.BatchNorm2d(8, track_running_stats=False)],
        (
            "0, second model: In eval mode: It computes the statistics of x, as in training mode, instead of using stored ones.",
        ),
    ),
    (
        [nn.BatchNorm2d(8).eval()],
        [nn.BatchNorm2d(8)],
        ("0, second model: It computes the statistics of x, as in training mode, instead of using stored ones.",),
    ),
    ([nn.LayerNorm(4)], [nn.LayerNorm(4, bias=False)], ("0: only the first has a beta.",)),
    *(
        [
            (
                [nn.RMSNorm(4, eps=1e-5)],
                [nn.LayerNorm(4, bias=False)],
                ("0, second model: It subtracts the mean, and it should not.",),
            )
        ]
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
    assert found[0] == "input_norm, second model: It multiplies by 1 + gamma, not by gamma."
    assert len(found) == 4


def test_a_norm_per_head_differs_from_one_over_the_whole_projection():
    found = nv.norms(Decoder(), tokens()).diff(nv.norms(Decoder(per_head=False), tokens()))
    assert "attention.q_norm, second model: It averages over H and W; Llama averages over W." in found
    assert any(
        sentence.startswith("attention.k_norm, second model: It has one gamma for each position") for sentence in found
    )
    assert not any(sentence.startswith(("input_norm", "norm")) for sentence in found)


def test_other_axes_differ():
    found = nv.norms(images(OverChannels(8)), X).diff(nv.norms(images(nn.GroupNorm(1, 8, eps=1e-6)), X))
    assert found == ("1, second model: It averages over C, H and W; OverChannels averages over C.",)


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
    "It clips its output to the range from -1.6 to 1.6.": (lambda x: F.layer_norm(x, (4,)).clamp(-1.6, 1.6), "LayerNorm([4], elementwise_affine=False)"),
}  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("words", "fn", "layer"), [(words, *made) for words, made in DEPARTURES.items()])
def test_what_a_module_does_otherwise_than_its_layer_is_listed_and_differs(words, fn, layer):
    found, usual = rows(Own(fn)), rows(nn.LayerNorm(4, elementwise_affine=False))
    assert found[0].layer == layer
    assert found[0].departures
    assert all(any(one in remark for remark in found.remarks) for one in found[0].departures)
    assert any(one.startswith("0, first model: ") and words in one for one in found.diff(usual))
    assert any(one.startswith("0, second model: ") and words in one for one in usual.diff(found))
    assert found.diff(rows(Own(fn))) == ()


def linear_and_norms(seed, *norms):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), *norms)


def with_gamma(value):
    norm = nn.LayerNorm(8)
    nn.init.constant_(norm.weight, value)
    return norm


def of(model, x=None):
    return nv.norms(model, torch.randn(3, 4, generator=torch.Generator().manual_seed(5)) if x is None else x)


def test_with_weights_only_the_first_row_is_told_whose_output_differs_for_the_same_input():
    one = of(linear_and_norms(0, nn.LayerNorm(8), with_gamma(1.0), with_gamma(1.0), nn.LayerNorm(8)))
    other = of(linear_and_norms(0, nn.LayerNorm(8), with_gamma(1.5), with_gamma(0.5), nn.LayerNorm(8)))
    assert one.diff(other) == ()
    (found,) = one.diff(other, weights=True)
    assert found.startswith("2: with its own weights, its output differs by up to ")
    assert found.endswith(" for the same input. gamma differs by up to 0.5.")
    assert one.diff(one, weights=True) == ()


def test_with_weights_another_input_accuses_no_row():
    one, other = (of(linear_and_norms(seed, nn.LayerNorm(8), nn.LayerNorm(8))) for seed in (0, 1))
    assert one.diff(other) == ()
    assert one.diff(other, weights=True) == (
        "1: its input differs, and no normalization before it says why. Compare the weights of what runs before it.",
    )


def test_a_difference_of_the_norms_explains_the_weights_after_it():
    one, other = (
        of(linear_and_norms(0, nn.LayerNorm(8, eps=eps), with_gamma(g))) for eps, g in ((1e-5, 1.0), (1e-2, 2.0))
    )
    assert one.diff(other, weights=True) == ("1, second model: Its eps is 0.01, not 1e-05.",)


class Blocks(nn.Module):
    def __init__(self, name, eps=1e-5, inside="norm"):
        super().__init__()
        self.name = name
        blocks = [nn.ModuleDict({inside: nn.LayerNorm(4), "last": nn.LayerNorm(4, eps=e)}) for e in (1e-5, eps)]
        self.add_module(name, nn.ModuleList(blocks))

    def forward(self, x):
        for block in getattr(self, self.name):
            for norm in block.values():
                x = norm(x)
        return x


def test_names_with_another_beginning_are_paired():
    one, other = of(Blocks("blocks")), of(Blocks("layers", 1e-6))
    assert one.diff(other) == ("blocks.1.last / layers.1.last, second model: Its eps is 1e-06, not 1e-05.",)
    inside = of(nn.Sequential(Blocks("layers", 1e-6)))
    assert one.diff(inside) == ("blocks.1.last / 0.layers.1.last, second model: Its eps is 1e-06, not 1e-05.",)


def test_names_can_be_given():
    one = of(nn.ModuleDict({"a": nn.LayerNorm(4)})["a"])
    two = nn.Sequential(nn.LayerNorm(4), nn.LayerNorm(4, eps=1e-6))
    turned = nn.Sequential(nn.LayerNorm(4, eps=1e-6), nn.LayerNorm(4))
    found = of(two).diff(of(turned), names={"0": "1", "1": "0"})
    assert not any("Its eps" in sentence for sentence in found)
    with pytest.raises(
        nv.NormvizError,
        match=r"names has 'b', but no name of a normalization begins with it; the names in that model are ''\.",
    ):
        one.diff(one, names={"b": ""})


def test_without_values_patterns_are_compared_and_the_result_says_so():
    def on_meta(*layers):
        with torch.device("meta"):
            return nv.norms(nn.Sequential(*(make() for make in layers)), torch.empty(2, 8, 4, 4))

    same = on_meta(lambda: nn.GroupNorm(8, 8)).diff(on_meta(lambda: nn.InstanceNorm2d(8, affine=True)))
    assert same == ()
    assert (
        str(same) == "Nothing was run: these norms have no values, as on the device meta. Their patterns are compared."
    )
    found = on_meta(lambda: nn.GroupNorm(2, 8)).diff(on_meta(lambda: nn.GroupNorm(4, 8)))
    assert found == (
        "0: the patterns of the statistics differ: n=2 (g=2 k=4) h=4 w=4 -> n g and n=2 (g=4 k=2) h=4 w=4 -> n g.",
    )
    assert on_meta(lambda: nn.GroupNorm(1, 8)).diff(on_meta(lambda: nn.GroupNorm(1, 8, affine=False))) == (
        "0: only the first has a gamma.", "0: only the first has a beta.",
    )  # fmt: skip


def test_a_port_that_never_updates_its_statistics_computes_the_same_and_has_a_note():
    found = rows(nn.BatchNorm2d(8)).diff(rows(OwnBatchNorm(8, frozen=False, momentum=0.0)))
    assert found == ()
    assert found.notes == ("0, second model: It never updates running_mean.",)


def test_hooks_of_others_see_nothing_of_what_is_run():
    seen, norm = [], nn.BatchNorm2d(8)
    handles = [
        norm.register_forward_hook(lambda *args: seen.append("forward")),
        norm.register_full_backward_hook(lambda *args: seen.append("backward")),
    ]
    one, other = rows(norm), rows(OwnBatchNorm(8))
    seen.clear()
    assert one.diff(other) == ()
    assert seen == []
    assert list(norm._forward_hooks) == [handles[0].id]
    assert list(norm._backward_hooks) == [handles[1].id]


def test_the_result_prints_one_line_for_each_difference():
    assert str(rows(nn.BatchNorm2d(8)).diff(rows(nn.BatchNorm2d(8)))) == "Nothing differs."
    found = rows(nn.BatchNorm2d(8), nn.GroupNorm(2, 8)).diff(rows(nn.BatchNorm2d(8, eps=1e-3), nn.GroupNorm(4, 8)))
    assert str(found).splitlines() == list(found)


def test_a_large_input_is_not_kept():
    found = nv.norms(nn.Sequential(nn.Conv2d(3, 64, 1), nn.BatchNorm2d(64)), torch.randn(4, 3, 64, 64))
    assert found[0].kept.x.shape == (3, 64, 5, 6)
    other = nv.norms(nn.Sequential(nn.Conv2d(3, 64, 1), OwnGroupNorm(4, 64)), torch.randn(4, 3, 64, 64))
    assert any("averages over" in sentence for sentence in found.diff(other))


def test_a_norm_that_is_the_model_itself_has_a_name():
    norm = nv.norms(nn.LayerNorm(4), X)
    both = norm.diff(nv.norms(nn.LayerNorm(4, bias=False), X))
    assert tuple(both) == ("the model itself: only the first has a beta.",)
    other = norm.diff(nv.norms(nn.Sequential(nn.LayerNorm(4, eps=1e-3)), X))
    assert tuple(other) == ("the model itself / 0, second model: Its eps is 0.001, not 1e-05.",)
    missing = norm.diff(nv.norms(nn.Identity(), X))
    assert tuple(missing) == ("the model itself (LayerNorm([4])) is missing in the second model.",)
