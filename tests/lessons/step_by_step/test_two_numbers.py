"""E[x²] − E[x]² of two numbers: what a reader drags, computed in node as torch computes it in float32."""

import pytest
import torch

from normviz.lessons.step_by_step.page import TwoNumbers
from tests.support.javascript import LESSONS, evaluate


@pytest.mark.parametrize("distance", [0, 10, 1000, 10_000, 100_000])
@pytest.mark.parametrize("numbers", [(1.0, 3.0), (-2.5, 4.0), (0.5, 0.5)])
def test_the_browser_rounds_as_torch_does(numbers, distance):
    x = torch.tensor(numbers) + distance
    found = evaluate(
        "fastVariance(args[0], args[1])", numbers, distance, entry=LESSONS / "step_by_step" / "step_by_step.ts"
    )
    assert (found["squares"], found["square"]) == (x.square().mean().item(), x.mean().square().item())
    assert found["fast"] == (x.square().mean() - x.mean().square()).item()
    assert found["exact"] == torch.var(x.double(), correction=0).item()
    assert all(found[name] % found["unit"] == 0 for name in ("squares", "square") if distance >= 1000)


def test_where_no_script_runs_the_text_has_what_torch_computes():
    _title, near, far = TwoNumbers().plain_text().splitlines()
    assert near == "1, 3: E[x²] − E[x]² = 5 − 4 = 1"
    assert far == "10,001, 10,003: E[x²] − E[x]² = 100,040,000 − 100,040,000 = 0"
