"""The modes and running statistics of a module, after two batches."""

import copy
import warnings
from threading import Lock

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from normviz.layers.norm import Norm


class Batch(nn.Module):
    """BatchNorm1d by hand, with one change."""

    def __init__(self, size=3, **changes):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))
        self.register_buffer("running_mean", torch.zeros(size))
        self.register_buffer("running_var", torch.ones(size))
        self.options = {
            "rate": 0.1,
            "keep": None,
            "second": "unbiased",
            "train": None,
            "own": None,
            "in_eval": None,
            "round": torch.float64,
            "multiple": 0.0,
        } | changes

    def update(self, name, value):
        rate, keep = self.options["rate"], self.options["keep"]
        keep = 1 - rate if keep is None else keep
        with torch.no_grad():
            statistic = getattr(self, name).mul_(keep).add_(rate * value)
            statistic.copy_(statistic.to(self.options["round"]))
            if multiple := self.options["multiple"]:
                statistic.copy_((statistic * multiple).round() / multiple)

    def forward(self, x):
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
            self.update("running_mean", mean)
            kinds = {
                "unbiased": x.var(0),
                "biased": var,
                "deviation": x.std(0),
                "biased deviation": x.std(0, correction=0),
                "mean square": x.square().mean(0),
            }
            self.update("running_var", kinds[self.options["second"]])
            if self.options["train"]:
                return self.options["train"](self, x)
        else:
            mean, var = self.running_mean, self.running_var
            if self.options["in_eval"]:
                return self.options["in_eval"](self, x)
        return (x - mean) / (var + 1e-5).sqrt() * self.weight + self.bias


def differs(module, like="BatchNorm1d(3)", shape=(6, 3), dtype=torch.float32):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    state, training = copy.deepcopy(module.state_dict()), module.training
    found = nv.check(module, x, like, backward=False)
    assert module.training == training
    assert all(torch.equal(value, state[name]) for name, value in module.state_dict().items())
    return [(one.what, one.found, one.expected, one.sentence) for one in found.differences]


def statistic(name, sentence):
    return ("running", f"another {name}", name, sentence.format(name=name))


BOTH = ("running_mean", "running_var")
BIASED = "Its {name} is updated with the biased variance; torch uses the unbiased one, divided by m - 1."
DEVIATION = "Its {name} is updated with the standard deviation, not with the variance."
VAGUE = "Its {name} after two batches differs from that of BatchNorm1d(3)."
STATISTICS = [
    (Batch(), []),
    (Batch(rate=0.0), [statistic(name, "It never updates {name}.") for name in BOTH]),
    (Batch(rate=0.9), [statistic(name, "It exchanges momentum and 1 - momentum in {name}.") for name in BOTH]),
    (Batch(rate=1.0), [statistic(name, "It replaces {name} with the statistics of the last batch.") for name in BOTH]),
    (Batch(rate=0.2), [statistic(name, "It updates {name} with a momentum of 0.2, not 0.1.") for name in BOTH]),
    (Batch(rate=0.2, keep=0.7), [statistic(name, VAGUE) for name in BOTH]),
    (Batch(rate=0.2, second="biased"), [statistic("running_mean", "It updates {name} with a momentum of 0.2, not 0.1."), statistic("running_var", VAGUE)]),
    (Batch(keep=1.0), [statistic(name, "It adds to {name} without multiplying it by 1 - momentum before.") for name in BOTH]),
    (Batch(round=torch.float16), [statistic(name, "It rounds {name} to float16.") for name in BOTH]),
    (Batch(round=torch.bfloat16), [statistic(name, "It rounds {name} to bfloat16.") for name in BOTH]),
    (Batch(rate=0.0, round=torch.bfloat16), [statistic(name, "It never updates {name}.") for name in BOTH]),
    (Batch(second="biased"), [statistic("running_var", BIASED)]),
    (Batch(second="deviation"), [statistic("running_var", DEVIATION)]),
    (Batch(second="biased deviation"), [statistic("running_var", DEVIATION)]),
]  # fmt: skip


@pytest.mark.parametrize(("module", "wanted"), STATISTICS, ids=lambda one: str(getattr(one, "options", "")))
def test_a_mistake_in_the_running_statistics_has_its_sentence(module, wanted):
    assert differs(module) == wanted


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_in_16_bits_no_mistake_is_told_that_gives_only_nearly_the_statistic(dtype):
    def sentences(module):
        return {one[3] for one in differs(module.to(dtype), dtype=dtype)}

    both = [VAGUE.format(name=name) for name in BOTH]
    for wrong in (Batch(keep=0.95), Batch(rate=0.11, keep=0.9), Batch(rate=0.07)):
        assert sentences(wrong) <= {*both}
    assert sentences(Batch(keep=0.95)) == {*both}
    assert sentences(Batch(keep=1.0)) == {
        f"It adds to {name} without multiplying it by 1 - momentum before." for name in BOTH
    }
    assert sentences(Batch(second="mean square")) == {VAGUE.format(name="running_var")}
    assert sentences(Batch()) == set()


def test_other_rounded_numbers_are_not_those_of_16_bits():
    """Multiples of 1/256 are numbers of bfloat16, too, but small ones are not rounded to it."""
    assert differs(Batch(multiple=256.0))[0] == statistic("running_mean", VAGUE)


DIFFERENT = [f"Its {name} after two batches differs from that of BatchNorm1d(3, momentum={{}})." for name in BOTH]
EXCHANGED = [f"It exchanges momentum and 1 - momentum in {name}." for name in BOTH]
MOMENTA = [
    (nn.BatchNorm1d(3, momentum=0.3), 0.3, []),
    (Batch(rate=0.3), 0.3, []),
    (Batch(rate=0.2), 0.3, [f"It updates {name} with a momentum of 0.2, not 0.3." for name in BOTH]),
    (Batch(rate=0.7), 0.3, EXCHANGED),
    (nn.BatchNorm1d(3, momentum=None), None, []),
    (Batch(rate=0.2), None, DIFFERENT),
    (Batch(rate=0.9), None, DIFFERENT),
    (Batch(keep=1.0), None, DIFFERENT),
    (Batch(rate=1.0), None, [f"It replaces {name} with the statistics of the last batch." for name in BOTH]),
]  # fmt: skip


@pytest.mark.parametrize(("module", "momentum", "wanted"), MOMENTA)
def test_the_momentum_is_that_of_the_layer(module, momentum, wanted):
    found = differs(module, f"BatchNorm1d(3, momentum={momentum})")
    assert [one[3] for one in found] == [one.format(momentum) for one in wanted]


LAST = ("running", "another output in eval mode", "the output with running statistics", "In eval mode, after two batches, its output is not that of BatchNorm1d(3).")  # fmt: skip
OWN = (*LAST[:3], "In eval mode it uses the statistics of x, not the running ones.")
IN_EVAL = [
    (lambda self, x: x, LAST),
    (lambda self, x: 1 / 0, LAST),
    (lambda self, x: x[:1], LAST),
    (lambda self, x: F.batch_norm(x, None, None, self.weight, self.bias, training=True), OWN),
    (lambda self, x: (F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias), 1), None),
    (lambda self, x: F.batch_norm(x, self.running_mean, self.running_var, self.weight), LAST),
    (lambda self, x: F.batch_norm(x, self.running_mean, self.running_var, bias=self.bias), LAST),
    (lambda self, x: "text", LAST),
]


@pytest.mark.parametrize(("in_eval", "wanted"), IN_EVAL)
def test_the_output_in_eval_mode_is_judged_after_two_batches(in_eval, wanted):
    assert differs(Batch(in_eval=in_eval)) == ([] if wanted is None else [wanted])


def test_eval_mode_must_not_update():
    def updates(self, x):
        output = F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias)
        self.update("running_var", x.var(0))
        return output

    assert differs(Batch(in_eval=updates)) == [statistic("running_var", "It updates {name} in eval mode, too.")]


def test_the_output_in_train_mode_is_judged_on_two_batches():
    wanted = ("training", "another output in train mode", "the same output", "In train mode, its output is not that of BatchNorm1d(3).")  # fmt: skip

    assert differs(nn.BatchNorm1d(3).eval(), "BatchNorm1d(3).eval()") == []
    module = Batch(train=lambda self, x: x).eval()
    assert differs(module, "BatchNorm1d(3).eval()") == [(*wanted[:3], wanted[3].replace("(3).", "(3).eval()."))]


def test_the_dtype_of_a_module_is_that_of_its_parameters():
    assert differs(nn.BatchNorm1d(3).half(), dtype=torch.float16) == []
    assert differs(nn.BatchNorm1d(3).bfloat16(), dtype=torch.bfloat16) == []
    assert differs(nn.BatchNorm1d(3).double(), dtype=torch.float64) == []
    assert [one[0] for one in differs(nn.BatchNorm1d(3, momentum=0.2).half(), dtype=torch.float16)] == ["running"] * 2


def test_a_module_without_gamma_and_beta_is_a_layer_with_ones_and_zeros():
    assert differs(nn.BatchNorm1d(3, affine=False)) == []


def test_layers_of_channels():
    images = (2, 3, 4, 5)
    assert differs(nn.BatchNorm2d(3), "BatchNorm2d(3)", images) == []
    assert differs(nn.BatchNorm2d(3, momentum=0.2), "BatchNorm2d(3)", images)[0][3] == (
        "It updates running_mean with a momentum of 0.2, not 0.1."
    )
    instance = "InstanceNorm2d(3, affine=True, track_running_stats=True)"
    made = nn.InstanceNorm2d(3, affine=True, track_running_stats=True)
    assert differs(made, instance, images) == []
    made.momentum = 0.9
    assert [one[3] for one in differs(made, instance, images)] == [
        "It exchanges momentum and 1 - momentum in running_mean.",
        f"Its running_var after two batches differs from that of {instance}.",
    ]


class Twice(nn.Module):
    """Its statistics have no place of their own: two buffers have each name."""

    def __init__(self, momentum=0.1):
        super().__init__()
        self.first, self.second = nn.BatchNorm1d(3, momentum=momentum), nn.BatchNorm1d(3)

    def forward(self, x):
        return self.first(x)


def test_statistics_of_an_inner_module_are_found_if_they_are_the_only_ones():
    assert differs(nn.Sequential(nn.BatchNorm1d(3))) == []
    assert [one[1] for one in differs(nn.Sequential(nn.BatchNorm1d(3, momentum=0.2)))] == ["another running_mean", "another running_var"]  # fmt: skip
    assert differs(Twice()) == []
    assert differs(Twice(0.2)) == [LAST]


class Modes(nn.Module):
    def __init__(self, train=None, evaluate=None):
        super().__init__()
        self.functions = {True: train, False: evaluate}

    def forward(self, x):
        function = self.functions[self.training]
        return F.layer_norm(x, (3,)) if function is None else function(x)


OTHER_MODE = [(lambda x: 2 * x, True), (lambda x: 1 / 0, True), (lambda x: F.layer_norm(x, (3,)), False), (lambda x: (F.layer_norm(x, (3,)),), False)]  # fmt: skip


@pytest.mark.parametrize(("function", "wrong"), OTHER_MODE)
def test_a_layer_without_running_statistics_is_the_same_in_both_modes(function, wrong):
    for mode, module in (("eval", Modes(evaluate=function)), ("train", Modes(train=function).eval())):
        sentence = f"In {mode} mode, its output is not that of LayerNorm(3), which is the same in both modes."
        wanted = [("training", f"another output in {mode} mode", "the same output", sentence)]
        assert differs(module, "LayerNorm(3)") == (wanted if wrong else [])
        norm = Norm("n d -> n", None)
        assert len(differs(module, norm)) == wrong


def test_other_values_of_the_parameters_show_the_other_mode():
    class Forgets(nn.LayerNorm):
        def forward(self, x):
            return super().forward(x) if self.training else F.layer_norm(x, (3,))

    assert [one[0] for one in differs(Forgets(3), "LayerNorm(3)")] == ["training"]


def test_a_module_that_cannot_be_copied_is_judged_in_both_modes():
    module = Modes(evaluate=lambda x: 2 * x)
    module.lock = Lock()
    assert [one[0] for one in differs(module, "LayerNorm(3)")] == ["training"]
    module = Modes()
    module.lock = Lock()
    assert differs(module, "LayerNorm(3)") == []


def replaced(module, make):
    """The module with another forward, which refers to the module itself and not to a copy."""
    module.forward = make(module, module.forward)
    return module


SAME = [nn.LayerNorm(3), nn.BatchNorm1d(3), nn.BatchNorm1d(3).eval(), nn.BatchNorm1d(3, affine=False)]


@pytest.mark.parametrize("module", SAME, ids=lambda one: f"{one}.train({one.training})")
def test_a_forward_that_refers_to_the_module_is_that_of_the_module(module):
    like = copy.deepcopy(module)
    assert differs(replaced(copy.deepcopy(module), lambda _own, forward: lambda x: forward(x)), like) == []
    in_one = lambda own, forward: lambda x: forward(x) if own.training == module.training else 2 * forward(x)  # noqa: E731
    assert differs(replaced(copy.deepcopy(module), in_one), like) != []


def test_a_frozen_norm_must_not_update_in_train_mode():
    class Frozen(nn.BatchNorm1d):
        rate = 0.0

        def forward(self, x):
            output = F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias)
            if self.training:
                self.running_mean.lerp_(x.detach().mean(0), self.rate)
            return output

    updates = Frozen(3).eval()
    updates.rate = 0.1
    assert differs(Frozen(3).eval(), "BatchNorm1d(3).eval()") == []
    assert [one[0] for one in differs(updates, "BatchNorm1d(3).eval()")] == ["training"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_mode_of_a_scripted_module_is_restored():
    for module in (nn.LayerNorm(3), nn.BatchNorm1d(3), nn.BatchNorm1d(3).eval()):
        assert differs(torch.jit.script(module), module) == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_module_that_torchscript_has_frozen_has_no_modes():
    frozen = torch.jit.freeze(torch.jit.script(nn.LayerNorm(3).eval()))
    assert nv.check(frozen, (4, 3)).layer == "LayerNorm([3], elementwise_affine=False)"
    assert "(it has no train and eval mode)" in str(nv.check(frozen, (4, 3), "LayerNorm(3)").trials)
    assert [one.what for one in nv.check(frozen, (4, 3), "LayerNorm(3, eps=1e-3)").differences] == ["eps"]
    stored = torch.jit.freeze(torch.jit.script(nn.BatchNorm1d(3).eval()))
    assert str(nv.check(stored, (4, 3))) == "Your function uses stored statistics."


def test_a_warning_that_only_the_check_causes_is_not_shown():
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        assert nv.check(nn.InstanceNorm2d(3), (2, 3, 4, 5), "InstanceNorm2d(3)")
        assert not shown
        nv.check(nn.InstanceNorm2d(7), (2, 3, 4, 5), "InstanceNorm2d(3)")
        assert "num_features" in str(shown[0].message)
