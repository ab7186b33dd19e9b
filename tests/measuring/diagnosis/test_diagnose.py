"""``nv.diagnose`` on trained models with one planted fault each, and on healthy ones."""

import copy
import json
import math
import re
from pathlib import Path
from typing import get_args

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import update_bn
from torch.utils.data import DataLoader, TensorDataset

import normviz as nv
from normviz.api.html import _squares
from normviz.measuring.diagnosis.causes import DEVIATION, FEWEST_ELEMENTS, CauseName
from normviz.measuring.diagnosis.passes import Axes, Distance, add_differences, batch_statistics, sample

NORMS = ("1", "4", "7")
FIXED = "model = nv.diagnose(model, batches).fixed()"  # for norms that update_bn does not know


def batches(n, seed, size=32):
    """Noisy pictures of ten classes."""
    source = torch.Generator().manual_seed(seed)
    classes = 2 * torch.randn(10, 3, 8, 8, generator=torch.Generator().manual_seed(9))
    for _ in range(n):
        y = torch.randint(0, 10, (size,), generator=source)
        yield (
            classes[y] * torch.rand(size, 1, 1, 1, generator=source)
            + 0.5
            + torch.randn(size, 3, 8, 8, generator=source),
            y,
        )


def made(norm=nn.BatchNorm2d, last=nn.BatchNorm1d):
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), norm(8), nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2, padding=1), norm(16), nn.ReLU(),
        nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 32)), last(32), nn.ReLU(), nn.Linear(32, 10),
    )  # fmt: skip


def trained(model, data, learning_rate=1e-2):
    optimizer = torch.optim.Adam(model.train().parameters(), learning_rate)
    for x, y in data:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model.eval()


@pytest.fixture(scope="module")
def healthy():
    return trained(made(), batches(80, 5))


@pytest.fixture(scope="module")
def data():
    return list(batches(8, 7))


def part(model, name):
    return model.get_submodule(name)


def updated(model, name, n, momentum):
    """Let one norm alone see n batches, from its start values on."""
    part(model, name).reset_running_stats()
    part(model, name).momentum = momentum
    before = copy.deepcopy(model.state_dict())
    model.train()
    for x, _y in batches(n, 8):
        model(x)
    after = model.state_dict()
    model.load_state_dict({key: after[key] if key.startswith(f"{name}.") else before[key] for key in after})
    model.eval()


FAULTS = {
    "other data: the variance": ("other data", lambda model, name: part(model, name).running_var.div_(11)),
    "other data: the mean": (
        "other data",
        lambda model, name: part(model, name).running_mean.add_(part(model, name).running_var.sqrt()),
    ),
    "other data: one channel": ("other data", lambda model, name: part(model, name).running_var[3:4].mul_(30)),
    "never updated": ("never updated", lambda model, name: part(model, name).reset_running_stats()),
    "few updates": ("few updates", lambda model, name: updated(model, name, 4, 0.1)),
    "few updates: a small momentum": ("few updates", lambda model, name: updated(model, name, 20, 0.01)),
    "NaN": ("not finite", lambda model, name: part(model, name).running_var[3:4].fill_(math.nan)),
    "infinite": ("not finite", lambda model, name: part(model, name).running_mean[2:3].fill_(math.inf)),
    "train in eval": ("train in eval", lambda model, name: part(model, name).train()),
    "eval in train": ("eval in train", lambda model, name: part(model.train(), name).eval()),
}


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("fault", FAULTS)
def test_the_first_finding_names_the_layer_and_the_cause(healthy, data, fault, name):
    cause, plant = FAULTS[fault]
    model = copy.deepcopy(healthy)
    with torch.no_grad():
        plant(model, name)
    found = nv.diagnose(model, data)
    assert [(one.layer, one.cause) for one in found.findings] == [(name, cause)]
    assert not found
    assert found.findings[0].sentence in str(found) or name in str(found)
    healed = nv.diagnose(found.fixed().eval(), data)
    assert healed.difference < found.difference or cause in ("train in eval", "eval in train")
    assert cause in ("train in eval", "eval in train") or not healed.findings
    assert found.left == pytest.approx(healed.left, rel=1e-4)


def test_a_faulty_layer_does_not_accuse_those_after_it(healthy, data):
    model = copy.deepcopy(healthy)
    part(model, "4").running_var.div_(11)
    found = nv.diagnose(model, data)
    assert found.findings[0].share > 0.8
    by_name = {one.name: one for one in found.layers}
    assert by_name["7"].input_difference > 0.5  # it gets other inputs
    assert by_name["7"].share is None
    assert by_name["7"].deviation.size < DEVIATION < by_name["4"].deviation.size
    ratio = 1 / by_name["4"].deviation.ratio.median()
    assert ratio == pytest.approx(11, rel=0.2)


def test_a_high_momentum_is_told_from_other_data(data):
    model = made()
    for name in NORMS:
        part(model, name).momentum = 0.9 if name == "7" else 0.1
    trained(model, batches(80, 5))
    assert [(one.layer, one.cause) for one in nv.diagnose(model, data).findings] == [("7", "momentum")]
    part(model, "7").running_mean += 3 * part(model, "7").running_var.sqrt()
    assert [(one.layer, one.cause) for one in nv.diagnose(model, data).findings] == [("7", "other data")]


def test_other_data_are_found_where_they_enter(healthy, data):
    assert nv.diagnose(healthy, [3 * x + 2 for x, _y in data]).findings[0].layer == "1"


def test_a_dead_channel_is_named_alone(healthy, data):
    model = copy.deepcopy(healthy)
    with torch.no_grad():
        part(model, "6.2").weight[5] = 0
    (found,) = nv.diagnose(model, data).findings
    assert (found.layer, found.cause, found.channels) == ("7", "dead channel", (5,))


def test_batches_of_one_and_of_a_few(healthy):
    alone = nv.diagnose(healthy, batches(3, 7, size=1))
    assert [(one.layer, one.cause) for one in alone.findings] == [("7", "one value")]
    assert math.isnan(alone.difference)
    small = nv.diagnose(healthy, batches(8, 7, size=4))
    assert [(one.layer, one.cause) for one in small.findings] == [("7", "small batch")]
    assert 1 / small.layers[-1].standard_error ** 2 < FEWEST_ELEMENTS
    last_of_one = nv.diagnose(healthy, [*batches(3, 7), *batches(1, 8, size=1)])
    assert [one.cause for one in last_of_one.findings] == ["one value"]
    assert last_of_one.difference > 0


@pytest.mark.parametrize(("between", "named"), [(0.0, []), (0.2, []), (1.0, ["1"])])
def test_batches_of_one_picture_are_too_small_where_the_means_of_pictures_differ(between, named):
    x = torch.randn(64, 4, 10, 10, generator=torch.Generator().manual_seed(0))
    x += between * torch.randn(64, 4, 1, 1, generator=torch.Generator().manual_seed(1))
    model = nn.Sequential(
        nn.BatchNorm2d(4), nn.BatchNorm2d(4)
    )  # in train mode, the first normalizes each picture alone
    with torch.no_grad():
        model[0].running_mean[:], model[0].running_var[:] = x.mean((0, 2, 3)), x.var((0, 2, 3))
    found = nv.diagnose(model, x.split(1), steps=64)
    assert {one.layer for one in found.findings if one.cause == "small batch"} == {*named, *["0"] * bool(named)}
    assert all("a batch is one instance" in one.sentence for one in found.findings if one.layer == "1")


def test_the_verdict_writes_a_name_as_it_is(healthy, data):
    model = nn.Sequential()
    model.layer = copy.deepcopy(healthy)
    model.layer[4].train()
    assert "layer.4 stays in train mode" in nv.diagnose(model, data).verdict
    few = nv.diagnose(healthy, batches(8, 7, size=4)).verdict
    assert " m = 4 for a mean of 7" in few


def test_a_channel_of_small_variance_is_alive_beside_a_large_eps():
    x = 0.1 * torch.randn(256, 4, generator=torch.Generator().manual_seed(0))
    model = nn.Sequential(nn.BatchNorm1d(4, eps=1.0)).train()
    for _ in range(100):
        model(x)
    assert nv.diagnose(model.eval(), [x]).findings == ()
    assert [one.cause for one in nv.diagnose(model, [torch.cat([x[:, :3], 0 * x[:, 3:]], 1)]).findings] == [
        "dead channel"
    ]


class Noise(nn.Module):
    def forward(self, x):
        return x + torch.randn_like(x)


def test_noise_in_both_modes_is_no_difference():
    x = torch.randn(64, 4, generator=torch.Generator().manual_seed(0))
    model = nn.Sequential(Noise(), nn.LayerNorm(4), nn.BatchNorm1d(4)).train()
    for _ in range(100):
        model(x)
    found = nv.diagnose(model.eval(), [x, x])
    assert found.findings == ()
    assert found.left < 0.3


@pytest.mark.parametrize("inner", [nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5))], ids=["layer", "in a part"])
def test_dropout_is_no_fault_of_a_norm(healthy, data, inner):
    model = nn.Sequential(*copy.deepcopy(healthy)[:9], inner, *copy.deepcopy(healthy)[9:]).eval()
    (found,) = nv.diagnose(model, data).findings
    assert (found.layer, found.cause) == ("9" if isinstance(inner, nn.Dropout) else "9.0", "not a norm")
    assert found.share > 0.5


class Functional(nn.Module):
    """Dropout as a function, in a module with a norm."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        return F.dropout(self.norm(x), 0.3, self.training)


def test_dropout_as_a_function_is_found_in_its_module():
    model = nn.Sequential(nn.Linear(8, 8), Functional(), nn.Linear(8, 4)).eval()
    (found,) = nv.diagnose(model, [torch.randn(16, 8)]).findings
    assert (found.layer, found.cause) == ("1", "not a norm")


HEALTHY = {
    "a small learning rate": lambda: trained(made(), batches(80, 5), 1e-3),
    "batches of 16": lambda: trained(made(), batches(80, 5, size=16), 3e-3),
    "momentum 0.01": lambda: trained(made(lambda c: nn.BatchNorm2d(c, momentum=0.02)), batches(300, 5), 1e-3),
    "the mean of all batches": lambda: trained(made(lambda c: nn.BatchNorm2d(c, momentum=None)), batches(80, 5), 1e-3),
    "no stored statistics": lambda: trained(
        made(lambda c: nn.GroupNorm(2, c), lambda c: nn.LayerNorm(c)), batches(20, 5)
    ),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_model_has_no_finding(data, name):
    found = nv.diagnose(HEALTHY[name](), data)
    assert found.findings == ()
    assert found
    assert "Nothing is wrong" in str(found)


def test_after_update_bn_the_counter_is_small_and_nothing_is_wrong(healthy, data):
    model = copy.deepcopy(healthy)
    update_bn([x for x, _y in data], model)
    assert part(model, "7").num_batches_tracked == 8
    assert nv.diagnose(model, data).findings == ()


def test_fixed_is_what_update_bn_computes(healthy, data):
    twin = nv.diagnose(healthy, data).fixed()
    expected = copy.deepcopy(healthy)
    update_bn([x for x, _y in data], expected)
    torch.testing.assert_close(twin.state_dict(), expected.state_dict())
    assert not torch.equal(part(twin, "7").running_mean, part(healthy, "7").running_mean)


def test_fixed_updates_instance_norm_as_its_train_mode_does(data):
    model = nn.Sequential(nn.InstanceNorm2d(3, track_running_stats=True)).eval()
    twin = nv.diagnose(model, data).fixed()
    expected = copy.deepcopy(model).train()
    for i, (x, _y) in enumerate(data):
        expected[0].momentum = 1 / (i + 1)
        expected(x)
    torch.testing.assert_close(twin[0].running_mean, expected[0].running_mean)
    torch.testing.assert_close(twin[0].running_var, expected[0].running_var)
    (found,) = nv.diagnose(model, data).findings
    assert (found.cause, found.remedy) == ("never updated", f"Update the statistics: {FIXED}.")
    assert nv.diagnose(twin, data).findings == ()  # each instance has its own statistics in train mode


class Own(nn.Module):
    """A BatchNorm with other names, which replaces its buffers."""

    def __init__(self, channels):
        super().__init__()
        self.gamma, self.weight = nn.Parameter(torch.ones(channels)), 0.1
        self.register_buffer("moving_mean", torch.zeros(channels))
        self.register_buffer("moving_var", torch.ones(channels))

    def forward(self, x):
        mean, var = self.moving_mean, self.moving_var
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
            self.moving_mean = torch.lerp(self.moving_mean, mean.detach(), self.weight)
            self.moving_var = torch.lerp(self.moving_var, var.detach(), self.weight)
        return (x - mean) / torch.sqrt(var + 1e-5) * self.gamma


def test_a_norm_of_ones_own(data):
    model = trained(made(last=Own), batches(80, 5))
    assert nv.diagnose(model, data).findings == ()
    part(model, "7").moving_var *= 9
    found = nv.diagnose(model, data)
    assert [(one.layer, one.cause) for one in found.findings] == [("7", "other data")]
    assert FIXED in found.findings[0].remedy
    assert nv.diagnose(found.fixed(), data).findings == ()


def test_the_mode_and_the_momentum_of_a_norm_of_ones_own(data):
    model = trained(made(last=Own), batches(80, 5))
    part(model, "7").momentum = 0.9  # as Keras means it: the weight of the old statistics
    assert nv.diagnose(model, data).findings == ()
    part(model, "7").train()
    assert [(one.layer, one.cause) for one in nv.diagnose(model, data).findings] == [("7", "train in eval")]
    part(model.train(), "7").eval()
    assert [(one.layer, one.cause) for one in nv.diagnose(model, data).findings] == [("7", "eval in train")]


def test_the_weight_of_a_batch_in_a_norm_of_ones_own_is_measured(data):
    model = made(last=Own)
    part(model, "7").weight = 0.9
    trained(model, batches(80, 5))
    (found,) = nv.diagnose(model, data).findings
    assert (found.layer, found.cause) == ("7", "momentum")
    assert found.sentence.startswith("7 gives a new batch the weight 0.9, so that most")
    assert found.remedy.startswith("Give a new batch the weight 0.1.")
    part(model, "7").moving_mean += 3 * part(model, "7").moving_var.sqrt()
    assert [(one.layer, one.cause) for one in nv.diagnose(model, data).findings] == [("7", "other data")]


class Forgets(Own):
    """It uses the statistics of the batch in train mode and does not store them."""

    def forward(self, x):
        kept = self.moving_mean, self.moving_var
        y = super().forward(x)
        self.moving_mean, self.moving_var = kept
        return y


class Constant(Own):
    """It has the stored statistics in both modes, as the frozen norms of detectors."""

    def forward(self, x):
        return (x - self.moving_mean) / torch.sqrt(self.moving_var + 1e-5) * self.gamma


def test_a_norm_of_ones_own_that_stores_no_statistics(data):
    model = trained(made(last=Forgets), batches(20, 5))
    assert [(one.layer, one.cause) for one in nv.diagnose(model, data).findings] == [("7", "never updated")]
    assert nv.diagnose(trained(made(last=Constant), batches(20, 5)), data).findings == ()


def test_other_data_are_no_start_values_in_a_norm_of_ones_own(data):
    model = trained(made(last=Own), batches(80, 5))
    own = part(model, "7")
    own.moving_var *= 1 / own.moving_var.median()  # near the start values, but not between them and the data
    assert [(one.layer, one.cause) for one in nv.diagnose(model, data).findings] == [("7", "other data")]


def test_a_small_share_of_the_start_values_beside_a_small_variance(healthy, data):
    model = copy.deepcopy(healthy)
    with torch.no_grad():
        part(model, "3").weight *= 0.003
        part(model, "3").bias *= 0.003
    updated(model, "4", 50, 0.1)  # 0.9^50 = 0.005
    found = nv.diagnose(model, data).findings[0]
    assert (found.layer, found.cause) == ("4", "few updates")
    assert "still have 0.52 % of the start values" in found.sentence


class Wrapped(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.module = model

    def forward(self, x):
        return self.module(x)


def test_a_new_module_around_a_model_does_not_change_its_mode(healthy, data):
    model = copy.deepcopy(healthy)
    assert nv.diagnose(Wrapped(model), data).findings == ()
    assert nv.diagnose(nn.DataParallel(model), data).findings == ()
    part(model, "4").train()
    found = nv.diagnose(Wrapped(model), data).findings
    assert [(one.layer, one.cause) for one in found] == [("module.4", "train in eval")]
    alone = nn.Sequential(nn.BatchNorm1d(4))
    alone[0].eval()
    assert nv.diagnose(alone, [torch.randn(64, 4)]).findings[0].cause == "eval in train"


class Shared(nn.Module):
    """One norm for two places, whose inputs differ."""

    def __init__(self):
        super().__init__()
        self.norm, self.linear = nn.BatchNorm1d(8), nn.Linear(8, 8)

    def forward(self, x):
        return self.norm(5 * self.linear(self.norm(x)))


def test_the_module_of_a_norm_that_is_called_twice_is_not_accused():
    torch.manual_seed(0)
    model, x = Shared(), [torch.randn(64, 8) for _ in range(8)]
    update_bn(x, model)
    found = nv.diagnose(model.eval(), x)
    assert found.difference > 0.5
    assert "not a norm" not in [one.cause for one in found.findings]


def test_a_faulty_norm_comes_before_dropout(healthy, data):
    model = nn.Sequential(*copy.deepcopy(healthy)[:9], nn.Dropout(0.8), *copy.deepcopy(healthy)[9:]).eval()
    part(model, "1").reset_running_stats()
    found = nv.diagnose(model, data).findings
    assert [(one.layer, one.cause) for one in found] == [("1", "never updated"), ("9", "not a norm")]


def test_a_model_in_float64(healthy, data):
    model = copy.deepcopy(healthy).double()
    wide = [x.double() for x, _y in data]
    assert nv.diagnose(model, wide).findings == ()
    part(model, "4").reset_running_stats()
    found = nv.diagnose(model, wide)
    assert [(one.layer, one.cause) for one in found.findings] == [("4", "never updated")]
    assert nv.diagnose(found.fixed(), wide).findings == ()


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_fixed_copies_a_model_under_spectral_norm(healthy, data):
    model = copy.deepcopy(healthy)
    nn.utils.spectral_norm(model[0])
    trained(model, batches(5, 5))
    part(model, "7").reset_running_stats()
    twin = nv.diagnose(model, data).fixed()
    assert "never updated" not in [one.cause for one in nv.diagnose(twin, data).findings]


def test_sorted_batches_and_batches_of_eight_are_not_too_small(healthy):
    x, y = (torch.cat(parts) for parts in zip(*batches(10, 21), strict=True))
    torch.manual_seed(0)
    model = trained(
        nn.Sequential(nn.Flatten(), nn.Linear(192, 32), nn.BatchNorm1d(32), nn.Linear(32, 10)), batches(80, 5)
    )
    in_order = nv.diagnose(model, x[y.argsort()].split(32), steps=10)
    assert 1 / in_order.layers[0].standard_error ** 2 < FEWEST_ELEMENTS
    assert in_order.findings == ()
    assert nv.diagnose(healthy, batches(16, 7, size=8), steps=16).findings == ()


class Frozen(nn.Sequential):
    """Its norms stay in eval mode, as those of many detectors."""

    def train(self, mode=True):
        super().train(mode)
        for one in self.modules():
            if isinstance(one, nn.modules.batchnorm._BatchNorm):
                one.training = False
        return self


@pytest.mark.parametrize("training", [True, False])
def test_norms_that_train_leaves_in_eval_mode_are_no_fault(healthy, data, training):
    found = nv.diagnose(Frozen(*copy.deepcopy(healthy)).train(training), data)
    assert (found.findings, found.difference) == ((), 0.0)


# What it changes: nothing.


class Fails(nn.Module):
    def forward(self, x):
        if self.training:
            raise RuntimeError("as planned")
        return x


@pytest.mark.parametrize("fails", [False, True])
def test_the_model_and_the_random_states_are_as_before(healthy, data, fails):
    model = nn.Sequential(*copy.deepcopy(healthy), nn.Dropout(0.1), *([Fails()] if fails else []))
    part(model, "4").train()
    part(model, "0").weight.grad = torch.ones_like(part(model, "0").weight)
    before = copy.deepcopy(model.state_dict())
    modes = [one.training for one in model.modules()]
    state = torch.get_rng_state()
    if fails:
        with pytest.raises(nv.NormvizError, match="the model raises RuntimeError in train mode on batch 0: as planned"):
            nv.diagnose(model, data)
    else:
        nv.diagnose(model, data)
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0, equal_nan=True)
    assert [one.training for one in model.modules()] == modes
    assert torch.equal(torch.get_rng_state(), state)
    assert bool((part(model, "0").weight.grad == 1).all())
    assert not any(one._forward_hooks or one._forward_pre_hooks for one in model.modules())


# How batches come.


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, values, scale):
        return {"logits": self.norm(values) * scale}


def test_tuples_dicts_loaders_and_labels(healthy, data):
    x, y = (torch.cat(parts) for parts in zip(*data, strict=True))
    expected = nv.diagnose(healthy, [x for x, _y in data])
    loader = DataLoader(TensorDataset(x, y), 32)
    assert nv.diagnose(healthy, loader).difference == expected.difference
    assert nv.diagnose(healthy, ((x, y) for x, y in data)).difference == expected.difference
    model, values = Named().eval(), 3 + torch.randn(64, 4)
    by_name = nv.diagnose(model, [{"values": values, "scale": 2.0, "labels": torch.zeros(64)}])
    by_place = nv.diagnose(model, [(values, 2.0)])
    assert by_name.difference == by_place.difference > 0


def test_batches_are_read_once_and_no_more_than_steps(healthy):
    source = batches(10, 7)
    found = nv.diagnose(healthy, source, steps=3)
    assert found.batches == 3
    assert len(list(source)) == 7


def breaks():
    yield torch.ones(2, 3, 8, 8)
    raise OSError("no disk")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # of torch.jit
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda model: nv.diagnose(torch.relu, [torch.ones(2, 3, 8, 8)]), "is not a model; give a torch.nn.Module"),
        (lambda model: nv.diagnose(model, []), "batches is empty; give at least one batch"),
        (lambda model: nv.diagnose(model, torch.ones(2, 3, 8, 8)), "not an iterable of batches; give a list, such as"),
        (lambda model: nv.diagnose(model, [torch.ones(2, 3, 8, 8)], steps=0), "steps=0 is not a positive whole number"),
        (lambda model: nv.diagnose(model, [torch.ones(2, 4, 8, 8)]), "the model raises RuntimeError in eval mode on batch 0"),
        (lambda model: nv.diagnose(model, [{"image": torch.ones(2, 3, 8, 8)}]), "in eval mode on batch 0"),
        (lambda model: nv.diagnose(copy.deepcopy(model).to("meta"), [torch.ones(2, 3, 8, 8)]), "is on the device meta"),
        (lambda model: nv.diagnose(torch.jit.script(model), []), "is scripted, traced or exported"),
        (lambda model: nv.diagnose(model, breaks()), "batches raises OSError when batch 1 is read, before the model gets it: no disk. Every batch must be readable"),
        (lambda model: nv.diagnose(model, [torch.ones(2, 3, 8, 8)], other="ema"), "other=str is not a torch.nn.Module"),
    ],
)  # fmt: skip
def test_an_invalid_call_says_the_rule_and_the_remedy(healthy, call, words):
    before = copy.deepcopy(healthy.state_dict())
    with pytest.raises(nv.NormvizError, match=words):
        call(healthy)
    torch.testing.assert_close(healthy.state_dict(), before, rtol=0, atol=0)


# What is also told.


def test_notes(healthy, data):
    model = copy.deepcopy(healthy)
    for parameter in part(model, "4").parameters():
        parameter.requires_grad_(False)
    other = copy.deepcopy(model)
    part(other, "7").running_mean += 2 * part(other, "7").running_var.sqrt()
    frozen, differs = nv.diagnose(model, data, other=other).notes
    assert frozen.startswith(
        "4: gamma and beta are frozen, but train() makes the layer use the statistics of the batch"
    )
    assert "7: the stored statistics of the other model differ: means by up to 2 standard deviations" in differs
    assert differs.endswith("Those of the model are nearer to the data.")
    assert nv.diagnose(model, data, other=model).notes == (frozen,)


def test_a_high_momentum_within_chance_is_a_note(healthy, data):
    model = copy.deepcopy(healthy)
    update_bn([x for x, _y in data], model)
    part(model, "4").momentum = part(model, "7").momentum = 0.9
    found = nv.diagnose(model, data)
    assert found.findings == ()
    assert found.notes[0].startswith("4, 7: a new batch has the weight 0.9 in the stored statistics of each of these 2")
    assert found.notes[0] in str(found)


def test_an_instance_norm_with_stored_statistics_is_a_note(data):
    model = nn.Sequential(nn.InstanceNorm2d(3, track_running_stats=True)).eval()
    twin = nv.diagnose(model, data).fixed()
    (note,) = nv.diagnose(twin, data).notes
    assert note.startswith("0: an InstanceNorm with stored statistics takes those of each instance in train mode")


def test_a_variance_that_is_divided_by_m_is_told(healthy):
    model, few = copy.deepcopy(healthy), list(batches(60, 3, size=12))
    update_bn([x for x, _y in few], model)
    assert not any("instead of m - 1" in note for note in nv.diagnose(model, few, steps=60).notes)
    part(model, "7").running_var *= 11 / 12
    (note,) = nv.diagnose(model, few, steps=60).notes
    assert note.startswith("7: the stored variance is on average 8.3 % smaller")
    part(model, "4").running_var *= 0.9  # as where variances grow during training, and the running ones lag
    assert nv.diagnose(model, few, steps=60).notes == ()


def test_the_result_as_text_json_and_html(healthy, data):
    model = copy.deepcopy(healthy)
    part(model, "4").running_var.fill_(math.nan)
    found = nv.diagnose(model, data)
    assert str(found).startswith("In eval mode the output is not finite. 100 % of it comes from 4.")
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["difference"] is None
    assert [one["name"] for one in plain["layers"]] == list(NORMS)
    assert plain["findings"][0]["cause"] == "not finite"
    assert "update_bn" in found.to_html(plotlyjs="cdn")
    assert found.figure().layout.xaxis.type == "category"  # "0" and "10" are names, not numbers


def test_each_channel_is_a_cell_and_a_norm_is_shown_with_the_measured_statistics(healthy, data):
    model = copy.deepcopy(healthy)
    part(model, "4").running_mean[3] += 9 * part(model, "4").running_var[3].sqrt()
    found = nv.diagnose(model, data)
    cells = re.findall(r'var\(--nv-accent\) (\d+)%.*?title="(\d+): ', found.to_html(plotlyjs="cdn"))
    assert len(cells) == 8 + 16 + 32
    assert [int(channel) for percent, channel in cells if percent == "100"] == [3]
    before = part(model, "4").running_mean.clone()
    shown = found.explore("4")
    assert shown.page == "explore"
    assert shown.title.startswith("BatchNorm2d(16).eval() on (32, 16, 4, 4)")
    assert torch.equal(part(model, "4").running_mean, before)
    with pytest.raises(nv.NormvizError, match="there is no norm '5'; choose 1, 4 or 7"):
        found.explore("5")


def test_of_many_channels_a_cell_is_the_worst_of_several():
    moved = torch.zeros(130)
    moved[7] = 0.5
    cells = list(_squares(moved))
    assert len(cells) == 44
    assert "var(--nv-accent) 50%" in cells[2]
    assert 'title="7: 0.5"' in cells[2]


def test_the_documentation_lists_every_cause():
    text = (Path(__file__).parents[3] / "docs" / "models.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.partition("| cause |")[2].splitlines()[2:] if line.startswith("|")]
    assert {cause for row in rows for cause in re.findall("`(.+?)`", row)} >= {*get_args(CauseName)}


def test_the_statistics_of_a_batch():
    x = torch.randn(6, 3, 4, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    (whole,), (each,) = (batch_statistics([x], Axes.of((6, 3, 4, 5), 3, one)) for one in (False, True))
    torch.testing.assert_close(whole.mean, x.mean((0, 2, 3)), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(whole.unbiased, x.var((0, 2, 3)), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(each.unbiased, x.var((2, 3)).mean(0), rtol=1e-5, atol=1e-6)
    assert (whole.elements, each.elements) == (120, 20)
    (last,) = batch_statistics([x.movedim(1, -1)], Axes.of((6, 4, 5, 3), 3))
    torch.testing.assert_close(last.var, whole.var)
    assert Axes.of((6, 3, 4, 5), 7) is Axes.of((0, 3), 3) is None


@pytest.mark.parametrize("shape", [(6, 3, 4), (6, 3)])
def test_inputs_of_one_shape_have_the_same_statistics_together_and_alone(shape):
    several, axes = list(torch.randn(3, *shape, generator=torch.Generator().manual_seed(0))), Axes.of(shape, 3)
    for x, together in zip(several, batch_statistics(several, axes), strict=True):
        torch.testing.assert_close(together.terms, batch_statistics([x], axes)[0].terms)
        torch.testing.assert_close(
            together.terms[4], x.flatten(2).mean(-1).double().var(0) / 6 if len(shape) > 2 else x.double().var(0) / 6
        )


@pytest.mark.parametrize("size", [1e-25, 1.0, 1e25])
def test_the_distance_of_very_small_and_very_large_values(size):
    found = Distance()
    add_differences([(found, [size * torch.ones(3), torch.ones(2)], [2 * size * torch.ones(3), torch.ones(5)])])
    assert (found.value, found.n) == (pytest.approx(1), 1)


def test_equal_values_have_variance_0():
    equal, close = torch.full((3, 2, 7), 0.1), 1000 + torch.arange(14.0).reshape(1, 2, 7) / 100
    assert batch_statistics([equal], Axes.of((3, 2, 7), 2))[0].var.tolist() == [0, 0]
    assert batch_statistics([close], Axes.of((1, 2, 7), 2))[0].var == pytest.approx([4e-4] * 2, 0.1)


def test_a_sample_of_a_large_tensor_has_values_of_every_channel():
    channels = torch.arange(768.0).expand(32, 16, 768)
    assert len(sample(channels).unique()) == 768
    assert sample(channels.half()).dtype == torch.float32
