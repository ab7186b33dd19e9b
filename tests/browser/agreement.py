"""What the module writes about an element agrees with torch: its read-out line, and its arithmetic."""

import re
from math import sqrt

import pytest

from normviz.analysis.forward import run_module
from normviz.scene.scene import Scene
from tests.browser.readout import Index, Readout, number


def assert_readout(readout: Readout, scene: Scene, index: Index) -> None:
    """Assert that the read-out has the values and counts of the element."""
    e = scene.description
    near = {"rel": 1e-3, "abs": 6e-4}
    assert readout.index == index
    assert readout.value == pytest.approx(float(e.x[index]), **near)
    assert readout.others == len(e.peers(index)) == e.counts.elements_per_statistic - 1
    own = tuple(i if size > 1 else 0 for i, size in zip(index, e.trace.mean.shape, strict=True))
    assert readout.variance == pytest.approx(float(e.trace.var[own]), **near)
    assert readout.mean == (pytest.approx(float(e.trace.mean[own]), **near) if e.norm.center else None)
    assert readout.meeting == len(e.parameter_peers(index))
    if e.norm.params is None:
        assert readout.gamma == readout.beta == (None, None)
        return
    held, place = e.layer_values(), tuple(index[e.axes.index(name)] for name in e.norm.gamma_axes)
    assert readout.gamma == (place or None, pytest.approx(float(held.gamma[place]), **near))
    assert readout.beta == (
        (place or None, pytest.approx(float(held.beta[place]), **near)) if e.norm.bias else (None, None)
    )


def assert_arithmetic(lines: list[tuple[str, str, str]], scene: Scene, index: tuple[int, ...]) -> None:
    """Assert that each result is that of torch, and that each line of arithmetic is correct."""
    e = scene.description
    group = e.x[e.stat_ids == e.stat_ids[index]].double()
    mean, variance = (group.mean(), group.var(unbiased=False)) if e.norm.center else (0, group.square().mean())
    held = e.layer_values()
    if e.norm.running:
        mean, variance = (float(stat[index[1]]) for stat in (held.running_mean, held.running_var))
    expected = {
        "sum": group.sum(),
        "mean": mean,
        "squared deviations": variance * len(group),
        "squares": variance * len(group),
        "variance": variance,
        "mean square": variance,
        "deviation": e.x[index] - mean,
        "normalized": (float(e.x[index]) - mean) / (variance + e.trace.eps) ** 0.5,
        "output": run_module(e.torch_layer, e.x, held)[index],
    }
    assert {"normalized", "output"} <= {what for what, _, _ in lines}
    for what, how, result in lines:
        shown = number(result.removeprefix("="))
        assert shown == pytest.approx(float(expected[what]), rel=2e-3, abs=2e-3), what
        if not re.search("[a-z…]", how):
            largest = max(abs(number(word)) for word in re.findall(r"[\d.e]+(?:e\u2212\d+)?", how))
            assert evaluate(how) == pytest.approx(shown, rel=5e-3, abs=2e-3 * max(1, largest)), (what, how)


def evaluate(how: str) -> float:
    """The value of a line of arithmetic, which may contain only digits and signs."""
    text = how.replace("\u2212", "-").replace("²", "**2").replace("·", "*").replace(",", "")
    assert re.fullmatch(r"[\d\s.e()√*/+-]+", text), how
    return float(eval(text.replace("√", "sqrt"), {"__builtins__": {}, "sqrt": sqrt}))
