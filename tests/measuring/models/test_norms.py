"""``nv.norms`` lists what runs, in order, and changes nothing."""

import copy
import json
import random
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from tests.measuring.models import zoo
from tests.measuring.models.cases import CASES
from tests.measuring.models.zoo import Decoder, Frozen, Functions, Gemma, Llama, Standardized, Twice, tokens
from tests.support.needs import cases_in_torch, needs_rms_norm


@cases_in_torch
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_rows_are_the_normalizations_in_the_order_in_which_they_run(case):
    found = nv.norms(case.model, *case.inputs, **case.keywords)
    assert [(row.name, row.title, row.shape, row.reduced, row.parameters) for row in found] == case.rows
    assert found.failure == ""
    norms = [row for row in found if row.norm is not None]
    assert not [row for row in norms if row.departures and row.function != "F.normalize"]
    assert all(row.statistics == nv.explain(row.norm, row.shape).counts.statistics for row in norms)


def _rename(one, name):
    one.__name__ = one.__qualname__ = name


OWN = ("Qwen3", "Gemma 3", "ConvNeXt", "SAM", "StyleGAN", "vLLM", "no normalization")


@cases_in_torch
@pytest.mark.parametrize("case", [case for case in CASES if case.name in OWN], ids=lambda case: case.name)
def test_names_of_classes_do_not_matter(case, request):
    own = [one for one in {type(module) for module in case.model.modules()} if one.__module__ == zoo.__name__]
    names = [one.__qualname__ for one in own]
    for number, one in enumerate(own):
        one.__name__ = one.__qualname__ = f"Thing{number}"
    request.addfinalizer(lambda: [_rename(one, name) for one, name in zip(own, names, strict=True)])
    found = nv.norms(case.model, *case.inputs)
    assert [(row.name, row.title) for row in found] == [row[:2] for row in case.rows]
    assert all(row.kind.startswith("Thing") for row in found)


@needs_rms_norm
def test_calls_and_functions_are_counted():
    (row,) = nv.norms(Twice(), torch.zeros(2, 5, 8))
    assert (row.calls, row.function, row.kind, row.buffers) == (2, "", "LayerNorm", 0)
    rows = nv.norms(Functions(), torch.randn(2, 5, 8))
    assert [row.function for row in rows] == [
        "F.layer_norm", "F.group_norm", "F.batch_norm", "F.normalize", "F.rms_norm", "F.layer_norm", "F.instance_norm",
    ]  # fmt: skip
    assert rows[2].buffers == 16
    assert not rows[2].norm.running


def test_a_frozen_batch_norm_averages_over_nothing():
    (row,) = nv.norms(nn.Sequential(Frozen(8)), torch.zeros(2, 8, 4, 5))
    assert row.norm.running
    assert (row.reduced, row.parameters, row.buffers, row.norm.eps) == ((), 0, 32, 1e-5)
    assert row.layer == "BatchNorm2d(8).eval()"  # its gamma and beta are buffers


STORED = [(nn.BatchNorm1d(4), (5, 4)), (nn.BatchNorm2d(4), (2, 4, 3, 3)), (Frozen(4), (2, 4, 3, 3)), (nn.InstanceNorm1d(4, track_running_stats=True), (2, 4, 5))]  # fmt: skip


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(("module", "shape"), STORED, ids=lambda one: type(one).__name__)
def test_the_reduced_axes_are_those_of_check(module, shape, training):
    (row,) = nv.norms(module.train(training), torch.zeros(shape))
    assert row.reduced == nv.check(module, shape).reduced


class Pyramid(nn.Module):
    """It uses the same norms on several shapes."""

    def __init__(self):
        super().__init__()
        self.norm, self.own = nn.GroupNorm(4, 8), zoo.OverChannels(8)

    def forward(self, x):
        for size in (4, 2, 1):
            smaller = F.layer_norm(x[..., :size, :size], [size])
            self.own(self.norm(smaller[:, :, :, 0] if size == 1 else smaller).reshape(smaller.shape))
        return x


def test_every_shape_of_a_norm_is_listed():
    shapes = ((2, 8, 4, 4), (2, 8, 2, 2), (2, 8, 1))
    found = nv.norms(Pyramid(), torch.randn(shapes[0]))
    assert [(row.name, row.function, row.calls, row.shapes) for row in found] == [
        ("", "F.layer_norm", 1, shapes[:1]),
        ("norm", "", 3, shapes),
        ("own", "", 3, (*shapes[:2], (2, 8, 1, 1))),
        ("", "F.layer_norm", 1, shapes[1:2]),
        ("", "F.layer_norm", 1, ((2, 8, 1, 1),)),
    ]
    assert found[1].shape == shapes[0]
    assert "(2, 8, 4, 4), (2, 8, 2, 2), (2, 8, 1)  " in str(found)
    assert "(2, 8, 2, 2), (2, 8, 1)" in found._repr_html_()


def test_a_note_about_a_later_shape_names_the_shape():
    model = nn.Module()
    model.norm = nn.LayerNorm(6)
    model.forward = lambda x: [model.norm(x[:, :, :size]) for size in (4, 6)]
    (row,) = nv.norms(model, torch.randn(2, 3, 6, 6))
    assert [note.split(" alone")[0] for note in row.notes] == ["(2, 3, 6, 6): It normalizes each row of an image"]


class Spoiler(nn.Module):
    """It counts, draws random numbers, changes its mode and writes into its input."""

    def __init__(self):
        super().__init__()
        self.norm, self.calls = nn.BatchNorm1d(3), 0
        self.register_buffer("total", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        self.total += 1
        self.eval()
        np.random.rand()
        random.random()
        return self.norm(x.mul_(2) + torch.randn(3))


def test_nothing_is_changed():
    model, x = Spoiler().train(), torch.randn(4, 3)
    model.norm.weight.grad = torch.ones(3)
    state, given = copy.deepcopy(model.state_dict()), x.clone()
    torch.manual_seed(5)
    np.random.seed(5)
    random.seed(5)
    random_states = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()
    (row,) = nv.norms(model, x)
    assert row.layer == "BatchNorm1d(3).eval()"
    assert torch.equal(x, given)
    assert (model.calls, model.training, model.norm.training) == (0, True, True)
    assert {name: value.tolist() for name, value in model.state_dict().items()} == {
        name: value.tolist() for name, value in state.items()
    }
    assert model.norm.weight.grad.tolist() == [1, 1, 1]
    assert model.norm.bias.grad is None
    assert torch.equal(torch.get_rng_state(), random_states[0])
    assert np.array_equal(np.random.get_state()[1], random_states[1])
    assert random.getstate() == random_states[2]
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_hooks_of_others_see_the_forward_pass_and_no_probes():
    model, seen = Llama(8), []
    handle = model.register_forward_hook(lambda module, args, output: seen.append(tuple(output.shape)))
    nv.norms(model, torch.zeros(2, 5, 8))
    assert seen == [(2, 5, 8)]
    assert list(model._forward_hooks) == [handle.id]


class Large(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.weight = Gemma(16_384), nn.Parameter(torch.empty(16_384, 16_384))

    def forward(self, x):
        return self.norm(x) @ self.weight


@needs_rms_norm
def test_a_large_model_on_the_meta_device_has_no_values():
    with torch.device("meta"):
        model = nn.Sequential(*(Large() for _layer in range(26))).bfloat16()
        x = torch.empty(1, 2048, 16_384, dtype=torch.bfloat16)
    found = nv.norms(model, x)
    assert [row.title for row in found] == ["RMSNorm([16384], eps=1e-06, zero_centered_gamma=True)"] * 26
    assert found[0].statistics == 2048
    assert found.model_parameters > 6.9e9


def test_equal_rows_are_grouped():
    found = nv.norms(nn.Sequential(nn.LayerNorm(8), nn.LayerNorm(8), nn.LayerNorm(8, eps=1e-3)), torch.zeros(2, 8))
    grouped = found.grouped()
    assert [(row.name, row.parameters, row.calls) for row in grouped] == [("*", 32, 2), ("2", 16, 1)]
    assert grouped.members == (2, 1)
    assert (grouped.parameters, found.parameters, found.share) == (48, 48, 1.0)
    assert "* x 2" in str(grouped)
    assert grouped.summary == found.summary == "3 normalizations, 48 parameters, 100 % of the model"


def test_only_names_that_differ_in_numbers_are_grouped():
    def block():
        return nn.ModuleDict({"norm1": nn.LayerNorm(8), "norm2": nn.LayerNorm(8)})

    model = nn.ModuleDict({"layers": nn.ModuleList([block(), block()]), "norm": nn.LayerNorm(8)})
    model.forward = lambda x: [norm(x) for norm in model.modules() if isinstance(norm, nn.LayerNorm)]
    assert nv.norms(model, torch.zeros(2, 8)).grouped().names == ("layers.*.norm1 x 2", "layers.*.norm2 x 2", "norm")


def test_the_text_is_a_table():
    assert str(nv.norms(nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8)), torch.zeros(2, 8))) == (
        "name  layer           shape   reduced axes  statistics  elements  error of mean  error of variance  parameters\n"
        "1     LayerNorm([8])  (2, 8)  (1,)          2           8         35 %           53 %               16\n"
        "\n"
        "1 normalization, 16 parameters, 18 % of the model"
    )


def bn_in_training():
    model = nn.Sequential(nn.BatchNorm2d(3)).eval()
    model[0].train()
    return model


NOTES = [
    (nn.Sequential(nn.LayerNorm(6)), (2, 3, 6, 6), "It normalizes each row of an image alone: 6 is the size of H and of W."),
    (nn.Sequential(nn.LayerNorm(6)), (2, 6, 4, 6), "LayerNorm([6]) normalizes over the last axis of x, here W, and C has the same size"),
    (nn.GroupNorm(4, 4), (2, 4, 3), "Each group has one channel"),
    (nn.Sequential(nn.LayerNorm(1)), (2, 4, 1), "Each mean is over a single value"),
    (bn_in_training(), (2, 3, 4, 4), 'its output depends on the batch; call model.get_submodule("0").eval().'),
    (Standardized(3, 4, 2), (2, 3, 4, 4), "It normalizes a parameter of the model"),
]  # fmt: skip


class Standardize(nn.Module):
    """Weight standardization as a parametrization."""

    def forward(self, weight):
        mean, var = weight.mean((1, 2, 3), keepdim=True), weight.var((1, 2, 3), keepdim=True, correction=0)
        return (weight - mean) / (var + 1e-5).sqrt()


class Scaled(nn.Conv2d):
    """It standardizes a weight that it has scaled and copied."""

    def forward(self, x):
        weight = (self.weight * 0.5).contiguous(memory_format=torch.channels_last).reshape(1, 4, -1)
        return F.conv2d(x, F.batch_norm(weight, None, None, training=True).reshape(self.weight.shape))


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_weight_standardization_is_listed_with_the_weight(device):
    with torch.device(device):
        parametrized = nn.utils.parametrize.register_parametrization(nn.Conv2d(3, 4, 2), "weight", Standardize())
        model, x = (
            nn.Sequential(parametrized, Standardized(4, 4, 1), Scaled(4, 4, 1), nn.BatchNorm2d(4)),
            torch.ones(2, 3, 5, 5),
        )
    found = nv.norms(model, x)
    assert [(row.of_parameter, row.title) for row in found] == [
        ("0.weight", "LayerNorm([3, 2, 2], elementwise_affine=False) on 0.weight"),
        ("1.weight", "BatchNorm1d(4, affine=False, track_running_stats=False) on 1.weight"),
        ("2.weight", "BatchNorm1d(4, affine=False, track_running_stats=False) on 2.weight"),
        ("", "BatchNorm2d(4)"),
    ]
    assert [row.of_parameter for row in found.grouped()] == ["0.weight", "*.weight", ""]


class Latents(nn.Module):
    def __init__(self):
        super().__init__()
        self.latents, self.norm = nn.Parameter(torch.randn(3, 8)), nn.BatchNorm1d(8)

    def forward(self, x):
        return self.norm(self.latents) + self.norm(x) + self.norm.eval()(x)


def test_a_module_with_several_rows_counts_its_parameters_once():
    found = nv.norms(Latents(), torch.randn(3, 8))
    assert [(row.title, row.calls, row.parameters, row.buffers) for row in found] == [
        ("BatchNorm1d(8) on latents", 1, 16, 17), ("BatchNorm1d(8)", 1, 0, 0), ("BatchNorm1d(8).eval()", 1, 0, 0),
    ]  # fmt: skip
    assert (found.parameters, found.share) == (16, 16 / 40)


def test_the_output_of_a_layer_is_no_parameter():
    model = nn.Sequential(nn.Linear(8, 8), Llama(8))
    (row,) = nv.norms(model, torch.ones(8, 8))
    assert row.of_parameter == ""


@pytest.mark.parametrize(("model", "shape", "note"), NOTES)
def test_what_is_seldom_intended_is_noted(model, shape, note):
    (row,) = nv.norms(model, torch.zeros(shape))
    assert any(note in each for each in row.notes)
    assert note in str(nv.norms(model, torch.zeros(shape)))


@pytest.mark.parametrize(
    ("model", "shape"), [(nn.GroupNorm(2, 4), (2, 4, 3)), (nn.LayerNorm(96), (1, 7, 7, 96)), (Llama(8), (2, 3, 8))]
)
def test_what_is_usual_has_no_note(model, shape):
    (row,) = nv.norms(model, torch.zeros(shape))
    assert row.notes == ()


def test_channels_last_are_read_as_such():
    for norm in (nn.LayerNorm(96), Llama(96)):
        (row,) = nv.norms(norm, torch.zeros(1, 7, 7, 96))
        assert row.norm.stats == "n h w c -> n h w"


def test_norms_that_never_ran_are_named():
    model = Twice()
    model.add_module("unused", nn.BatchNorm2d(3))
    assert nv.norms(model, torch.zeros(2, 5, 8)).notes == ("unused (BatchNorm2d) was never called.",)
    own = Decoder()
    own.add_module("spare", Llama(12))
    assert nv.norms(own, tokens()).notes == ("spare (Llama) was never called.",)


FAILURES = [
    (nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 6), nn.LayerNorm(8)), (2, 8), 1, r"failed in 2 \(LayerNorm\) on an input of shape \(2, 6\): .* must be the last sizes of x"),
    (nn.Sequential(nn.LayerNorm(8), nn.Linear(6, 6)), (2, 8), 1, r"failed in 1 \(Linear\).*Expected size 6 in axis -1 of its input, got shape \(2, 8\)"),
    (nn.Sequential(nn.BatchNorm2d(3), nn.Conv2d(4, 4, 1)), (2, 3, 4, 4), 1, r"Expected size 4 in axis 1 of its input, got shape \(2, 3, 4, 4\)"),
    (nn.BatchNorm1d(3), (1, 3), 0, "failed in the model itself .*Use a batch of at least two"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "shape", "rows", "words"), FAILURES)
def test_a_forward_that_fails_gives_the_rows_until_there(model, shape, rows, words):
    found = nv.norms(model, torch.zeros(shape))
    assert len(found) == rows
    assert found.failure in str(found)
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(found.failure)


TWO, TWO_X = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8)), torch.zeros(2, 8)
UNSEEN = {
    "scripted": torch.jit.script,
    "traced": lambda model: torch.jit.trace(model, TWO_X),
    "exported": lambda model: torch.export.export(model, (TWO_X,)),
    "exported module": lambda model: torch.export.export(model, (TWO_X,)).module(),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # of torch.jit and torch.export
@pytest.mark.parametrize("kind", UNSEEN)
def test_norms_that_cannot_be_seen_are_never_counted_as_none(kind):
    made = UNSEEN[kind](TWO)
    words = r"the model itself \(\w+\) is scripted, traced or exported, so its normalizations cannot be seen; give the module"
    with pytest.raises(nv.NormvizError, match=words):
        nv.norms(made, TWO_X)
    if isinstance(made, nn.Module):
        found = nv.norms(nn.Sequential(made, nn.LayerNorm(8)), TWO_X)
        assert [row.name for row in found] == ["1"]
        (note,) = found.notes
        assert note.startswith("0 (")
        assert "cannot be seen" in str(found)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch.compile
def test_compiled_models_are_unwrapped():
    for model, name in ((TWO, "1"), (Llama(8), "")):
        (row,) = nv.norms(torch.compile(model), TWO_X)
        assert row.name == name
    (row,) = nv.norms(nn.Sequential(torch.compile(TWO)), TWO_X)
    assert row.name == "0._orig_mod.1"


def test_norms_of_ones_own_work_where_the_default_device_is_meta():
    with torch.device("meta"):
        found = nv.norms(nn.Sequential(zoo.OverChannels(8), zoo.Permuted(8), Gemma(5)), torch.empty(2, 8, 4, 5))
    assert [row.name for row in found] == ["0", "1", "2"]


class EpsAsTensor(nn.Module):
    def __init__(self, registered):
        super().__init__()
        self.weight, eps = nn.Parameter(torch.ones(6)), torch.tensor(1e-3)
        self.register_buffer("eps", eps) if registered else setattr(self, "eps", eps)

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


@needs_rms_norm
@pytest.mark.parametrize("registered", [True, False])
def test_an_eps_without_a_value_is_noted(registered):
    (row,) = nv.norms(EpsAsTensor(registered), torch.ones(2, 6))
    assert (row.layer, row.notes) == ("RMSNorm([6], eps=0.001)", ())
    with torch.device("meta"):
        (row,) = nv.norms(EpsAsTensor(registered), torch.ones(2, 6))
    assert row.reduced == (1,)
    assert "no value on the meta device: eps may differ" in row.notes[0]


def test_a_list_as_plain_values():
    found = nv.norms(nn.Sequential(Twice(), Llama(8)), torch.zeros(2, 5, 8))
    plain = json.loads(json.dumps(found.to_dict()))
    assert [row["name"] for row in plain["rows"]] == ["0.norm", "1"]
    assert (plain["summary"], plain["parameters"], plain["failure"]) == (found.summary, 24, "")
    row = plain["rows"][0]
    assert (row["layer"], row["shape"], row["reduced"], row["calls"]) == ("LayerNorm([8])", [2, 5, 8], [2], 2)
    assert row["norm"] == repr(found[0].norm)
    assert set(row) == {"title", "mean_error", "var_error", *vars(found[0])} - {"kept", "learned"}


def test_a_list_as_a_table_of_pandas():
    pandas = pytest.importorskip("pandas")
    found = nv.norms(nn.Sequential(nn.LayerNorm(8), nn.BatchNorm1d(8)), torch.zeros(4, 8))
    table = found.to_pandas()
    assert isinstance(table, pandas.DataFrame)
    assert table[["name", "layer", "shape", "parameters"]].to_numpy().tolist() == [
        ["0", "LayerNorm([8])", (4, 8), 16], ["1", "BatchNorm1d(8)", (4, 8), 16],
    ]  # fmt: skip
    assert list(nv.norms(nn.Linear(8, 8), torch.zeros(4, 8)).to_pandas().columns) == list(table.columns)


def test_without_pandas_one_line_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(nv.NormvizError, match=r"to_pandas\(\) needs pandas, which is not installed"):
        nv.norms(nn.LayerNorm(8), torch.zeros(4, 8)).to_pandas()


def test_a_difference_needs_two_lists():
    found = nv.norms(nn.LayerNorm(8), torch.zeros(4, 8))
    with pytest.raises(nv.NormvizError, match=r"Linear is not a list of normalizations; give one, as in a\.diff"):
        found.diff(nn.Linear(8, 8))


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ((), r"the model got no inputs; give them too, as in nv.norms\(model, torch.randn"),
        (((2, 8),), r"a model takes tensors, not shapes; give torch.randn\(2, 8\)\.$"),
    ],
)
def test_a_model_without_a_tensor_is_refused_with_a_sentence(inputs, words):
    with pytest.raises(nv.NormvizError, match=words):
        nv.norms(nn.LayerNorm(8), *inputs)


def test_a_model_that_needs_no_input_is_run():
    class Alone(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(8)

        def forward(self):
            return self.norm(torch.ones(2, 8))

    assert nv.norms(Alone())[0].layer == "LayerNorm([8])"


def test_a_synchronized_norm_in_training_mode_says_what_helps(monkeypatch):
    def refuse(module, x):
        raise ValueError(
            "SyncBatchNorm expected input tensor to be on GPU"
        )  # torch, where torch.distributed is initialized

    monkeypatch.setattr(nn.SyncBatchNorm, "forward", refuse)
    failure = nv.norms(nn.Sequential(nn.SyncBatchNorm(4)), torch.randn(2, 4)).failure
    assert "SyncBatchNorm in training mode needs a GPU; call model.eval() first." in failure


def test_only_models_have_norms():
    with pytest.raises(nv.NormvizError, match=r"str is not a model; give a torch\.nn\.Module and its inputs"):
        nv.norms("LayerNorm(8)", torch.zeros(2, 8))
    with pytest.raises(nv.NormvizError, match="is lazy; call the model once first"):
        nv.norms(nn.Sequential(nn.LazyLinear(8)), torch.zeros(2, 8))


@needs_rms_norm
def test_an_axis_that_has_the_size_of_gamma_by_chance_is_no_obstacle():
    with torch.device("meta"):
        model, x = zoo.Llama(128), torch.empty(2, 128, 16, 128)
    found = nv.norms(model, x)
    assert [(row.title, row.reduced) for row in found] == [("RMSNorm([128], eps=1e-06)", (3,))]


class Gated(nn.Module):
    """RMSNorm times a gate, or of x and a residual: neither can be left out."""

    def __init__(self, size, adds):
        super().__init__()
        self.weight, self.adds = nn.Parameter(torch.ones(size)), adds

    def forward(self, x, other, scale):
        x = x + other if self.adds else x
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight * scale
        return y if self.adds else y * other


class WithTwo(nn.Module):
    def __init__(self):
        super().__init__()
        self.gated, self.added = Gated(8, adds=False), Gated(8, adds=True)

    def forward(self, x):
        return self.added(self.gated(x, x.sigmoid(), 1.0), x, 1.0)


@needs_rms_norm
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_norm_with_another_argument_is_measured_with_zeros_and_ones_for_it(device):
    with torch.device(device):
        model, x = WithTwo(), torch.zeros(2, 5, 8)
    found = nv.norms(model, x)
    assert [(row.name, row.layer, row.departures) for row in found] == [
        ("gated", "RMSNorm([8], eps=1e-06)", ("It multiplies its output by z, where z is a tensor given beside x.",)),
        ("added", "RMSNorm([8], eps=1e-06)", ()),
    ]


class OfMamba(nn.Module):
    """RMSNorm with a gate z, which it may leave out, before or behind it."""

    def __init__(self, factor=F.silu, is_first=False, epsilon=1e-6):
        super().__init__()
        self.weight, self.factor, self.is_first, self.epsilon = nn.Parameter(torch.ones(8)), factor, is_first, epsilon

    def forward(self, x, z=None):
        x = x * self.factor(z) if z is not None and self.is_first else x
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon) * self.weight
        return y if z is None or self.is_first else y * self.factor(z)


class MustHave(OfMamba):
    def forward(self, x, *, gate):
        return super().forward(x, gate)


class Called(nn.Module):
    def __init__(self, norm, call):
        super().__init__()
        self.norm, self.call = norm, call

    def forward(self, x):
        return self.call(self.norm, x, x.flip(1))


BY_PLACE, BY_NAME = (lambda norm, x, z: norm(x, z)), (lambda norm, x, z: norm(x, z=z))


@needs_rms_norm
@pytest.mark.parametrize("call", [BY_PLACE, BY_NAME], ids=["by place", "by name"])
@pytest.mark.parametrize(
    ("norm", "departure"),
    [
        (OfMamba(), "It multiplies its output by silu(z), where z is a tensor given beside x."),
        (OfMamba(torch.sigmoid), "It multiplies its output by sigmoid(z), where z is a tensor given beside x."),
        (OfMamba(is_first=True), "It multiplies x by silu(z) first, where z is a tensor given beside x."),
        (OfMamba(lambda z: z**2), "Its output depends on a tensor given beside x, too."),
    ],
    ids=["behind", "sigmoid", "first", "another"],
)
def test_a_gate_is_named(norm, departure, call):
    (row,) = nv.norms(Called(norm, call), torch.randn(2, 5, 8))
    assert (row.name, row.layer, row.departures) == ("norm", "RMSNorm([8], eps=1e-06)", (departure,))


@needs_rms_norm
def test_a_gate_that_cannot_be_left_out_does_not_change_eps():
    class Grouped(nn.Module):
        def forward(self, x, z):
            return F.rms_norm((x * F.silu(z)).unflatten(-1, (2, 4)), (4,), eps=1e-3).flatten(-2)

    (row,) = nv.norms(Called(Grouped(), BY_PLACE), torch.randn(2, 5, 8))
    assert (row.norm.eps, len(row.departures)) == (pytest.approx(1e-3), 1)


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        (OfMamba(), OfMamba(), False),
        (OfMamba(), OfMamba(torch.sigmoid), True),  # equal where z is 1
        (OfMamba(F.relu), OfMamba(lambda z: z), True),  # equal where z is positive
        (OfMamba(), OfMamba(is_first=True), True),
    ],
)
def test_gates_are_compared(one, other, differ):
    x = torch.randn(2, 5, 8)
    found = nv.norms(Called(one, BY_PLACE), x).diff(nv.norms(Called(other, BY_NAME), x))
    assert len(found) == (2 if differ else 0)
    assert all("where z is a tensor given beside x" in sentence for sentence in found)


@pytest.mark.parametrize("is_after", [False, True])
def test_a_residual_that_is_added_afterwards_is_no_residual_that_is_added_before(is_after):
    class Added(nn.Module):
        def __init__(self, is_after):
            super().__init__()
            self.is_after, self.weight = is_after, nn.Parameter(torch.ones(8))

        def forward(self, x, z):
            y = x if self.is_after else x + z
            y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight
            return y + z if self.is_after else y

    x = torch.randn(2, 5, 8)
    found = nv.norms(Called(Added(False), BY_PLACE), x).diff(nv.norms(Called(Added(is_after), BY_PLACE), x))
    told = "norm, second model: It adds z to its output, where z is a tensor given beside x."
    assert found == ((told,) if is_after else ())
