"""A change of a control computes each value once."""

import sys
import threading
from collections import Counter
from collections.abc import Callable
from inspect import unwrap
from types import FrameType
from typing import Any

import pytest
from torch import Tensor, nn

from normviz.analysis.description import describe
from normviz.analysis.forward import forward
from normviz.layers.axes import _parse_layout
from normviz.layers.layer import Layer, _parse
from normviz.lessons.page import Page
from normviz.scene.grid import _grid
from normviz.scene.scene import Scene
from tests.support.driver import open_explore, open_more, send_event, set_control
from tests.support.pages import open_page

FUNCTIONS: dict[str, list[Callable[..., Any]]] = {
    "Scene": [Scene.__post_init__],
    "grid": [_grid],
    "parse_layout": [_parse_layout],
    "parse_layer": [_parse],
    "describe": [describe],
    "input_rows": [Page.input_rows],
    "forward": [
        forward,
        *(kind.forward for kind in (nn.BatchNorm2d, nn.InstanceNorm2d, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm)),
    ],
}
CODES = {
    unwrap(function).__code__: name for name, functions in FUNCTIONS.items() for function in functions
}  # the function below its cache, if any


def count_calls(action: Callable[[], Any]) -> Counter[tuple[str, str]]:
    """Count the calls of each function by its arguments, in all threads that ``action`` starts."""
    calls: Counter[tuple[str, str]] = Counter()

    def count(frame: FrameType, event: str, _arg: Any) -> None:
        name = CODES.get(frame.f_code) if event == "call" else None
        if name is not None:
            code = frame.f_code
            arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            calls[name, str([written(frame.f_locals[argument]) for argument in arguments])] += 1

    threading.setprofile(count)
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def written(value: Any) -> str:
    """The ``repr``; of a tensor all numbers, its dtype and requires_grad, and of a module its mode and buffers."""
    if isinstance(value, Tensor):
        return f"{value.tolist()} {value.dtype} requires_grad={value.requires_grad}"
    if isinstance(value, nn.Module):
        buffers = {name: written(buffer) for name, buffer in value.named_buffers()}
        return f"{value} training={value.training} {buffers}"
    return repr(value)


def assert_computed_once(calls: Counter[tuple[str, str]], *names: str) -> None:
    assert {name for name, _ in calls} >= set(names)
    assert {call: count for call, count in calls.items() if count > 1} == {}


def test_a_size_change_makes_one_scene():
    app = open_explore("shape=2,11,3,5&layer=BatchNorm2d(11)")
    calls = count_calls(lambda: set_control(app, "size_c", 13))
    assert_computed_once(calls, "Scene", "grid", "describe")
    assert sum(name == "Scene" for name, _ in calls) == 1
    assert sum(name == "describe" for name, _ in calls) == 1


@pytest.mark.parametrize(
    ("name", "link", "also"),
    [
        ("step_by_step", "shape=2,11,3,5&layer=GroupNorm(1,11)", ["forward"]),
        ("gradients", "shape=2,11,3,6&layer=InstanceNorm2d(11)", ["forward"]),
        ("gradients", "shape=2,11,3,7&layer=ChannelsFirstLayerNorm(11)", ["forward"]),
        ("gradients", "show=backward&shape=2,11,3,9&layer=BatchNorm2d(11)", ["forward"]),
        ("compare", "shape=2,11,3,8", []),
    ],
)
def test_a_size_change_computes_nothing_twice(name, link, also):
    app = open_page(name, link)
    if name == "gradients":  # its sizes are behind More
        open_more(app)
    calls = count_calls(lambda: set_control(app, "size_h", 17))
    assert_computed_once(calls, "Scene", "grid", "describe", "input_rows", *also)


@pytest.mark.parametrize(
    "link",
    [
        "shape=4,11,3,5&layer=BatchNorm2d(11)",
        "shape=4,11,3,6&layer=BatchNorm2d(11,track_running_stats=False)",
        "shape=4,11,3,7&layer=InstanceNorm2d(11,track_running_stats=True)",
        "shape=4,11,3,8&layer=GroupNorm(11,11)",
        "shape=1,11,3,9&layer=BatchNorm2d(11)",
    ],
)
def test_train_and_eval_warms_up_each_layer_once(link):
    app = open_page("train_and_eval", f"show=modes&{link}")
    calls = count_calls(lambda: set_control(app, "size_h", 17))
    assert_computed_once(calls, "Scene", "grid", "describe", "input_rows", "forward")


def test_a_change_of_numerics_computes_nothing_twice():
    app = open_page("numerics", "show=eps&seed=11&dtype=float16")
    calls = count_calls(lambda: set_control(app, "set_spread", -5))
    assert_computed_once(calls, "input_rows", "forward")


def test_own_layers_are_described_once():
    app = open_page("models", "model=own&own=nn.BatchNorm2d(11) on 2,11,3,5")
    layers = "nn.BatchNorm2d(13) on 2,13,3,5; nn.LayerNorm(17) on 2,3,17"
    assert_computed_once(count_calls(lambda: set_control(app, "set_own", layers)), "describe", "input_rows")


def test_a_click_makes_one_scene_and_describes_nothing():
    app = open_explore("shape=2,11,3,7&layer=BatchNorm2d(11)")
    calls = count_calls(lambda: send_event(app, "select", {"at": [0, 1, 2, 3]}))
    assert_computed_once(calls, "Scene")
    assert {name for name, _ in calls} <= {"Scene", "grid", "input_rows"}


def test_the_counter_finds_a_value_that_is_computed_twice():
    calls = count_calls(lambda: [Scene((2, 3), "ND", Layer.parse("LayerNorm(3)")) for _ in range(2)])
    with pytest.raises(AssertionError):
        assert_computed_once(calls, "Scene")
