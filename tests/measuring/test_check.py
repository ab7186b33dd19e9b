"""``check`` finds what a function computes."""

import random
import re

import numpy as np
import pytest
import torch
from torch import nn

import normviz as nv
from normviz.measuring.formula import same_partition
from normviz.texts.messages import in_language
from tests.measuring.implementations import RIGHT, SEQUENCES, WRONG, OnePlus, layer_norm
from tests.support.needs import HAS_RMS_NORM


def x_of(case):
    x = torch.randn(case.shape, generator=torch.Generator().manual_seed(3))
    if case.arrays:
        return x.double().numpy()
    return x.bfloat16() if case.name == "bfloat16" else x


@pytest.mark.parametrize("case", [*RIGHT, *WRONG], ids=lambda case: case.name)
def test_the_differences_are_those_of_the_implementation(case):
    found = nv.check(case.fn, x_of(case), case.like, params=case.params, layout=case.layout)
    assert {one.what for one in found.differences} == case.differs
    assert len(found.differences) == len(case.differs)
    assert found.ok == bool(found) == (not case.differs)
    assert str(found).endswith(".")


@pytest.mark.parametrize("case", [case for case in WRONG if not case.arrays], ids=lambda case: case.name)
def test_a_shape_is_enough(case):
    assert {
        one.what for one in nv.check(case.fn, case.shape, case.like, layout=case.layout).differences
    } == case.differs


SAME = [
    nn.LayerNorm(5),
    nn.LayerNorm([4, 5], bias=False),
    *([nn.RMSNorm(5, eps=1e-6)] if HAS_RMS_NORM else []),
    nn.BatchNorm1d(4, affine=False),
    nn.InstanceNorm1d(4, affine=True),
    nn.GroupNorm(2, 4, eps=1e-3),
    nn.BatchNorm1d(4).eval(),
]


@pytest.mark.parametrize("module", SAME, ids=str)
def test_the_norm_of_a_module_is_that_of_its_explanation(module):
    found, e = nv.check(module, SEQUENCES), nv.explain(module, SEQUENCES)
    assert found.ok
    assert found.layer is not None
    same = nv.explain(found.norm, SEQUENCES)
    assert np.array_equal(same.stat_ids, e.stat_ids)
    assert (same.counts.statistics, same.norm.eps, same.norm.running) == (
        e.counts.statistics,
        e.norm.eps,
        e.norm.running,
    )
    assert same.counts.gamma_shape == e.counts.gamma_shape


@pytest.mark.parametrize(
    ("layer", "reduced"),
    [("LayerNorm(5)", (2,)), ("BatchNorm1d(4)", (0, 2)), ("GroupNorm(2, 4)", (1, 2)), ("BatchNorm1d(4).eval()", ())],
)
def test_reduced_names_the_axes_along_which_elements_reach_each_other(layer, reduced):
    assert nv.check(nv.Layer.parse(layer).module(), SEQUENCES).reduced == reduced


def test_the_text_says_over_which_axes_both_average():
    found = nv.check(lambda x: layer_norm(x, (0, 1), unbiased=True), SEQUENCES, like="LayerNorm(5)")
    assert str(found) == (
        "LayerNorm(5) averages over C. Your function averages over N and L (like BatchNorm1d). "
        "It divides the sum of squares by m - 1, not m, the size of a group."
    )
    assert repr(found) == str(found)
    with pytest.raises(nv.NormvizError, match=re.escape(str(found))):
        found.require()
    nv.check(nn.LayerNorm(5), SEQUENCES, like="LayerNorm(5)").require()


def test_the_error_of_a_failed_requirement_has_the_text_with_its_braces():
    found = nv.check(nn.LayerNorm(5), SEQUENCES, like=nv.Norm("n l (g k) -> n l g", "c", sizes={"g": 5}))
    assert "{" in str(found)
    with pytest.raises(nv.NormvizError) as raised:
        found.require()
    assert str(raised.value) == str(found)


def test_no_space_is_between_chinese_sentences():
    with in_language("zh"):
        text = str(nv.check(lambda x: layer_norm(x, (0, 1), unbiased=True), SEQUENCES, like="LayerNorm(5)"))
    assert text.count("。") == 3
    assert "。 " not in text


TEXTS = [
    (nn.GroupNorm(1, 6), (2, 6, 3, 5), "BatchNorm2d(6)", "BatchNorm2d(6) averages over N, H and W. Your function averages over C, H and W (like GroupNorm)."),
    (nn.GroupNorm(1, 6), (2, 6, 3, 5), "GroupNorm(6, 6)", "GroupNorm(6, 6) averages over H and W. Your function averages over C, H and W (like GroupNorm)."),
    (nn.BatchNorm1d(4), SEQUENCES, "LayerNorm(5)", "LayerNorm(5) averages over C. Your function averages over N and C. It has one gamma for each index of L; LayerNorm(5) has one for each index of C."),
    (nn.BatchNorm1d(4).eval(), SEQUENCES, "BatchNorm1d(4).eval()", "Your function does what BatchNorm1d(4).eval() does: it uses stored statistics."),
    (OnePlus(5), SEQUENCES, "RMSNorm(5, eps=1e-6)", "It multiplies by 1 + gamma, not by gamma."),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "shape", "like", "words"), TEXTS, ids=lambda value: str(value)[:20])
def test_the_text_is_plain_and_exact(fn, shape, like, words):
    assert words in str(nv.check(fn, shape, like))


@pytest.mark.parametrize("unbiased", [False, True])
def test_without_like_the_axes_have_the_names_of_the_layer_that_averages_over_them(unbiased):
    found = nv.check(lambda x: layer_norm(x, unbiased=unbiased), SEQUENCES)
    assert str(found).startswith("Your function averages over C (like LayerNorm).")


def test_the_layer_is_one_that_computes_the_same():
    images = (2, 6, 3, 5)
    assert nv.check(nn.functional.instance_norm, images).layer == "InstanceNorm2d(6)"
    assert nv.check(nn.InstanceNorm2d(6), images, like="InstanceNorm2d(6)").layer == "InstanceNorm2d(6)"
    assert nv.check(layer_norm, SEQUENCES, like="LayerNorm(5)").layer == "LayerNorm([5], elementwise_affine=False)"
    assert nv.check(lambda x: layer_norm(x, 1), SEQUENCES).layer == "ChannelsLastInstanceNorm(5)"
    assert nv.check(lambda x: layer_norm(x, 0), SEQUENCES).layer is None


def test_a_layer_for_channels_that_are_last_does_not_name_the_axes():
    batch_norm = nn.BatchNorm1d(5)
    found = nv.check(lambda x: batch_norm(x.transpose(1, 2)).transpose(1, 2), SEQUENCES)
    assert (str(found), found.layer) == ("Your function averages over N and C.", "ChannelsLastBatchNorm(5)")


@pytest.mark.parametrize("x", [torch.zeros(3, 4, 5), torch.full((3, 4, 5), torch.nan)], ids=["zeros", "NaN"])
def test_an_x_without_an_output_tells_nothing(x):
    assert nv.check(lambda x: layer_norm(x, eps=0.0), x, like="LayerNorm(5, eps=0.0)")


def test_the_eps_of_float64_is_not_that_of_float32():
    x = torch.randn(3, 4, 5, dtype=torch.float64)
    assert nv.check(nn.RMSNorm(5).double(), x, like="RMSNorm(5)")
    wrong = nv.check(
        lambda x: nn.functional.rms_norm(x, (5,), eps=torch.finfo(torch.float32).eps), x, like="RMSNorm(5)"
    )
    assert [one.what for one in wrong.differences] == ["eps"]


LARGE = (4, 32, 48, 48)  # more than 2^18 elements


def by_hand(x):
    """Like BatchNorm on large images only."""
    axes = (0, 2, 3) if x.shape[2] > 40 else (1, 2, 3)
    return (x - x.mean(axes, keepdim=True)) / (x.var(axes, unbiased=False, keepdim=True) + 1e-5).sqrt()


@pytest.mark.parametrize(
    ("fn", "measured"),
    [
        (nn.BatchNorm2d(32), (3, 32, 5, 6)),
        (nn.GroupNorm(4, 32), (3, 32, 5, 6)),
        (nn.LayerNorm([48, 48]), (3, 4, 48, 48)),
        (lambda x: nn.functional.group_norm(x, 2), LARGE),  # 6 channels would be other groups
        (by_hand, LARGE),
    ],
)
def test_of_a_large_tensor_a_smaller_one_is_measured_if_the_function_does_the_same_there(fn, measured):
    found = nv.check(fn, LARGE)
    assert found.ok, found
    assert found.measured.shape == measured
    assert found.sampled
    assert ("a smaller x of shape" in str(found)) == (measured != LARGE)


def test_many_gammas_are_told_apart_by_their_place():
    assert nv.check(nn.LayerNorm([32, 24, 24]), (4, 32, 24, 24), like="LayerNorm([32, 24, 24])")
    swapped = nn.LayerNorm([24, 32, 24])
    assert nv.check(
        lambda x: swapped(x.transpose(1, 2)).transpose(1, 2), (4, 32, 24, 24), like="LayerNorm([32, 24, 24])"
    )


def test_a_sampled_check_says_so():
    found = nv.check(nn.BatchNorm2d(8), (4, 8, 12, 12))
    assert found.sampled
    assert "4,608 elements" in str(found)
    assert not nv.check(nn.BatchNorm2d(8), (2, 8, 3, 3)).sampled


REFUSED = [
    (lambda x: 1 / 0, "ZeroDivisionError: division by zero"),
    (lambda x: x.mean(-1), "it returned one of shape (3, 4)"),
    (lambda x: x.int(), "it returned int32"),
    (lambda x: "x", "it returned 'x'"),
    (lambda x: x + torch.randn_like(x), "the function is random"),
    (lambda x: x + float(np.random.normal()), "the function is random"),
    (lambda x: x + random.random(), "the function is random"),
    (nn.Dropout(), "the function is random"),
    ("LayerNorm(5)", "is not a function"),
]


@pytest.mark.parametrize(("fn", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_a_function_that_cannot_be_measured_is_refused(fn, words):
    with pytest.raises(nv.NormvizError, match=re.escape(words)):
        nv.check(fn, SEQUENCES, like="LayerNorm(5)")


@pytest.mark.parametrize("fn", [lambda x: 1 / 0, lambda x: x.mean(-1)], ids=["raises", "another shape"])
def test_pytest_shows_one_frame_of_an_error(fn):
    with pytest.raises(nv.NormvizError) as raised:
        nv.check(fn, SEQUENCES, like="LayerNorm(5)")
    assert [entry.name for entry in raised.traceback.filter(raised)] == ["test_pytest_shows_one_frame_of_an_error"]


def test_a_layer_that_does_not_take_x_is_refused():
    with pytest.raises(nv.NormvizError, match="normalized_shape must be the last sizes of x"):
        nv.check(layer_norm, SEQUENCES, like="LayerNorm(7)")


def numpy_rows(x, gamma, beta, forgotten=""):
    normalized = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    return normalized * (1 if "gamma" in forgotten else gamma) + (0 if "beta" in forgotten else beta)


@pytest.mark.parametrize("forgotten", ["", "gamma", "beta", "gamma beta"])
def test_a_gamma_or_beta_in_params_that_is_not_used_is_a_difference(forgotten):
    table, params = np.random.default_rng(0).normal(size=(4, 6)), {"gamma": np.ones(6), "beta": np.zeros(6)}
    found = nv.check(
        lambda x, **given: numpy_rows(x, **given, forgotten=forgotten), table, like="LayerNorm(6)", params=params
    )
    assert [one.what for one in found.differences] == forgotten.split()
    assert all(f"t does not use {name}." in str(found) for name in forgotten.split())


def test_groups_of_one_have_no_use_for_gamma():
    params = {"gamma": np.ones(1), "beta": np.zeros(1)}
    assert nv.check(numpy_rows, np.random.default_rng(0).normal(size=(3, 1)), like="LayerNorm(1)", params=params)


@pytest.mark.parametrize(("blocks", "repeats"), [(3, 2), (3, 1), (1, 6)])
def test_statistics_and_gamma_may_split_an_axis_differently(blocks, repeats):
    gamma = torch.arange(1.0, 13 // (blocks * repeats) + 1).repeat_interleave(blocks).repeat(repeats)

    def fn(x):
        return nn.functional.group_norm(x, 2) * gamma.to(x)[:, None]

    norm = nv.check(fn, (3, 12, 5)).norm
    e = nv.explain(norm, (3, 12, 5))
    assert same_partition(e.param_ids, np.broadcast_to(np.unique(gamma, return_inverse=True)[1][:, None], (3, 12, 5)))
    assert same_partition(e.stat_ids, nv.explain("GroupNorm(2, 12)", (3, 12, 5)).stat_ids)


class OtherInEval(nn.BatchNorm1d):
    """A BatchNorm that uses gamma and beta in another way in eval mode; ones and zeros would hide it."""

    def __init__(self, in_eval):
        super().__init__(4)
        self.in_eval = in_eval

    def forward(self, x):
        if self.training:
            return super().forward(x)
        return self.in_eval(nn.functional.batch_norm(x, self.running_mean, self.running_var), self.weight, self.bias)


@pytest.mark.parametrize(
    ("in_eval", "right"),
    [
        (lambda y, g, b: y * g + b, True),
        (lambda y, g, b: y, False),
        (lambda y, g, b: y * g**2 + b, False),
        (lambda y, g, b: y * g - b, False),
        (lambda y, g, b: (y + b) * g, False),
    ],
    ids=["right", "unused", "squared", "negated", "before"],
)
def test_gamma_and_beta_are_compared_in_the_other_mode_too(in_eval, right):
    module = OtherInEval(in_eval)
    found = nv.check(module, (6, 4), like="BatchNorm1d(4)")
    assert found.ok == right
    assert torch.equal(module.weight, torch.ones(4))
    assert right or [one.what for one in found.differences] == ["running"]


@pytest.mark.parametrize(
    ("fn", "differs"),
    [
        (lambda x, p: layer_norm(x) * p["gamma"] + p["beta"], []),
        (lambda x, p: layer_norm(x) * p["gamma"] ** 2 - p["beta"], ["gamma", "beta"]),
        (lambda x, p: layer_norm(x) * p["beta"] + p["gamma"], ["gamma", "beta"]),
    ],
    ids=["right", "squared and negated", "exchanged"],
)
@pytest.mark.parametrize("values", [(torch.ones(5), torch.zeros(5)), (torch.arange(1.0, 6), torch.arange(5.0))])
def test_gamma_and_beta_may_be_in_a_dictionary(fn, differs, values):
    params = {"p": {"gamma": values[0], "beta": values[1]}}
    assert [one.what for one in nv.check(fn, SEQUENCES, like="LayerNorm(5)", params=params).differences] == differs


class OnlyWeight(nn.Module):
    """LayerNorm that adds its gamma."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(5) + 0.5)

    def forward(self, x):
        return layer_norm(x) * self.weight + self.weight


def test_a_gamma_that_is_added_is_named():
    found = nv.check(OnlyWeight(), SEQUENCES, like="LayerNorm(5)")
    assert [(one.what, one.sentence) for one in found.differences] == [("beta", "It adds gamma, not beta.")]


@pytest.mark.parametrize("shapes", [(3, 5), [(3.5, 4, 5)], ["3,4,5"]])
def test_what_is_no_list_of_shapes_is_refused(shapes):
    with pytest.raises(nv.NormvizError, match="which is no shape; write a list of shapes"):
        nv.check(layer_norm, SEQUENCES, like="LayerNorm(5)", shapes=shapes)


def test_backward_is_a_choice():
    with pytest.raises(nv.NormvizError, match="is not True, False or None"):
        nv.check(layer_norm, SEQUENCES, like="LayerNorm(5)", backward="yes")
