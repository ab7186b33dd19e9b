"""The steps of the forward pass: rows of two elements by hand, then every layer against torch's output."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, reject

from normviz import explain
from normviz.analysis.excerpt import steps, whole_formula
from normviz.analysis.forward import Values, run_module
from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError
from tests.analysis.gradient_cases import CATALOGUE, numbered
from tests.support.strategies import explained, layers_that_fit, norms

TWO = torch.tensor([[1.0, 5.0]])
GAMMA, BETA = torch.tensor([10.0, 10.0]), torch.tensor([0.0, 1.0])

# x is (1, 5): mean 3, deviations -2 and 2, squares 4 and 4, variance 4, and with eps = 12, sigma 4.
LAYER = """
x          | x                  | the input                     | 1 5
mean       | mean               | mean = (1/m) Σ x              | 3
centered   | centered           | x − mean                      | -2 2
squared    | squared            | (x − mean)²                   | 4 4
var        | variance           | var = (1/m) Σ (x − mean)²     | 4
normalized | normalized         | (x − mean) / √(var + eps)     | -0.5 0.5
output     | scaled and shifted | normalized · gamma + beta     | -5 6
"""

# Without centering: squares 1 and 25, their mean 13, and with eps = 12, sigma 5.
RMS = """
x          | x                  | the input                     | 1 5
squared    | squared            | x²                            | 1 25
var        | mean square        | (1/m) Σ x²                    | 13
normalized | normalized         | x / √(mean of x² + eps)       | 0.2 1
output     | scaled             | normalized · gamma            | 2 10
"""

# In eval mode, with running means 3 and 1 and running variances 4: nothing is computed from x.
EVAL = """
x          | x                  | the input                     | 1 5
mean       | running mean       | mean = running_mean           | 3 1
centered   | centered           | x − mean                      | -2 4
var        | running variance   | var = running_var             | 4 4
normalized | normalized         | (x − mean) / √(var + eps)     | -0.5 1
output     | scaled and shifted | normalized · gamma + beta     | -5 11
"""

BY_HAND = [
    ("LayerNorm(2, eps=12)", Values(GAMMA, BETA), LAYER),
    ("RMSNorm(2, eps=12)", Values(GAMMA), RMS),
    ("BatchNorm1d(2, eps=12).eval()", Values(GAMMA, BETA, torch.tensor([3.0, 1.0]), torch.tensor([4.0, 4.0])), EVAL),
]


@pytest.mark.parametrize(("layer", "held", "table"), BY_HAND)
def test_the_steps_of_two_elements(layer, held, table):
    found = steps(replace(explain(layer, TWO), values=held))
    wanted = [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]
    assert [[step.key, step.title, step.formula] for step in found] == [line[:3] for line in wanted]
    for step, (*_, numbers) in zip(found, wanted, strict=True):
        assert step.values.flatten().tolist() == pytest.approx([float(number) for number in numbers.split()]), step.key


TOKENS = [
    # layer, the whole formula; then the highlighted part of it in each step
    ("LayerNorm(2)", "y = (x − mean) / √(var + eps) · gamma + beta", {
        "x": "x", "mean": "mean", "centered": "(x − mean)", "squared": "(x − mean)", "var": "var",
        "normalized": "(x − mean) / √(var + eps)", "output": "y = (x − mean) / √(var + eps) · gamma + beta",
    }),
    ("RMSNorm(2)", "y = x / √(mean of x² + eps) · gamma", {
        "x": "x", "squared": "x", "var": "mean of x²", "normalized": "x / √(mean of x² + eps)",
        "output": "y = x / √(mean of x² + eps) · gamma",
    }),
    ("LayerNorm(2, bias=False)", "y = (x − mean) / √(var + eps) · gamma", {"output": "y = (x − mean) / √(var + eps) · gamma"}),
    ("LayerNorm(2, elementwise_affine=False)", "y = (x − mean) / √(var + eps)", {"normalized": "(x − mean) / √(var + eps)"}),
    ("BatchNorm1d(2).eval()", "y = (x − mean) / √(var + eps) · gamma + beta", {"mean": "mean", "var": "var"}),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "whole", "lit"), TOKENS)
def test_each_step_has_its_part_of_the_formula(layer, whole, lit):
    e = explain(layer, torch.ones(3, 2))
    tokens = whole_formula(e)
    assert "".join(token.text for token in tokens) == whole
    assert all(token.symbol in token.text for token in tokens)
    for key, wanted in lit.items():
        assert "".join(token.text for token in tokens if key in token.steps).strip() == wanted, key
    found = {step.key for step in steps(e)}
    assert set(lit) <= found
    assert all(any(key in token.steps for token in tokens) for key in found)


def test_only_the_last_step_marks_parameter_groups():
    found = steps(explain("LayerNorm(2)", TWO))
    assert [step.links for step in found] == ["stats"] * 6 + ["params"]


# x is ((1, 5), (1, 1)); with eps = 12. By rows: means 3 and 1, variances 4 and 0. By columns: means 1 and 3, variances 0 and 4.
# The mean squares of the rows are 13 and 1.
SENTENCES = [
    # layer, step, what its sentence says
    ("LayerNorm(2, eps=12)", "x", "the color of a cell shows its value. Select an element: those that share a mean and a variance with it"),
    ("RMSNorm(2, eps=12)", "x", "those that share a mean square with it"),
    ("BatchNorm1d(2, eps=12).eval()", "x", "those that share a running mean and a running variance with it"),
    ("LayerNorm(2, eps=12)", "squared", "deviations in both directions"),
    ("RMSNorm(2, eps=12)", "squared", "negative and positive values count alike"),
    ("LayerNorm(2, eps=12)", "centered", "the mean of its group"),
    ("BatchNorm1d(2, eps=12).eval()", "centered", "the running mean that it uses"),
    ("LayerNorm(2, eps=12)", "normalized", "mean 0 and variance var / (var + eps): 0 to 0.25."),
    ("BatchNorm1d(2, eps=12)", "normalized", "mean 0 and variance var / (var + eps): 0 to 0.25."),
    ("RMSNorm(2, eps=12)", "normalized", "ms / (ms + eps): 0.0769231 to 0.52. No mean was subtracted"),
    ("BatchNorm1d(2, eps=3).eval()", "normalized", "means of 0.5 to 1.5 and variances of 0 to 1, in general not 0 and 1."),
    ("BatchNorm1d(2, eps=12)", "output", "The groups stay the same"),
    ("LayerNorm(2, eps=12)", "output", "The groups change: each now has the elements that share a gamma and a beta."),
    ("RMSNorm(2, eps=12)", "output", "The groups change: each now has the elements that share a gamma. Every gamma is 1, as in a new layer"),
    (Norm("n d -> n", "n d"), "output", "Each group splits: every element has a gamma and a beta of its own."),
    (Norm("n d -> ", "d"), "output", "Each group splits: only some of its elements share a gamma and a beta."),
    (Norm("n d -> n d", "d"), "output", "Groups merge"),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "key", "said"), SENTENCES)
def test_the_sentence_of_a_step_holds_for_its_layer(layer, key, said):
    (step,) = (step for step in steps(explain(layer, torch.tensor([[1.0, 5.0], [1.0, 1.0]]))) if step.key == key)
    assert said in step.why


def test_in_a_batch_of_one_no_two_elements_share_a_gamma():
    assert steps(explain("LayerNorm(2)", TWO))[-1].why.startswith("Each group splits: every element has a gamma")


def test_the_last_step_says_whether_gamma_and_beta_change_anything():
    e = explain("LayerNorm(2)", TWO)
    assert "Every gamma is 1 and every beta is 0, as in a new layer, so no value changes yet." in steps(e)[-1].why
    for held in (Values(GAMMA, 0 * BETA), Values(GAMMA / 10, BETA)):
        assert "no value changes" not in steps(replace(e, values=held))[-1].why


WITHOUT = [
    ("RMSNorm(2)", {"mean", "centered"}),
    ("LayerNorm(2, elementwise_affine=False)", {"output"}),
    ("BatchNorm1d(2).eval()", {"squared"}),
    ("BatchNorm1d(2, affine=False).eval()", {"squared", "output"}),
    (Norm("n d -> n", center=False), {"mean", "centered", "output"}),
    (Norm("n d -> n"), {"output"}),
]


@pytest.mark.parametrize(("layer", "missing"), WITHOUT)
def test_a_layer_has_the_steps_that_it_needs(layer, missing):
    found = [step.key for step in steps(explain(layer, torch.ones(3, 2)))]
    assert set(found) == {"x", "mean", "centered", "squared", "var", "normalized", "output"} - missing
    assert len(found) == len(set(found))


@pytest.mark.parametrize(("layer", "shape"), CATALOGUE)
def test_the_last_step_is_the_output_of_every_layer(layer, shape):
    e = numbered(layer, shape)
    found = {step.key: step.values for step in steps(e)}
    assert torch.equal(found["x"], e.x)
    last = list(found.values())[-1]
    torch.testing.assert_close(last, e.trace.output)
    if e.layer is not None and e.layer.kind.module:
        torch.testing.assert_close(last, run_module(e.layer, e.x, e.layer_values()))
    if "squared" in found:
        torch.testing.assert_close(found["squared"], (found.get("centered", e.x)).square())
    for key in ("mean", "var"):
        if key in found and not e.norm.running:
            values = found["x" if key == "mean" else "squared"]
            for group in range(e.counts.statistics):
                inside = torch.tensor(e.stat_ids == group)
                torch.testing.assert_close(found[key].expand(shape)[inside], values[inside].mean().expand(inside.sum()))


@given(layers_that_fit() | norms() | norms(running=True))
def test_every_step_of_every_layer_broadcasts_over_x_and_says_why(drawn):
    layer, shape = drawn
    try:
        e = explained(layer, shape, 0)
        found = steps(e)
    except NormvizError:  # one value has no spread; running statistics come with a module
        reject()
    for step in found:
        assert torch.broadcast_shapes(step.values.shape, shape) == torch.Size(shape)
        assert step.title
        assert step.formula
        assert step.why.endswith(".")


def test_a_shape_alone_has_no_steps():
    with pytest.raises(NormvizError, match="shape"):
        steps(explain("LayerNorm(3)", (2, 3)))
