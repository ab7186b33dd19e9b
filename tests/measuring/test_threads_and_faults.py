"""Checks in several threads, functions that change global settings, results without values, and checks that take long."""

import io
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import normviz as nv
from normviz.layers.norm import Norm
from normviz.measuring import probe as turn
from normviz.texts.errors import NormvizError


def in_threads(work: Callable[[], Any], number: int = 8, times: int = 4) -> list[Any]:
    """What ``work`` returned or raised, in ``number`` threads, ``times`` in each."""
    found: list[Any] = []
    together = threading.Barrier(number, timeout=60)

    def run() -> None:
        together.wait()
        for _ in range(times):
            try:
                found.append(work())
            except Exception as error:  # compared with what one thread gives
                found.append(error)

    threads = [threading.Thread(target=run) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_checks_of_one_module_from_eight_threads_give_the_answer_of_one_and_change_nothing() -> None:
    module = nn.LayerNorm(6)
    with torch.no_grad():
        module.weight.copy_(torch.arange(1.0, 7.0))
    before, state = module.weight.clone(), torch.get_rng_state()
    found = in_threads(lambda: str(nv.check(module, (4, 6), "LayerNorm(6)")))
    assert found == [str(nv.check(module, (4, 6), "LayerNorm(6)"))] * 32
    assert torch.equal(module.weight, before)
    assert torch.equal(torch.get_rng_state(), state)


def test_norms_of_one_model_from_eight_threads_give_the_table_of_one_and_change_nothing() -> None:
    model = nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6), nn.BatchNorm1d(6))
    x, before = torch.randn(4, 6), {name: value.clone() for name, value in model.state_dict().items()}
    found = in_threads(lambda: str(nv.norms(model, x)))
    assert found == [str(nv.norms(model, x))] * 32
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_an_explanation_never_has_the_values_of_a_check_that_runs() -> None:
    class Own(nn.LayerNorm):
        def forward(self, x: Tensor) -> Tensor:
            return F.layer_norm(x, (6,), self.weight, self.bias)

    modules = (nn.LayerNorm(6), Own(6))
    wanted = [nv.explain(module, torch.ones(2, 6)).trace.output for module in modules]

    def work() -> bool:
        for module in modules:
            nv.check(module, (2, 6), "LayerNorm(6)")
        explained = [nv.explain(module, torch.ones(2, 6)).trace.output for module in modules]
        return all(map(torch.equal, explained, wanted))

    assert in_threads(work, times=2) == [True] * 16


class Growing(nn.Module):
    """Keeps something of every call."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(6))
        self.seen: list[Any] = [1, [2]]
        self.by_shape: dict[Any, Any] = {"calls": {"number": 0}}
        self.shapes: set[Any] = {(1,)}
        self.last: deque[Any] = deque([1], maxlen=2)
        self.kept: dict[str, list[Any]] = defaultdict(list, x=[1])

    def forward(self, x: Tensor) -> Tensor:
        self.seen.append(x.sum())
        self.seen[1].append(3)
        self.by_shape[tuple(x.shape)] = x
        self.by_shape["calls"]["number"] += 1
        self.shapes.add(tuple(x.shape))
        self.last.append(x)
        self.kept["x"].append(x)
        self.kept["y"].append(x)
        self.register_forward_hook(lambda *_: None)
        return F.layer_norm(x, (6,), self.weight)


@pytest.mark.parametrize("measure", [lambda m: nv.check(m, (4, 6), "LayerNorm(6)"), lambda m: nv.norms(m, torch.ones(4, 6)), lambda m: nv.explain(m.eval(), (4, 6))])  # fmt: skip
def test_lists_dictionaries_and_sets_of_a_module_are_as_before(measure: Callable[[nn.Module], Any]) -> None:
    module = Growing()
    seen, inner = module.seen, module.seen[1]
    measure(module)
    assert module.seen is seen
    assert module.seen == [1, [2]]
    assert module.seen[1] is inner
    assert module.by_shape == {"calls": {"number": 0}}
    assert module.shapes == {(1,)}
    assert list(module.last) == [1]
    assert module.kept == {"x": [1]}
    assert not module._forward_hooks


def settings() -> list[Any]:
    """What code can set for all other code in torch and NumPy."""
    autocast = hasattr(torch, "get_autocast_dtype")
    return [
        torch.get_default_dtype(),
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_anomaly_enabled(),
        torch.is_anomaly_check_nan_enabled(),
        *([torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")] if autocast else []),
        len(nn.modules.module._global_forward_hooks),
        str(torch.tensor([1 / 3])),
        np.geterr(),
        str(np.array([1 / 3])),
    ]


def set_all() -> None:
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(torch.get_num_threads() + 1)
    torch.use_deterministic_algorithms(True)
    torch.autograd.set_detect_anomaly(True, check_nan=False)
    if hasattr(torch, "get_autocast_dtype"):
        torch.set_autocast_enabled("cpu", True)
        torch.set_autocast_dtype("cpu", torch.float16)
    nn.modules.module.register_module_forward_hook(lambda *_: None)
    torch.set_printoptions(precision=2)
    np.seterr(all="raise")
    np.set_printoptions(precision=2)


@pytest.mark.parametrize("measure", [nv.check, lambda fn, shape: nv.norms(fn.module, torch.ones(shape))])
@pytest.mark.filterwarnings("ignore:Anomaly Detection:UserWarning")
def test_settings_of_torch_and_numpy_are_as_before(measure: Callable[..., Any]) -> None:
    class Changing(nn.LayerNorm):
        def forward(self, x: Tensor) -> Tensor:
            set_all()
            return F.layer_norm(x, (6,))

    def fn(x: Tensor) -> Tensor:
        output: Tensor = fn.module(x)  # type: ignore[attr-defined]
        return output

    fn.module = Changing(6)  # type: ignore[attr-defined]
    before = settings()
    measure(fn, (4, 6))
    assert settings() == before
    nv.check(fn.module, (4, 6), "LayerNorm(6, elementwise_affine=False)")
    assert settings() == before


def test_hooks_of_parameters_are_as_before() -> None:
    class Hooked(nn.LayerNorm):
        def forward(self, x: Tensor) -> Tensor:
            self.weight.register_hook(lambda grad: grad * 0)
            return super().forward(x)

    module = Hooked(6)
    nv.check(module, (4, 6))
    nv.norms(module, torch.ones(4, 6))
    module.weight.sum().backward()
    assert module.weight.grad is not None
    assert module.weight.grad.tolist() == [1] * 6


def test_the_default_device_may_be_meta() -> None:
    module = nn.LayerNorm(6)
    with torch.device("meta"):
        found, wrong = (nv.check(module, (4, 6), like) for like in ("LayerNorm(6)", "BatchNorm1d(6)"))
        alone = nv.check(lambda x: x * torch.ones(6), (4, 6))
        backward = nv.check_backward(lambda dout, x: dout, (4, 6), "LayerNorm(6)", forward=lambda x: (x, x))
        html = wrong.to_html()
    assert (found.ok, wrong.ok, backward.ok) == (True, False, False)
    assert str(alone).endswith("It returns x unchanged.")
    assert html == wrong.to_html()


class Unreadable:
    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)

    def __call__(self, x: Tensor) -> Tensor:
        return x


class UncopyableExit:
    def __call__(self, x: Tensor) -> Tensor:
        return x

    def __deepcopy__(self, memo: object) -> "UncopyableExit":
        raise SystemExit(0)


def _ends(error: BaseException) -> Callable[[Tensor], Tensor]:
    def fn(x: Tensor) -> Tensor:
        raise error

    return fn


ENDED = [
    (lambda: _ends(SystemExit(0)), r"the function raises on an x of shape \(4, 6\): SystemExit: 0"),
    (lambda: _ends(GeneratorExit()), r"the function raises on an x of shape \(4, 6\): GeneratorExit"),
    (UncopyableExit, r"the code that is measured raises SystemExit, which ends a program; take exit\(\) out of it"),
    (Unreadable, "Unreadable cannot be read: its __getattr__ raises RuntimeError; raise AttributeError for a name"),
]


@pytest.mark.parametrize(("make", "message"), ENDED)
@pytest.mark.parametrize("like", [None, "LayerNorm(6)"])
def test_code_that_ends_the_program_is_an_error(make: Callable[[], Any], message: str, like: str | None) -> None:
    with pytest.raises(NormvizError, match=message):
        nv.check(make(), (4, 6), like)


def test_a_backward_function_and_a_model_that_end_the_program() -> None:
    with pytest.raises(NormvizError, match="backward raises SystemExit: 1"):
        nv.check_backward(lambda dout, cache: exit(1), (4, 6), "LayerNorm(6)", forward=lambda x: (x, x))
    exiting = nn.Sequential(nn.LayerNorm(6), nn.ReLU())
    exiting[1].register_forward_pre_hook(lambda *_: exit())
    found = nv.norms(exiting, torch.ones(4, 6))
    assert [row.layer for row in found] == ["LayerNorm([6])"]
    assert "The forward pass failed in the model itself (Sequential): SystemExit" in found.failure


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("measure", [nv.check, lambda module, shape: nv.norms(module, torch.ones(shape))])
def test_a_module_may_have_tensors_whose_values_torch_cannot_compare(measure: Callable[..., Any], device: str) -> None:
    class Having(nn.LayerNorm):
        def __init__(self) -> None:
            super().__init__(6)
            self.sparse = torch.eye(3).to_sparse()
            self.unused = nn.Parameter(torch.ones(6, device=device))

    assert "LayerNorm" in str(measure(Having(), (4, 6)))


@pytest.mark.parametrize(
    ("fn", "kind"),
    [
        (lambda x: x.to_sparse(), "sparse_coo"),
        (lambda x: x.to_sparse_csr(), "sparse_csr"),
        (lambda x: x.to("meta"), "meta"),
        (lambda x: torch.nested.nested_tensor(list(x), layout=torch.jagged), "nested"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*(Sparse|nested).*")
def test_a_result_without_an_element_for_each_of_x_is_refused(fn: Callable[[Tensor], Tensor], kind: str) -> None:
    for like in (None, "LayerNorm(6)"):
        with pytest.raises(NormvizError, match=f"must return a dense tensor with values, and it returned a {kind} one"):
            nv.check(fn, (4, 6), like)


@pytest.mark.parametrize("shape", [(2**40,), (2**20, 2**20), (2**30,)])
def test_a_shape_that_no_memory_holds_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(
        NormvizError, match=r"an x of shape .* is too large to measure: .* is [\d,]+; the limit is 268,435,456"
    ):
        nv.check(torch.relu, shape)
    with pytest.raises(NormvizError, match="the limit is 268,435,456"):
        nv.check(lambda x: F.layer_norm(x, x.shape[-1:]), (4, 6), Norm("n d -> n"), shapes=[(2**40, 6)])


class Clock:
    """A second passes with each call of the function."""

    def __init__(self) -> None:
        self.now, self.calls = 0.0, 0

    def __call__(self) -> float:
        return self.now

    def slow(self, x: Tensor) -> Tensor:
        self.now += 1
        self.calls += 1
        return F.layer_norm(x, (6,))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(turn, "monotonic", made)
    return made


def test_a_check_ends_after_its_timeout(clock: Clock) -> None:
    fn = clock.slow
    with pytest.raises(NormvizError, match=r"after 10 s without a result, before call 12 of the function; .* timeout"):
        nv.check(lambda x: fn(x), (4, 6), "LayerNorm(6)", timeout=10)
    assert clock.calls == 11


def test_a_timeout_that_is_long_enough_changes_nothing() -> None:
    fn = lambda x: F.layer_norm(x, (6,))  # noqa: E731
    assert str(nv.check(fn, (4, 6), "LayerNorm(6)", timeout=600)) == str(nv.check(fn, (4, 6), "LayerNorm(6)"))


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), "2", True])
def test_a_timeout_is_a_positive_number_of_seconds(timeout: Any) -> None:
    with pytest.raises(NormvizError, match=r"timeout=.* is not a positive number of seconds"):
        nv.check(torch.relu, (4, 6), timeout=timeout)


def test_check_backward_has_a_timeout(clock: Clock) -> None:
    slow = clock.slow

    def forward(x: np.ndarray) -> tuple[np.ndarray, None]:
        return slow(torch.from_numpy(x)).numpy(), None

    with pytest.raises(NormvizError, match=r"after 2 s"):
        nv.check_backward(lambda dout, _cache: dout, (4, 6), "LayerNorm(6)", forward=forward, timeout=2)


@pytest.mark.parametrize("convert", [Tensor.to_sparse, lambda dout: dout.to("meta")])
def test_a_gradient_without_values_is_refused(convert: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(NormvizError, match="backward must return arrays of floating-point numbers"):
        nv.check_backward(
            lambda dout, _cache: convert(dout),
            (4, 6),
            "LayerNorm(6, elementwise_affine=False)",
            forward=lambda x: (F.layer_norm(x, (6,)), None),
        )


def test_a_timeout_also_ends_the_wait_for_another_thread() -> None:
    found: list[Any] = []

    def inside(x: Tensor) -> Tensor:
        if not found:
            found.extend(in_threads(lambda: nv.check(torch.relu, (4, 6), timeout=0.01), number=1, times=1))
        return F.layer_norm(x, (6,))

    assert nv.check(inside, (4, 6), "LayerNorm(6)")
    assert "the check ended after 0.01 s without a result, before call 1" in str(found[0])


def test_a_long_check_needs_no_console(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    fn = clock.slow
    monkeypatch.setattr(sys, "stderr", None)
    assert nv.check(lambda x: fn(x), (4, 6), "LayerNorm(6)")


def test_a_long_check_shows_how_often_it_has_called_the_function(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    fn = clock.slow
    for stream, shows in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        nv.check(lambda x: fn(x), (4, 6), "LayerNorm(6)")
        assert ("calls of the function" in stream.getvalue()) == shows
