"""What is recorded of one forward pass, and how modules of other libraries are measured."""

import sys

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.checkpoint import checkpoint

import normviz as nv
from normviz.measuring.models.probing import Prober, lacks_a_number
from normviz.measuring.models.recording import LIKE_X, OTHER, axis_names, layer_of, read_call, record, sealed, unwrapped
from tests.measuring.models.zoo import Gemma, Llama, Scale
from tests.support.needs import HAS_RMS_NORM, needs_rms_norm

X, W = torch.rand(2, 6, 4), torch.ones(6)
SHAPED = torch.rand(2, 6)
CALLS = [
    (F.layer_norm, (X, (4,)), {}, "LayerNorm([4], elementwise_affine=False)"),
    (F.layer_norm, (X, [6, 4], torch.ones(6, 4)), {"eps": 1e-3}, "LayerNorm([6, 4], eps=0.001, bias=False)"),
    (F.layer_norm, (X, (4,), torch.ones(4), torch.ones(4)), {}, "LayerNorm([4])"),
    (torch.layer_norm, (X, (4,), torch.ones(4), torch.ones(4), 1e-3, False), {}, "LayerNorm([4], eps=0.001)"),
    *([(F.rms_norm, (X, (4,)), {}, "RMSNorm([4], elementwise_affine=False)")] if HAS_RMS_NORM else []),
    *([(torch.rms_norm, (X, (4,), torch.ones(4)), {"eps": 1e-4}, "RMSNorm([4], eps=0.0001)")] if HAS_RMS_NORM else []),
    (F.group_norm, (X, 3), {}, "GroupNorm(3, 6, affine=False)"),
    (torch.group_norm, (X, 2, W, W, 1e-3), {}, "GroupNorm(2, 6, eps=0.001)"),
    (F.batch_norm, (X, None, None), {"training": True}, "BatchNorm1d(6, affine=False, track_running_stats=False)"),
    (F.batch_norm, (SHAPED, W, W), {"weight": W, "momentum": 0.5, "training": True}, "BatchNorm1d(6, momentum=0.5)"),
    (F.batch_norm, (SHAPED, W, W), {"eps": 1e-3}, "BatchNorm1d(6, eps=0.001, affine=False).eval()"),
    (F.batch_norm, (X[..., None], W, W, W, W), {}, "BatchNorm2d(6).eval()"),
    (F.instance_norm, (X,), {}, "InstanceNorm1d(6)"),
    (F.instance_norm, (X[..., None], W, W, W), {"use_input_stats": False}, "InstanceNorm2d(6, affine=True, track_running_stats=True).eval()"),
    (F.instance_norm, (X[..., None, None], W, W), {"momentum": 0.2, "eps": 1e-3}, "InstanceNorm3d(6, eps=0.001, momentum=0.2, track_running_stats=True)"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "kwargs", "layer"), CALLS)
def test_a_call_of_a_function_is_a_layer(function, args, kwargs, layer):
    found, given = read_call(function, args, kwargs)
    assert str(found) == layer
    assert given["input"] is args[0]


NORMALIZED = [((X,), {}, "n c l -> n l"), ((X, 2, -1), {}, "n c l -> n c"), ((X,), {"dim": 0}, "n c l -> c l"), ((torch.rand(2, 5, 5, 3),), {"dim": 3}, "n h w c -> n h w")]  # fmt: skip


@pytest.mark.parametrize(("args", "kwargs", "stats"), NORMALIZED)
def test_normalize_is_an_rms_norm_over_one_axis(args, kwargs, stats):
    norm, _given = read_call(F.normalize, args, kwargs)
    assert (norm.stats, norm.center, norm.eps, norm.params) == (stats, False, 0.0, None)


def test_other_calls_are_no_layers():
    assert read_call(F.relu, (X,), {}) is None
    assert read_call(F.normalize, (X,), {"p": 1}) is None
    assert read_call(F.normalize, (X,), {"out": torch.empty(2, 6, 4)}) is None
    assert read_call(F.layer_norm, (), {}) is None


def test_names_of_axes():
    assert axis_names((8, 5, 5, 3)) == tuple("nhwc")
    assert axis_names((8, 3, 5, 5)) == axis_names((8, 5, 5, 5)) == axis_names((8, 4, 5, 3)) == tuple("nchw")
    assert axis_names((5, 5, 3)) == ("n", "c", "l")


def test_the_mode_of_a_layer_counts_where_it_keeps_statistics():
    assert str(layer_of(nn.BatchNorm1d(3).eval())) == "BatchNorm1d(3).eval()"
    assert str(layer_of(nn.LayerNorm(3).eval())) == "LayerNorm([3])"
    assert str(layer_of(nn.InstanceNorm1d(3).eval())) == "InstanceNorm1d(3)"
    assert layer_of(nn.Linear(3, 3)) is None
    assert layer_of(type("Own", (nn.LayerNorm,), {"forward": lambda self, x: x})(3)) is None


class Model(nn.Module):
    """A norm on two shapes, a module with further arguments, a function, and a norm of a parameter."""

    def __init__(self):
        super().__init__()
        self.norm, self.add = nn.BatchNorm1d(6), Sum()
        self.weight, self.scale = nn.Parameter(torch.rand(6, 4)), nn.Parameter(torch.rand(1))

    def forward(self, x, y=None):
        first = self.norm(x)
        self.norm(x[..., 0])
        self.norm(first)
        self.add(first, x, 2, torch.ones(3), [1], x=None)
        F.batch_norm(x, self.norm.running_mean, self.norm.running_var, self.norm.weight)
        F.layer_norm(self.weight.reshape(4, 6) * self.scale, (6,))
        return F.layer_norm(self.weight + x[0], (4,))


class Sum(nn.Module):
    def forward(self, one, other, *rest, x):
        return [one + other, *rest]


def test_the_calls_are_recorded_in_order():
    model = Model()
    calls, failed = record(model, (X,), {})
    assert failed is None
    assert [(call.name, call.function, call.shape, call.returned, call.count, *call.sizes, call.of_parameter) for call in calls] == [
        ("", "", (2, 6, 4), (6, 4), 1, 37, 13, ""),
        ("norm", "", (2, 6, 4), (2, 6, 4), 2, 12, 13, ""),
        ("norm", "", (2, 6), (2, 6), 1, 12, 13, ""),
        ("add", "", (2, 6, 4), (2, 6, 4), 1, 0, 0, ""),
        ("", "F.batch_norm", (2, 6, 4), (2, 6, 4), 1, 6, 12, ""),
        ("", "F.layer_norm", (4, 6), (4, 6), 1, 0, 0, "weight"),
        ("", "F.layer_norm", (6, 4), (6, 4), 1, 0, 0, ""),
    ]  # fmt: skip
    (add,) = [call for call in calls if call.name == "add"]
    assert add.others == (LIKE_X, 2, OTHER, OTHER)
    assert (add.layer, calls[0].layer, str(calls[1].layer)) == (None, None, "BatchNorm1d(6)")
    assert [str(call.layer) for call in calls[-3:]] == [
        "BatchNorm1d(6).eval()", "LayerNorm([6], elementwise_affine=False)", "LayerNorm([4], elementwise_affine=False)",
    ]  # fmt: skip


def test_inputs_of_integers_are_no_activations():
    calls, _failed = record(nn.Sequential(nn.Embedding(3, 4), nn.LayerNorm(4)), (torch.tensor([[1, 2]]),), {})
    assert [(call.name, call.shape) for call in calls] == [("1", (1, 2, 4))]


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.LayerNorm(4), nn.Linear(3, 3))

    def forward(self, x, name):
        return self.inner(x)


@pytest.mark.parametrize("norm", [nn.LayerNorm(4), Llama(4)], ids=["LayerNorm", "own"])
def test_a_module_that_runs_instead_of_one_that_fails_has_not_failed(norm):
    class Instead(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = norm

        def forward(self, x):
            try:
                raise ImportError("no fused kernel")
            except ImportError:
                return self.norm(x)

    (row,) = nv.norms(Instead(), torch.randn(2, 4))
    assert (row.name, row.function, row.kind) == ("norm", "", type(norm).__name__)


def test_the_innermost_module_has_failed():
    model = Nested()
    calls, failed = record(model, (torch.rand(2, 4),), {"name": "x"})
    assert (failed.name, failed.module, failed.shapes, type(failed.error)) == (
        "inner.1",
        model.inner[1],
        [(2, 4)],
        RuntimeError,
    )
    assert [call.returned for call in calls] == [None, None, (2, 4), None]
    _calls, failed = record(model, (torch.rand(2, 4),), {})
    assert (failed.name, failed.module, failed.shapes, type(failed.error)) == ("", model, [(2, 4)], TypeError)


def test_an_error_that_is_handled_outside_is_no_failure():
    try:
        raise ValueError("before")
    except ValueError:
        calls, failed = record(nn.LayerNorm(4), (torch.rand(2, 4),), {})
    assert failed is None
    assert calls[0].returned == (2, 4)


class Writes(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x, *, more):
        self.count.add_(1)
        x.zero_()
        more["a"][0].zero_()
        torch.rand(1)
        return x


def test_a_model_that_writes_into_its_inputs_and_buffers_changes_nothing():
    model, x, more = Writes(), torch.ones(3), {"a": [torch.ones(2)], "b": 1}
    state = torch.get_rng_state()
    _calls, failed = record(model, (x,), {"more": more})
    assert failed is None
    assert (model.count, x.sum(), more["a"][0].sum()) == (0, 3, 2)
    assert torch.equal(torch.get_rng_state(), state)
    assert not model._forward_hooks
    assert not model._forward_pre_hooks


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # of torch.jit
def test_scripted_modules_are_sealed():
    inner = torch.jit.script(nn.Sequential(nn.Linear(3, 3)))
    model = nn.Sequential(nn.LayerNorm(3), inner)
    assert sealed(model) == [("1", inner)]
    assert [name for name, _module in sealed(inner)] == [""]
    assert sealed(nn.LayerNorm(3)) == []
    other = nn.ModuleDict({"a": inner, "ab": torch.jit.script(nn.Linear(3, 3))})
    assert [name for name, _module in sealed(other)] == ["a", "ab"]


def test_a_traced_graph_is_not_sealed_unless_it_was_exported():
    traced = torch.fx.symbolic_trace(nn.Sequential(nn.LayerNorm(3)))
    assert sealed(traced) == []


def test_an_unflattened_module_is_sealed():
    module = type("Unflattened", (nn.Module,), {"__module__": "torch.export.unflatten"})()
    assert sealed(nn.Sequential(nn.LayerNorm(3), module)) == [("1", module)]


def test_wrappers_are_taken_off():
    inner, outer = nn.LayerNorm(3), nn.Module()
    outer._orig_mod = nn.Module()
    outer._orig_mod._orig_mod = inner
    assert unwrapped(outer) is inner
    assert unwrapped(inner) is inner


# Modules that torch.nn does not have


def found(module, *args):
    calls, failed = record(module, args, {})
    assert failed is None
    return Prober().find(calls[0])


class Sized(nn.Module):
    """GroupNorm by hand, of which a copy with fewer channels has groups of another size."""

    def __init__(self, channels, groups):
        super().__init__()
        self.groups, self.shape = groups, (1, channels, 1)
        self.weight = nn.Parameter(torch.ones(channels))

    def forward(self, x):
        return F.group_norm(x, self.groups) * self.weight.reshape(self.shape)


def test_a_large_module_is_measured_on_a_small_copy():
    one = found(Llama(4096), torch.rand(1, 2, 4096))
    assert (one.norm.stats, one.norm.params, one.norm.eps, one.norm.zero_centered_gamma) == (
        "n l c -> n l",
        "c",
        1e-6,
        False,
    )
    assert found(Gemma(512), torch.rand(1, 2, 512)).norm.zero_centered_gamma
    groups = found(Sized(256, 4), torch.rand(2, 256, 3))
    assert (groups.norm.stats, dict(groups.norm.sizes)) == ("n (g k) l -> n g", {"g": 4})


def test_what_changes_the_shape_or_has_parts_is_no_norm():
    assert found(nn.Sequential(nn.LayerNorm(3)), torch.rand(2, 3)) is None
    assert found(nn.Linear(3, 3), torch.rand(2, 3)) is None
    assert found(Scale(3), torch.rand(2, 3)) is None
    flat = type("Flat", (nn.Module,), {"forward": lambda self, x: F.layer_norm(x.flatten(), (6,))})()
    assert found(flat, torch.rand(2, 3)) is None


def test_parts_without_effect_are_no_obstacle():
    module = Llama(3)
    module.drop, module.same = nn.Dropout(), nn.Identity()
    assert found(module, torch.rand(2, 3)).norm.stats == "n d -> n"
    module.linear = nn.Linear(3, 3)
    assert found(module, torch.rand(2, 3)) is None
    assert found(nn.utils.parametrizations.weight_norm(Llama(3)), torch.rand(2, 3)) is not None


class Across(nn.Module):
    """It normalizes the elements of every other diagonal together."""

    def forward(self, x):
        rows, columns = (torch.arange(size) for size in x.shape)
        groups = (rows[:, None] + columns) % 2
        even, odd = (F.layer_norm(x[groups == one], (int((groups == one).sum()),)) for one in (0, 1))
        return torch.empty_like(x).masked_scatter(groups == 0, even).masked_scatter(groups == 1, odd)


def test_groups_that_are_not_made_of_axes_are_no_norm():
    assert found(Across(), torch.rand(2, 3)) is None


def test_a_module_with_many_values_is_no_norm():
    module = Llama(3)
    module.table = nn.Parameter(torch.zeros(5 * 2**16 - 3))
    assert found(module, torch.rand(2, 3)) is not None
    module.table = nn.Parameter(torch.zeros(5 * 2**16 - 2))
    assert found(module, torch.rand(2, 3)) is None


def test_equal_modules_are_measured_once(monkeypatch):
    measured = []
    original = sys.modules[Prober.__module__]._probe
    monkeypatch.setattr(sys.modules[Prober.__module__], "_probe", lambda call: measured.append(call) or original(call))
    model = nn.Sequential(Llama(8), Llama(8), Llama(8, eps=1e-3), Llama(8))
    calls, _failed = record(model, (torch.rand(2, 8),), {})
    prober = Prober()
    eps = [prober.find(call).norm.eps for call in calls[1:] if not call.function]
    assert eps == [1e-6, 1e-6, 1e-3, 1e-6]
    assert len(measured) == 2


def test_a_module_that_cannot_be_copied_is_no_norm():
    module = Llama(3)
    module.result = module.weight * 2
    assert found(module, torch.rand(2, 3)) is None


def test_a_number_without_a_value_is_lacking():
    module = nn.Module()
    module.eps = torch.ones(())
    assert not lacks_a_number(module)
    module.eps = torch.ones((), device="meta")
    assert lacks_a_number(module)
    module.eps = torch.ones((), device="meta", dtype=torch.int64)
    assert not lacks_a_number(module)
    module.eps = torch.ones(2, device="meta")
    assert not lacks_a_number(module)
    module.register_buffer("more", torch.ones(1, device="meta"))
    assert lacks_a_number(nn.Sequential(module))


class Counts(nn.Module):
    """RMSNorm with numbers of other kinds, which a copy must keep."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(256))
        self.register_buffer("count", torch.ones((), dtype=torch.int64))
        self.register_buffer("nothing", None)
        self.sizes, self.flag, self.name = (256, "last"), True, "n"
        self.register_parameter("bias", None)

    def forward(self, x):
        assert self.flag is True
        assert x.shape[-1] == self.sizes[0]
        assert self.sizes[1] == "last"
        return F.rms_norm(x, x.shape[-1:], eps=1e-5 * (self.count & 1).item()) * self.weight


@needs_rms_norm
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_copy_keeps_what_is_no_size(device):
    with torch.device("cpu"):
        module = Counts()
    module.weight = nn.Parameter(module.weight.to(device))
    calls, _failed = record(Counts(), (torch.rand(2, 256),), {})
    calls[0].module = module
    norm = Prober().find(calls[0]).norm
    assert (norm.stats, norm.params, norm.eps) == ("n d -> n", "d", 1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # of torch.jit
def test_a_model_without_hooks_fails_without_shapes():
    model = torch.jit.script(nn.Linear(3, 3))
    calls, failed = record(model, (torch.rand(2, 4),), {})
    assert (calls, failed.name, failed.module, failed.shapes, type(failed.error)) == ((), "", model, [], RuntimeError)


def python_calls(n):
    """How many functions of Python are called for n norms."""
    model, x, count = nn.Sequential(*(nn.LayerNorm(16) for _ in range(n))), torch.randn(2, 16), 0

    def counted(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        nv.norms(model, x)
    finally:
        sys.setprofile(None)
    return count


def test_a_layer_of_torch_is_read_by_its_shapes():
    python_calls(2)  # what is known after the first norm
    assert (python_calls(30) - python_calls(20)) / 10 < 450  # 950 with each operation and a deep copy of each layer


def test_the_operations_of_a_layer_are_seen_if_somebody_has_changed_it():
    layer = nn.Linear(8, 8)
    layer.register_forward_hook(lambda _module, _args, output: F.layer_norm(output, (8,)))
    patched = nn.Linear(8, 8)
    patched.forward = lambda x: F.rms_norm(x, (8,)) if HAS_RMS_NORM else F.layer_norm(x, (8,))
    found = nv.norms(nn.Sequential(layer, patched), torch.randn(2, 8))
    assert [row.function for row in found] == ["F.layer_norm", "F.rms_norm" if HAS_RMS_NORM else "F.layer_norm"]


class Inside(nn.Module):
    """A module that runs its norm in a function of torch."""

    def __init__(self, run):
        super().__init__()
        self.norm, self.run = nn.LayerNorm(4), run

    def forward(self, x):
        return self.run(self.norm, x)


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
@pytest.mark.parametrize(
    "run",
    [lambda norm, x: checkpoint(norm, x, use_reentrant=True), lambda norm, x: torch.vmap(norm)(x)],
    ids=["checkpoint", "vmap"],
)
def test_a_norm_in_a_checkpoint_or_in_vmap_is_one_row(run):
    found = nv.norms(Inside(run), torch.randn(3, 2, 4))
    assert [row.name for row in found] == ["norm"]
    assert not found.failure
    assert found.diff(found) == ()


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
def test_a_model_of_fake_tensors_is_measured_as_one_on_meta():
    with FakeTensorMode():
        model, x = Llama(4), torch.randn(2, 4)
    assert [row.norm for row in nv.norms(model, x)] == [nv.Norm("n d -> n", "d", center=False, eps=1e-6, bias=False)]
