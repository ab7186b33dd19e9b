"""Which packages a fresh interpreter has loaded when a function of the library has returned."""

import json

import pytest

from tests.support.fresh import print_fresh

FIRST = """
import json, sys
import torch  # it loads packages of its own
before = set(sys.modules)
import normviz as nv
x = torch.arange(96.0).reshape(2, 3, 4, 4)
{call}
print(json.dumps(sorted(set(sys.modules) - before)))
"""
CALLS = {
    "explain a shape": "print(nv.explain('BatchNorm2d(3)', (2, 3, 4, 4)))",
    "explain a tensor": "print(nv.explain('GroupNorm(1, 3)', x).trace.mean.shape)",
    "explain a module": "print(nv.explain(torch.nn.LayerNorm([3, 4, 4]), x).code())",
    "explain a module with a forward of its own": "print(nv.explain(type('Own', (torch.nn.BatchNorm2d,), {'forward': lambda self, x: torch.nn.functional.rms_norm(x, [4])})(3), x))",
    "check": "print(nv.check(lambda x: x - x.mean(0), (4, 6), like='LayerNorm(6)'))",
    "check gradients": "print(nv.check(torch.nn.BatchNorm2d(3), x, like='BatchNorm2d(3)'))",
    "norms": "print(nv.norms(torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8)), x).summary)",
}
SLOW = {"plotly", "einops", "markdown_it", "yaml", "tqdm", "streamlit", "sympy"}
OWN = {"normviz.lessons", "normviz.figures", "normviz.export.output"}  # the pages take as long as the packages


COLLECTOR = "import gc, json; gc.{}(); from normviz import explain; print(json.dumps([gc.isenabled()]))"
DEVICE = """
import json, sys, torch
import normviz as nv
with torch.device("meta"):
    nv.{}
print(json.dumps(sorted(sys.modules)))
"""
PROGRAMS = {
    **{name: FIRST.format(call=call) for name, call in CALLS.items()},
    "a page": FIRST.format(call="nv.explain('BatchNorm2d(3)', x).to_html()"),
    **{name: COLLECTOR.format(name) for name in ("enable", "disable")},
    **{f"{name} on meta": DEVICE.format(name) for name in ("norms", "explore", "practice")},
}


@pytest.fixture(scope="module")
def loaded() -> dict[str, set[object]]:
    """What each program prints in its last line."""
    printed = print_fresh([*PROGRAMS.values()])
    return {name: set(json.loads(text.splitlines()[-1])) for name, text in zip(PROGRAMS, printed, strict=True)}


@pytest.mark.parametrize("name", CALLS)
def test_what_needs_no_page_loads_neither_pages_nor_what_they_are_drawn_with(loaded, name: str) -> None:
    assert {str(module).partition(".")[0] for module in loaded[name]} & SLOW == set()
    assert "normviz.analysis.forward" in loaded[name]
    assert loaded[name] & OWN == set()


@pytest.mark.parametrize("set_to", ["enable", "disable"])
def test_the_garbage_collector_is_as_before_after_an_import(loaded, set_to: str) -> None:
    assert loaded[set_to] == {set_to == "enable"}


def test_a_page_loads_what_it_is_drawn_with(loaded) -> None:
    assert {"plotly", "markdown_it", "normviz.lessons"} <= loaded["a page"]


@pytest.mark.parametrize("name", ["norms", "explore", "practice"])
def test_a_first_use_with_another_default_device(loaded, name: str) -> None:
    assert loaded[f"{name} on meta"] & {"normviz.measuring.models.norms", "normviz.lessons"}
