"""Which packages a fresh interpreter has loaded when a function of the library has returned."""

import json
import subprocess
import sys

import pytest

from normviz.ui import ROOT

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


def loaded_after(program: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_needs_no_page_loads_neither_pages_nor_what_they_are_drawn_with(call: str) -> None:
    modules = loaded_after(FIRST.format(call=call))
    assert {name.partition(".")[0] for name in modules} & SLOW == set()
    assert "normviz.analysis.forward" in modules
    assert modules & OWN == set()


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_as_before_after_an_import(enabled: bool) -> None:
    modules = loaded_after(
        f"import gc, json; gc.{'enable' if enabled else 'disable'}(); from normviz import explain; print(json.dumps([gc.isenabled()]))"
    )
    assert modules == {enabled}


def test_a_page_loads_what_it_is_drawn_with() -> None:
    modules = loaded_after(FIRST.format(call="nv.explain('BatchNorm2d(3)', x).to_html()"))
    assert {"plotly", "markdown_it", "normviz.lessons"} <= modules


@pytest.mark.parametrize("name", ["norms", "explore", "practice"])
def test_a_first_use_with_another_default_device(name: str) -> None:
    modules = loaded_after(
        f"""
import json, sys, torch
import normviz as nv
with torch.device("meta"):
    nv.{name}
print(json.dumps(sorted(sys.modules)))
"""
    )
    assert "normviz.measuring.models.norms" in modules or "normviz.lessons" in modules
