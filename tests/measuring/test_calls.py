"""How a function of somebody else is called: its inputs, what it refers to, and that nothing is changed."""

import functools
import math
import random
import warnings

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from normviz.measuring import probe
from normviz.measuring.probe import ARRAYS, TENSORS, State, isolated

X = torch.tensor([[1.0, 2, 6], [0, 1, -1]])


def test_generic_values_are_the_same_on_every_call():
    x = probe.generic((200, 50), torch.float64)
    assert (x.dtype, x.shape) == (torch.float64, (200, 50))
    assert (float(x.mean()), float(x.std())) == (pytest.approx(0.5, abs=0.03), pytest.approx(1, abs=0.03))
    assert torch.equal(x, probe.generic((200, 50), torch.float64, 0))
    assert not torch.equal(x, probe.generic((200, 50), torch.float64, 1))
    assert torch.equal(probe.generic((2,), torch.float16), probe.generic((2,), torch.float64).half())
    assert torch.equal(x[0, :2], torch.randn(200, 50, generator=torch.Generator().manual_seed(20), dtype=torch.float64)[0, :2] + 0.5)  # fmt: skip


def test_the_inputs_that_are_moved():
    assert list(probe.indices((2, 2))) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert len(list(probe.indices((64, 64)))) == 4096
    some = list(probe.indices((64, 65)))
    assert (len(some), some[0], some[-1], some == sorted(some)) == (26, (0, 0), (63, 64), True)
    assert len(list(probe.indices((2**9, 2**9)))) == 26
    assert len(list(probe.indices((2**9, 2**9 + 1)))) == 10
    assert len(list(probe.indices((3, 2), most=5))) <= 6


def test_distances_and_tolerances():
    assert probe.distance((4, 4), torch.float64) == 17
    assert probe.distance((1000, 1000), torch.float16) == pytest.approx(math.sqrt(65504) / 8)
    assert probe.large(torch.float64) == 1e5
    assert probe.large(torch.float16) == pytest.approx(math.sqrt(65504) / 8)
    rounded = torch.tensor([0.1]).double()
    assert probe.tolerance(torch.float32, rounded) == 256 * torch.finfo(torch.float32).eps
    assert probe.tolerance(torch.float64, rounded) == 256 * torch.finfo(torch.float32).eps
    assert probe.tolerance(torch.float64, torch.tensor([0.1], dtype=torch.float64)) == 256 * torch.finfo(torch.float64).eps  # fmt: skip
    assert [probe.agreement(one) for one in (torch.float64, torch.float32, torch.float16, torch.bfloat16)] == [1e-6, 1e-4, 2e-2, 2e-2]  # fmt: skip


# What a function refers to

FREE, INSIDE = torch.ones(3), nn.LayerNorm(3)


def uses_globals(x, extra=FREE):
    return INSIDE(x) + extra


class Counter:
    """It keeps a tensor and a module in containers, and changes itself."""

    shared = torch.ones(1)

    def __init__(self):
        self.calls, self.kept = 0, {"list": [torch.zeros(2), (nn.Linear(3, 3),)], "set": {3}}
        self.total = torch.zeros(())

    def __call__(self, x):
        self.calls += 1
        self.total += 1
        return x * 2

    def method(self, x):
        return x

    @staticmethod
    def static(x):
        return x + FREE

    @classmethod
    def of_class(cls, x):
        return x + cls.shared


def ids(found):
    return {id(one) for one in found}


def test_modules_and_tensors_are_found_where_a_function_refers_to_them():
    modules, tensors, _missed = probe.found_in(uses_globals)
    assert (modules, ids(tensors)) == ([INSIDE], {id(FREE)})
    local = torch.ones(2)
    modules, tensors, _missed = probe.found_in(functools.partial(lambda x, y, z: local, INSIDE, z=FREE))
    assert (modules, ids(tensors)) == ([INSIDE], {id(local), id(FREE)})
    counter = Counter()
    modules, tensors, _missed = probe.found_in(counter)
    assert modules == [counter.kept["list"][1][0]]
    assert ids(tensors) == {id(counter.kept["list"][0]), id(counter.total), id(counter.shared), id(FREE)}
    assert probe.found_in(counter.method)[0] == modules
    assert ids(probe.found_in(Counter.static)[1]) == {id(FREE)}
    assert id(counter.shared) in ids(probe.found_in(Counter.of_class)[1])
    assert probe.found_in(torch.relu)[:2] == ([], [])
    assert probe.found_in(F.relu)[:2] == ([], [])


def test_functions_of_libraries_are_not_searched():
    def fn(x):
        return x + FREE

    assert len(probe.found_in(fn)[1]) == 1
    for library in ("torch.nn.functional", "numpy", "einops.layers"):
        fn.__module__ = library
        assert probe.found_in(fn)[:2] == ([], [])
    fn.__module__ = "torchvision"
    assert len(probe.found_in(fn)[1]) == 1


def test_a_module_has_its_parts_and_its_plain_tensors():
    module = nn.Sequential(nn.LayerNorm(3))
    module.plain, module[0].more = torch.ones(2), [torch.zeros(3)]
    modules, tensors, _missed = probe.found_in(module)
    assert modules == [module, module[0]]
    assert ids(tensors) == {id(module.plain), id(module[0].more[0])}


def test_a_search_ends():
    deep, many = [torch.ones(1)], [[i] for i in range(3000)]
    for _level in range(4):
        deep = [deep]
    assert len(probe.found_in(lambda x: deep)[1]) == 1
    deeper = [deep]
    assert probe.found_in(lambda x: deeper)[1] == []
    assert probe.found_in(lambda x: (many, FREE))[0] == []

    def later():
        return unbound

    assert probe.found_in(later)[:2] == ([], [])
    if FREE is None:
        unbound = 1


def test_the_names_of_tensors():
    counter, gamma = Counter(), torch.ones(3)
    assert probe.names_in(counter) == {id(counter.total): "total"}
    assert probe.names_in(counter.method) == {id(counter.total): "total"}
    assert probe.names_in(lambda x: x * gamma + FREE) == {id(gamma): "gamma", id(FREE): "FREE"}
    assert probe.names_in(functools.partial(uses_globals, extra=gamma))[id(gamma)] == "extra"

    @functools.wraps(uses_globals)
    def wrapped(x):
        return uses_globals(x)

    assert probe.names_in(wrapped) == {}
    assert probe.names_in(nn.LayerNorm(3)) == {}


def test_the_object_that_is_called():
    counter = Counter()
    assert probe.called_object(counter) is counter
    assert probe.called_object(counter.method) is counter
    for other in (uses_globals, Counter, nn.LayerNorm(3), functools.partial(uses_globals), torch.relu, len, torch, Counter.static, Counter.of_class):  # fmt: skip
        assert probe.called_object(other) is None


# Nothing is changed


def test_the_state_of_a_module_is_restored():
    module = nn.BatchNorm1d(3)
    module.plain, module.number = torch.ones(2), 1
    own = dict(module.named_parameters()) | dict(module.named_buffers())
    gradient = module.weight.grad = torch.ones(3)
    state = State(module)
    module.weight = nn.Parameter(torch.zeros(3))
    module.running_mean = torch.ones(3)
    module.eval()
    module.number, module.added = 2, 3
    module.extra = nn.Linear(2, 2)
    plain = module.plain
    plain.zero_()
    own["weight"].grad = None
    own["bias"].grad = torch.ones(3)
    del module.running_var
    state.restore()
    assert {name: id(one) for name, one in (*module.named_parameters(), *module.named_buffers())} == {name: id(one) for name, one in own.items()}  # fmt: skip
    assert (module.training, module.number, hasattr(module, "added"), hasattr(module, "extra")) == (True, 1, False, False)  # fmt: skip
    assert module.plain is plain
    assert plain.tolist() == [1, 1]
    assert module.weight.grad is gradient
    assert module.bias.grad is None


def test_the_state_of_an_object_is_restored():
    counter = Counter()
    state = State(counter)
    counter(X)
    counter.added = 1
    state.restore()
    assert (counter.calls, float(counter.total), hasattr(counter, "added")) == (0, 0, False)


def function(fn, x=X, kind=TENSORS, **params):
    return isolated(fn, x, kind, params)


def test_a_call_does_not_change_its_input_or_the_tensors():
    weight = nn.Parameter(torch.ones(3))
    counter = torch.zeros(1)

    def writes(x):
        counter.add_(1)
        weight.data.mul_(2)
        return x.mul_(2) * weight

    given = X.clone()
    with function(writes) as made:
        assert made(X).tolist() == made(X).tolist() == (4 * X).tolist()
        assert not made(X).requires_grad
    assert torch.equal(X, given)
    assert (weight.tolist(), float(counter)) == ([1, 1, 1], 0)


def test_the_tensors_can_have_other_values():
    module = nn.LayerNorm(3)
    with function(module) as made:
        assert made.names == {0: "weight", 1: "bias"}
        values = {1: torch.full((3,), 5.0, dtype=torch.float64)}
        assert torch.allclose(made(X.double(), values) - made(X.double()), torch.tensor(5.0).double())
        assert {i: float(one.sum()) for i, one in made.with_values(values).items()} == {0: 3, 1: 15}
        assert made.takes((7, 3))
        assert not made.takes((7, 4))
        assert not made.takes((7, 3), {1: torch.ones(4, dtype=torch.float64)})
    assert module.bias.tolist() == [0, 0, 0]


DTYPES = [
    (lambda x: x, torch.float32, torch.float64),
    (nn.LayerNorm(3), torch.float32, torch.float64),
    (lambda x: F.layer_norm(x, (3,), torch.ones(3) if x.dtype == torch.float32 else x), torch.float32, torch.float32),
    (lambda x: x.half(), torch.float32, torch.float16),
    (lambda x: x.bfloat16(), torch.float64, torch.bfloat16),
    (lambda x: x.float(), torch.float64, torch.float64),
    (nn.LayerNorm(3).bfloat16(), torch.bfloat16, torch.float64),
]


@pytest.mark.parametrize(("fn", "dtype", "wanted"), DTYPES)
def test_a_function_computes_in_float64_if_it_can(fn, dtype, wanted):
    with function(fn, X.to(dtype)) as made:
        assert made.dtype == wanted
        assert all(value.dtype == wanted for value in made.values)
        made.use_own()
        own = [dtype] * len(made.values) if isinstance(fn, nn.Module) else []
        assert all(value.dtype == one for value, one in zip(made.values, own, strict=True))


def test_a_large_x_keeps_its_dtype():
    with function(torch.relu, torch.zeros(2**18 + 1)) as made:
        assert made.dtype == torch.float32
    with function(torch.relu, torch.zeros(2**18)) as made:
        assert made.dtype == torch.float64


def test_integers_are_not_converted():
    numbers = torch.tensor([0, 1, 2])
    with function(lambda x: x[:, numbers]) as made:
        assert [value.dtype for value in made.values] == [torch.int64]


def test_leaves_of_the_graph_are_found():
    class Hidden:
        __slots__ = ("weight",)

    hidden = Hidden()
    hidden.weight = nn.Parameter(torch.ones(3))
    with function(lambda x: (x * hidden.weight).exp() + hidden.weight) as made:
        assert ids(made.tensors) == {id(hidden.weight)}
        assert made.leaves(X.double()) == [hidden.weight]
    with function(lambda x: x) as made:
        assert made.leaves(X) == []


def test_a_train_mode_makes_a_graph():
    seen = []

    class Looks(nn.Module):
        def forward(self, x):
            seen.append(torch.is_grad_enabled())
            return x

    for training in (True, False):
        with torch.enable_grad(), function(Looks().train(training)) as made:
            seen.clear()
            made(X)
            assert seen == [training]


# Arrays


def test_a_function_of_arrays_is_called_with_arrays():
    kinds = []

    def fn(x, gamma, options):
        kinds.append((type(x), type(gamma), options))
        options["eps"] = 0
        return x * gamma, None

    options = {"eps": 1e-5, "beta": np.ones(2), "other": np.zeros(2)}
    with function(fn, X.double(), ARRAYS, gamma=np.ones(3), options=options) as made:
        assert torch.equal(made(X.double()), X.double())
        assert (made.kind, made.switched, made.converts) == (ARRAYS, False, False)
        assert sorted(made.names.values()) == ["beta", "gamma"]
        assert made.leaves(X) == []
    assert kinds[-1][:2] == (np.ndarray, np.ndarray)
    assert options["eps"] == 1e-5
    assert [type(kinds[-1][2][name]) for name in ("beta", "other")] == [np.ndarray, np.ndarray]


def test_a_function_that_returns_arrays_takes_arrays_from_then_on():
    with function(lambda x: np.asarray(x) * 2) as made:
        assert (made.kind, made.switched, made.converts) == (ARRAYS, True, False)
    with function(lambda x: x.detach().numpy() * 2) as made:
        assert (made.kind, made.switched, made.converts) == (TENSORS, False, True)
        assert torch.equal(made(X), 2 * X)


def numpy_rows(x):
    return np.mean(x)


def torch_rows(x):
    return torch.mean(x)


TABLE, TENSOR = np.ones(3), torch.ones(3)


def both(x):
    return torch_rows(numpy_rows(x))


KINDS = [(numpy_rows, ARRAYS), (torch_rows, TENSORS), (both, TENSORS), (lambda x: numpy_rows(x), ARRAYS), (lambda x: x, TENSORS), (lambda x: x * TABLE, ARRAYS), (lambda x: x * TABLE + TENSOR, TENSORS), (nn.LayerNorm(3), TENSORS), (torch.relu, TENSORS)]  # fmt: skip


@pytest.mark.parametrize(("fn", "kind"), KINDS)
def test_for_a_shape_the_libraries_of_the_function_tell_what_it_takes(fn, kind):
    assert probe.kind_of(fn, (2, 3)) == kind
    assert probe.kind_of(fn, X) == TENSORS
    assert probe.kind_of(fn, X.numpy()) == ARRAYS


def test_number_arrays():
    assert [probe.is_number_array(one) for one in (X, X.numpy(), X.int(), X.int().numpy(), 1.0, [1.0])] == [True, True, False, False, False, False]  # fmt: skip
    assert {i: (one.dtype, one.tolist()) for i, one in probe.floats({1: torch.ones(1), 2: torch.ones(1).int()}).items()} == {1: (torch.float64, [1])}  # fmt: skip
    assert probe.floats({1: torch.ones(1)}, torch.float16)[1].dtype == torch.float16


# What is refused

REFUSED = [
    (lambda x: 1 / 0, r"^the function raises on an x of shape \(2, 3\): ZeroDivisionError: division by zero$"),
    (lambda x: None, "^the function must return a tensor like x, and it returned None\\.$"),
    (lambda x: [], r"^the function must return a tensor like x, and it returned \[\]\.$"),
    (lambda x: x.mean(1), r"^the function must return an output of the shape of x, \(2, 3\), and it returned one of shape \(2,\)\.$"),
    (lambda x: x.long(), "^the function must return floating-point numbers, as x has, and it returned int64\\.$"),
    (F.dropout, r"^the function is random: two calls with the same x differ by up to \S+; switch off dropout and noise, for example with module\.eval\(\), fix the seed in the function, or write each element of what torch\.empty makes\.$"),
    (lambda x: x + random.random(), "^the function is random"),
    (lambda x: x + np.random.rand(), "^the function is random"),
    (3, "^3 is not a function of a tensor; give a function or a module\\.$"),
    (nn.LazyBatchNorm1d(), "^the parameters of LazyBatchNorm1d have no shapes yet\\. Call it once with an x before the check\\.$"),
    (type("Layer", (), {"built": False, "build": None, "__call__": lambda self, x: x})(), "^the parameters of Layer have no shapes yet\\."),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "words"), REFUSED)
def test_what_cannot_be_measured_is_refused(fn, words):
    with pytest.raises(nv.NormvizError, match=words), function(fn):
        pass


def test_the_size_of_a_random_difference_is_told():
    with (
        pytest.raises(nv.NormvizError, match=r"differ by up to 2;"),
        function(lambda x: x + 2 * (torch.initial_seed() % 2)),
    ):
        pass


def test_an_output_of_nan_is_not_random():
    with function(lambda x: x / 0 * 0) as made:
        assert made(X).isnan().all()


def test_the_first_of_several_outputs_counts():
    with function(lambda x: (2 * x, x)) as made:
        assert torch.equal(made(X), 2 * X)
    with function(lambda x: [3 * x]) as made:
        assert torch.equal(made(X), 3 * X)


def test_random_states_and_threads_are_as_before():
    torch.manual_seed(1)
    np.random.seed(1)
    random.seed(1)
    before = torch.get_rng_state(), np.random.get_state()[1].tolist(), random.getstate(), torch.get_num_threads()
    with function(torch.relu) as made:
        torch.rand(1), np.random.rand(), random.random()
        made(X)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (np.random.get_state()[1].tolist(), random.getstate(), torch.get_num_threads()) == before[1:]


def test_an_x_on_the_cpu_sets_no_seed_of_another_device(monkeypatch):
    seeds = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeds.append)
    assert nv.check(nn.LayerNorm(3), X)
    assert not seeds


def test_a_small_x_is_computed_with_one_thread():
    threads, seen = torch.get_num_threads(), []
    torch.set_num_threads(2)
    try:
        for elements in (2**16, 2**16 + 1):
            with function(lambda x: seen.append(torch.get_num_threads()) or x, torch.zeros(elements)):
                pass
            assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert (seen[0], seen[-1]) == (1, 2)


def test_an_object_that_is_called_is_copied():
    counter = Counter()
    with function(counter) as made:
        made(X)
        assert made.fn is not counter
    assert (counter.calls, float(counter.total)) == (0, 0)


def test_an_object_is_called_as_it_was_at_first():
    class Grows:
        def __init__(self):
            self.calls = 1

        def __call__(self, x):
            self.calls += 1
            return x * self.calls

    with function(Grows()) as made:
        assert torch.equal(made(X), 2 * X)
        assert torch.equal(made(X), 2 * X)


def of_numpy(x):
    return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)


def of_tensors_with_numpy(x):
    return (x - x.mean(1, keepdim=True)) / np.sqrt(x.var(1, keepdim=True, correction=0) + 1e-5)


@pytest.mark.parametrize("action", ["always", "error"])
def test_a_function_of_numpy_that_gets_a_tensor_is_called_with_arrays(action):
    """NumPy computes with tensors, too, whose var divides by m - 1."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter(action)
        found = nv.check(of_numpy, torch.randn(4, 6), like="LayerNorm(6)")
    assert found
    assert "Your function was called with NumPy arrays, because it returns one." in found.notes
    assert not warned


def test_a_function_of_tensors_that_uses_numpy_is_called_with_tensors():
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = nv.check(of_tensors_with_numpy, torch.randn(4, 6), like="LayerNorm(6)")
    assert found
    assert not any("NumPy arrays" in note for note in found.notes)
    assert not warned
