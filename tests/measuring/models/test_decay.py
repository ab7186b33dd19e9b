"""``norms.decayed``: which gammas and betas an optimizer decays; and how exact the statistics of a row are."""

import json
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from tests.support.needs import HAS_RMS_NORM


class ZeroCentered(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (1 + self.w)


class Own(nn.Module):
    """Its names say nothing."""

    def __init__(self, size):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.zeros(size)), nn.Parameter(torch.ones(size))

    def forward(self, x):
        return self.a + self.b * (x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, False, keepdim=True) + 1e-6)


class Functional(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear, self.g, self.shift = nn.Linear(size, size), *map(nn.Parameter, torch.eye(2, size))

    def forward(self, x):
        return F.layer_norm(self.linear(x), self.g.shape, self.g, self.shift)


MODEL = (nn.Linear(8, 8), ZeroCentered(8), Own(8), Functional(8), nn.BatchNorm1d(8))
ROLES = {
    "1.w": "1 + gamma", "2.a": "beta", "2.b": "gamma", "3.g": "gamma", "3.shift": "beta", "4.weight": "gamma", "4.bias": "beta",
}  # fmt: skip


@pytest.fixture(scope="module")
def model():
    return nn.Sequential(*MODEL)


@pytest.fixture(scope="module")
def norms(model):
    return nv.norms(model, torch.randn(4, 8))


def test_what_is_decayed_is_named_with_its_role(model, norms):
    found = norms.decayed(torch.optim.AdamW(model.parameters()))
    assert {one.name: one.role for one in found.parameters} == ROLES
    assert {one.weight_decay for one in found.parameters} == {0.01}
    assert found.of == 7
    assert norms.grouped().decayed(torch.optim.AdamW(model.parameters())) == found
    assert [one.name for one in norms[1:2].decayed(torch.optim.AdamW(model.parameters())).parameters] == ["2.a", "2.b"]


class Nested(nn.Module):
    """Its parameters are in a dictionary, in another order than they are used."""

    def __init__(self):
        super().__init__()
        self.own = nn.ParameterDict({"g": torch.ones(8), "a": torch.zeros(8)})

    def forward(self, x):
        return F.layer_norm(x, (8,)) * self.own["g"] + self.own["a"]


class Within(nn.Module):
    """A norm between two linear layers, with names that say nothing."""

    def __init__(self, normalize):
        super().__init__()
        self.first, self.last, self.normalize = nn.Linear(8, 8), nn.Linear(8, 8), normalize
        self.g, self.a = nn.Parameter(torch.ones(8)), nn.Parameter(torch.zeros(8))

    def forward(self, x):
        return self.last(self.normalize(self.first(x), self.g, self.a))


def formula(x, g, a):
    return (x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, False, keepdim=True) + 1e-6) * g + a


def called(x, g, a):
    return F.layer_norm(x, (8,), g, a)


def called_with_others(x, g, a):
    return F.layer_norm(x, (8,), a, g)


@pytest.mark.parametrize(
    ("model", "roles"),
    [
        (Nested(), {"own.g": "gamma", "own.a": "beta"}),
        (Within(formula), {"g": "gamma", "a": "beta"}),
        (Within(called), {"g": "gamma", "a": "beta"}),
        (Within(called_with_others), {"g": "beta", "a": "gamma"}),
        (nn.Sequential(Within(formula), Within(formula)), {f"{n}.{one}": role for n in (0, 1) for one, role in (("g", "gamma"), ("a", "beta"))}),
    ],
    ids=["nested", "formula", "function", "swapped", "two formulas"],
)  # fmt: skip
def test_the_role_is_measured_whatever_the_name_is(model, roles):
    found = nv.norms(model, torch.randn(4, 8))
    for one in (found, found.grouped()):
        decayed = one.decayed(torch.optim.AdamW(model.parameters()))
        assert {each.name: each.role for each in decayed.parameters} == roles


def test_only_a_gamma_is_pulled_away_from_the_identity():
    model = nn.Sequential(nn.LayerNorm(8))
    groups = [{"params": [model[0].weight], "weight_decay": 0}, {"params": [model[0].bias]}]
    found = nv.norms(model, torch.ones(2, 8)).decayed(torch.optim.AdamW(groups))
    assert [one.role for one in found.parameters] == ["beta"]
    assert not any("not to the identity" in remark for remark in found.remarks)


def test_the_param_groups_count(model, norms):
    groups = [{"params": model[:2].parameters(), "weight_decay": 0.1}, {"params": model[2:4].parameters()}]
    found = norms.decayed(torch.optim.SGD(groups, lr=0.1))
    assert [(one.name, one.weight_decay) for one in found.parameters] == [("1.w", 0.1)]
    assert str(found) == (
        "parameter  role       weight_decay\n"
        "1.w        1 + gamma  0.1\n"
        "\n"
        "SGD decays 1 of 5 parameters of the norms.\n"
        "A norm that multiplies by 1 + gamma is pulled to the identity: there, gamma = 0.\n"
        "To leave them out, give them a param group of their own, with weight_decay=0."
    )
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["parameters"] == [{"name": "1.w", "role": "1 + gamma", "weight_decay": 0.1}]
    assert plain["of"] == 5


def test_what_is_frozen_is_not_decayed():
    model = nn.Sequential(nn.LayerNorm(4)).requires_grad_(False)
    model[0].bias.requires_grad_(True)
    found = nv.norms(model, torch.ones(2, 4)).decayed(torch.optim.AdamW(model.parameters()))
    assert [(one.name, one.role) for one in found.parameters] == [("0.bias", "beta")]
    none = nv.norms(model, torch.ones(2, 4)).decayed(torch.optim.SGD(model.parameters(), lr=1))
    assert str(none) == "SGD decays 0 of 1 parameter of the norms."


def test_on_the_meta_device_names_tell_the_roles():
    model = nn.Sequential(nn.LayerNorm(4), ZeroCentered(4)).to("meta")
    found = nv.norms(model, torch.ones(2, 4, device="meta")).decayed(torch.optim.AdamW(model.parameters()))
    assert [one.role for one in found.parameters] == ["gamma", "beta", "1 + gamma"]


def test_another_argument_says_the_rule_and_the_remedy(model, norms):
    with pytest.raises(nv.NormvizError, match="Sequential is not an optimizer of torch; give one"):
        norms.decayed(model)
    other = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=1)
    with pytest.raises(
        nv.NormvizError, match="SGD has none of the parameters of these norms; give the optimizer of this model"
    ):
        norms.decayed(other)


def test_nothing_is_changed(model, norms):
    before = [one.detach().clone() for one in model.parameters()]
    norms.decayed(torch.optim.AdamW(model.parameters()))
    assert all(map(torch.equal, before, model.parameters()))


@pytest.mark.parametrize(
    "layer",
    [nn.BatchNorm1d(3), nn.GroupNorm(3, 3), *([nn.RMSNorm(5)] if HAS_RMS_NORM else [])],
    ids=lambda one: type(one).__name__,
)
def test_the_standard_errors_are_those_of_drawn_elements(layer):
    """Of 4,000 statistics of normal elements, the standard deviation is the standard error."""
    (row,) = nv.norms(layer.train(), torch.randn(4, 3, 5))
    draws = torch.randn(4000, row.elements, generator=torch.Generator().manual_seed(0))
    assert row.elements == {"BatchNorm1d": 20, "RMSNorm": 5, "GroupNorm": 5}[type(layer).__name__]
    if row.norm.center:
        assert row.mean_error == pytest.approx(float(draws.mean(1).std()), rel=0.05)
        assert row.var_error == pytest.approx(float(draws.var(1).std()), rel=0.05)
    else:
        assert row.mean_error is None
        assert row.var_error == pytest.approx(float(draws.square().mean(1).std()), rel=0.05)


def test_one_element_has_a_mean_and_no_variance():
    (row,) = nv.norms(nn.GroupNorm(3, 3), torch.randn(2, 3))
    assert (row.elements, row.mean_error, row.var_error) == (1, 1.0, None)
    (stored,) = nv.norms(nn.BatchNorm1d(3).eval(), torch.randn(8, 3))
    assert (stored.reduced, stored.elements) == ((), 8)
    assert stored.to_dict()["mean_error"] == pytest.approx(1 / math.sqrt(8))
