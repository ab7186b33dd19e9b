"""The page Gradients: two elements by hand, then compared with torch's autograd."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from normviz import explain
from normviz.analysis.closed_form import (
    autograd_backward,
    backward_terms,
    gradient_differences,
    parameter_sum,
    upstream,
)
from normviz.analysis.forward import forward
from normviz.lessons.gradients import page as gradients
from normviz.lessons.pages import PAGES
from normviz.parts.part import Panels, Text
from normviz.texts.errors import NormvizError
from normviz.texts.messages import format_difference, format_number
from tests.analysis.gradient_cases import CATALOGUE, numbered
from tests.browser.readout import number
from tests.support.needs import cases_in_torch
from tests.support.scenes import scene

# x is (1, 5): sigma 4 with eps = 12, xhat -1/2 and 1/2, m = 2. Of the first column, the bracket is 1 - 1/2 - 1/8 and 0 - 1/2 + 1/8.
TWO = torch.tensor([[1.0, 5.0]])
BY_HAND = [
    # layer, the terms of the column of x[0, 0] by panel, the formula
    ("LayerNorm(2, eps=12)", {"autograd": [3 / 32, -3 / 32], "mean": [-1 / 2, -1 / 2], "var": [-1 / 8, 1 / 8]},
     "∂yᵢ/∂xⱼ = γᵢ/σ · (δᵢⱼ − 1/m − x̂ᵢ x̂ⱼ/m), with σ = **4** and m = **2**."),
    ("LayerNorm(2, eps=12, elementwise_affine=False)", {"autograd": [3 / 32, -3 / 32], "mean": [-1 / 2, -1 / 2], "var": [-1 / 8, 1 / 8]},
     "∂yᵢ/∂xⱼ = 1/σ · (δᵢⱼ − 1/m − x̂ᵢ x̂ⱼ/m), with σ = **4** and m = **2**."),
    # xhat 1/5 and 1, sigma 5: 1 - 1/50 and -1/10
    ("RMSNorm(2, eps=12)", {"autograd": [49 / 250, -1 / 50], "var": [-1 / 50, -1 / 10]},
     "∂yᵢ/∂xⱼ = γᵢ/σ · (δᵢⱼ − x̂ᵢ x̂ⱼ/m), with σ = **5** and m = **2**."),
    # running mean 0 and variance 1
    ("BatchNorm1d(2, eps=3).eval()", {"autograd": [1 / 2, 0]},
     "∂yᵢ/∂xⱼ = γᵢ/σ · (δᵢⱼ), with σ = **2** and m = **1**."),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "terms", "formula"), BY_HAND)
def test_the_column_of_one_of_two_elements(layer, terms, formula):
    e = explain(layer, TWO)
    form, moved = gradients.column(e, (0, 0))
    panels = {panel.key: panel for panel in gradients.column_panels(form)}
    assert list(panels) == list(terms)
    assert "var" not in terms or panels["var"].title == (
        "through the variance" if "mean" in terms else "through the mean of x²"
    )
    for key, wanted in terms.items():
        assert panels[key].values.tolist() == [pytest.approx(wanted, abs=1e-12)], key
        assert panels[key].links == "stats"
    most = max(abs(others) for _own, others in terms.values())
    assert [panel.most for panel in panels.values()] == [pytest.approx(most) if most else None] * len(terms)
    own = abs(terms["autograd"][0])
    assert panels["autograd"].caption.endswith("off the color scale") == (0 < most < own)
    lines = list(gradients.column_texts(e, form, moved))
    assert lines[0].startswith(formula)
    closed, nudged = (number(text) for text in re.findall(r"\*\*(\S+)\*\*", lines[0])[2:])
    assert closed < 1e-12
    assert nudged < 1e-5


def test_the_identity_is_a_line_of_text_that_its_name_hides():
    page = PAGES["gradients"]
    said = "The identity, δᵢⱼ, is **1** for the output at x's own place and **0** for the **119** others."
    for hidden, shows in (("", True), ("itself", False), ("all", False), ("text", True)):
        parts = page.visible(page.view(f"shape=2,4,3,5&layer=LayerNorm(5)&hide={hidden}"))
        assert (said in [part.text for part in parts if isinstance(part, Text)]) == shows, hidden


def test_the_controls_are_one_row_and_the_values_of_x_are_behind_more():
    page = PAGES["gradients"]
    view = page.view("shape=2,4,3,5&layer=LayerNorm([4,3,5])")
    row, *others = [row for row in page.input_rows(view) if row.all_inputs]
    assert not others
    assert [one.key for one in row.inputs] == ["show", "layer", "depth"]
    behind = [one.key for column in row.more for one in column]
    assert {"layout", "size_n", "size_c", "size_h", "size_w", "data", "seed", "input", "eps"} <= set(behind)
    assert page.summary(view) == "LayerNorm([4, 3, 5]) on (2, 4, 3, 5)"
    assert page.whole_query(view).keys() >= {"shape", "layer", "data", "seed", "at", "show", "input"}


SENTENCES = [
    ("LayerNorm(2)", [[1.0, 5.0], [2.0, 3.0]], (0, 1), "**2** of **4** derivatives with respect to x[0, 1] are not 0, all in its statistics group of **2**. The **2** derivatives outside are exactly 0. Inside the group, **2** of **2** are nearly 0: they would vanish without eps and rounding. Moving x[0, 1] by 1, which is not tiny, changes **2** outputs."),
    ("LayerNorm(2, eps=12)", [[1.0, 5.0], [2.0, 3.0]], (0, 1), "**2** of **4** derivatives with respect to x[0, 1] are not 0, all in its statistics group of **2**. The **2** derivatives outside are exactly 0."),
    ("BatchNorm1d(2, eps=12)", [[1.0, 5.0], [2.0, 3.0]], (1, 0), "**2** of **4** derivatives with respect to x[1, 0] are not 0, all in its statistics group of **2**. The **2** derivatives outside are exactly 0."),
    ("RMSNorm(3, eps=1)", [[0.0, 2.0, 1.0]], (0, 0), "**1** of **3** derivatives with respect to x[0, 0] is not 0, in its statistics group of **3**. Inside the group, **2** of **3** are 0 too. Moving x[0, 0] by 1, which is not tiny, changes **3** outputs."),
    ("RMSNorm(4)", [[0.0, 0.0, 0.0, 4.0], [0.0, 0.0, 0.0, 4.0]], (0, 0), "**1** of **8** derivatives with respect to x[0, 0] is not 0, in its statistics group of **4**. The **4** derivatives outside are exactly 0. Inside the group, **3** of **4** are 0 too. Moving x[0, 0] by 1, which is not tiny, changes **2** outputs."),
    ("LayerNorm(4, eps=0.0)", [[-1.0, 1.0, -1.0, 1.0], [-1.0, 1.0, -1.0, 1.0]], (0, 0), "**2** of **8** derivatives with respect to x[0, 0] are not 0, all in its statistics group of **4**. The **4** derivatives outside are exactly 0. Inside the group, **2** of **4** are 0 too. Moving x[0, 0] by 1, which is not tiny, changes **4** outputs."),
    ("BatchNorm1d(1).eval()", [[1.0], [5.0], [3.0]], (0, 0), "**1** of **3** derivatives with respect to x[0, 0] is not 0, in its statistics group of **3**. Inside the group, **2** of **3** are 0 too."),
    ("LayerNorm(1)", [[1.0], [5.0]], (0, 0), "The derivatives of all **2** outputs with respect to x[0, 0] are 0."),
    ("LayerNorm(1)", [[3.0]], (0, 0), "The derivative of the only output with respect to x[0, 0] is 0."),
    ("LayerNorm(1, eps=0)", [[1.0], [5.0]], (0, 0), "**2** of **2** derivatives are NaN."),
    ("BatchNorm1d(1)", [[1.0], [5.0], [3.0]], (0, 0), "**3** of **3** derivatives with respect to x[0, 0] are not 0, all in its statistics group of **3**."),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "x", "at", "said"), SENTENCES)
def test_the_sentence_counts_the_derivatives_that_are_not_0(layer, x, at, said):
    e = explain(layer, torch.tensor(x))
    assert gradients.column_sentence(e, at, gradients.column(e, at)[0]) == said


WHEN = [
    ("LayerNorm(2)", "A derivative inside the group vanishes if x̂ᵢ x̂ⱼ = −1; x's own vanishes if x̂ⱼ² = m − 1."),
    ("RMSNorm(2)", "A derivative inside the group vanishes if x̂ᵢ x̂ⱼ = 0; x's own vanishes if x̂ⱼ² = m."),
    ("BatchNorm1d(2).eval()", "All derivatives except x's own vanish: running statistics do not move with x."),
]


@pytest.mark.parametrize(("layer", "said"), WHEN)
def test_the_condition_under_which_a_derivative_vanishes(layer, said):
    e = explain(layer, TWO)
    form, moved = gradients.column(e, (0, 0))
    assert list(gradients.column_texts(e, form, moved))[1:] == [said]


@pytest.mark.parametrize(("layer", "shape"), CATALOGUE)
def test_for_every_layer_the_terms_add_up_to_autograd_s_derivatives(layer, shape):
    e = numbered(layer, shape)
    at = tuple(size - 1 for size in shape)
    form, _ = gradients.column(e, at)
    panels = {panel.key: panel.values for panel in gradients.column_panels(form)}
    total, identity = panels.pop("autograd"), torch.zeros(shape, dtype=torch.float64)
    identity[at] = 1
    torch.testing.assert_close(form.factor * sum([identity, *panels.values()]), total)
    inside = torch.tensor(e.stat_ids == e.stat_ids[at])
    assert not total[~inside].any()
    assert ("mean" in panels) == (e.norm.center and not e.norm.running)
    assert ("var" in panels) == (not e.norm.running)
    sentence = gradients.column_sentence(e, at, form)
    moving = int((total != 0).sum())
    said = (
        f"**{moving}** of **{total.numel()}** derivatives with respect to x["
        if moving
        else f"all **{total.numel()}** outputs with"
    )
    assert said in sentence


# The whole Jacobian


def test_the_matrix_of_two_elements():
    values, difference = gradients.whole_matrix(explain("LayerNorm(2, eps=12)", TWO))
    assert values.tolist() == [pytest.approx(row) for row in ([3 / 32, -3 / 32], [-3 / 32, 3 / 32])]
    assert gradients.off_diagonal(values) == pytest.approx(3 / 32)
    assert gradients.matrix_sentence(values, difference) == (
        f"**0** of **4** derivatives are exactly 0. Largest difference of the closed form from autograd: **{format_difference(difference)}**."
    )
    assert difference < 1e-12


def test_the_matrix_is_drawn_as_a_tensor_of_the_axes_i_and_j():
    figure = next(
        part for part in gradients.PAGE.parts(gradients.PAGE.view("shape=1,2&show=matrix")) if isinstance(part, Panels)
    )
    assert (figure.data.grid.axes, figure.data.grid.shape) == (("i", "j"), (2, 2))


def test_in_eval_mode_only_the_diagonal_is_left():
    values, difference = gradients.whole_matrix(explain("BatchNorm1d(2, eps=3).eval()", TWO))
    assert values.tolist() == [[0.5, 0], [0, 0.5]]
    assert gradients.off_diagonal(values) is None
    assert gradients.matrix_sentence(values, difference).startswith(
        "**2** of **4** derivatives are exactly 0. Only the diagonal is left: the derivative of each output by any other input is 0. Largest"
    )


def test_derivatives_that_are_nan_do_not_set_the_colors():
    e = explain("LayerNorm(3, eps=0)", torch.tensor([[1.0, 1.0, 1.0], [1.0, 2.0, 4.0]]))
    values, _ = gradients.whole_matrix(e)
    assert values.isnan().any()
    assert gradients.off_diagonal(values) == float(values[3:, 3:].fill_diagonal_(0).abs().max())
    constant = gradients.column(e, (0, 0))[0]
    assert next(gradients.column_panels(constant)).most == pytest.approx(1 / 3)  # of the term through the mean


# gamma and beta


def test_the_terms_that_are_summed_into_the_gamma_of_an_element():
    e = explain("LayerNorm(2, eps=12)", torch.tensor([[1.0, 5.0], [5.0, 1.0], [3.0, 3.0]]))
    found, panels = gradients.parameter_panels(e, (1, 0), seed=3)
    dout = upstream((3, 2), 3)
    assert [panel.key for panel in panels] == ["dout", "for_gamma", "for_beta"]
    assert torch.equal(panels[0].values, dout)
    gamma = -0.5 * dout[0, 0] + 0.5 * dout[1, 0]  # xhat is -1/2, 1/2 and 0 down the first column
    assert panels[1].values.sum() == pytest.approx(float(gamma), abs=1e-12)
    assert panels[2].values.sum() == pytest.approx(float(dout[:, 0].sum()), abs=1e-12)
    assert not panels[1].values[:, 1].any()
    assert gradients.parameter_sentence(found) == (
        f"**3** elements use this gamma, and their terms are summed: dgamma = **{format_number(float(gamma))}**, dbeta = **{format_number(float(dout[:, 0].sum()))}**."
    )


def test_without_beta_there_is_no_dbeta():
    e = explain("RMSNorm(2)", TWO)
    found, panels = gradients.parameter_panels(e, (0, 0), seed=0)
    assert [panel.key for panel in panels] == ["dout", "for_gamma"]
    assert "dbeta" not in gradients.parameter_sentence(found)


@pytest.mark.parametrize(("layer", "shape"), [case for case in CATALOGUE if numbered(*case).norm.params is not None])
def test_the_sums_equal_autograd_s_gradients(layer, shape):
    e = numbered(layer, shape)
    at = (0,) * len(shape)
    found, _ = gradients.parameter_panels(e, at, seed=1)
    theirs = autograd_backward(e, upstream(shape, 1))
    torch.testing.assert_close(torch.tensor(found.dgamma).double(), theirs.dgamma.flatten()[int(e.param_ids[at])])
    assert int(found.elements.sum()) == len(e.parameter_peers(at)) + 1
    assert parameter_sum(e, at, upstream(shape, 1)).dgamma == found.dgamma


# The backward pass


TERMS = [
    # x is (1, 5) with dout (2, 1), gamma (1, 3) and sigma 4: dxhat (2, 3), mean 5/2, mean(dxhat xhat) = (-1 + 3/2) / 2 = 1/4
    ("LayerNorm(2, eps=12)", {"dxhat_mean": [5 / 2, 5 / 2], "along_xhat": [-1 / 8, 1 / 8], "dx": [-3 / 32, 3 / 32]},
     "dx[0, 0] = (2 − 2.5 − (−0.125)) / 4 = **−0.09375**", "`dx = (dxhat − mean(dxhat) − xhat · mean(dxhat · xhat)) / σ`, with `dxhat = dout · gamma` and `σ = √(var + eps)`. The means"),
    # xhat 1/5 and 1, sigma 5: mean(dxhat xhat) = (2/5 + 3) / 2 = 17/10
    ("RMSNorm(2, eps=12)", {"along_xhat": [17 / 50, 17 / 10], "dx": [83 / 250, 13 / 50]},
     "dx[0, 0] = (2 − 0.34) / 5 = **0.332**", "`dx = (dxhat − xhat · mean(dxhat · xhat)) / σ`, with `dxhat = dout · gamma` and `σ = √(mean of x² + eps)`. The means"),
    ("BatchNorm1d(2, eps=3).eval()", {"dx": [1, 3 / 2]}, "dx[0, 0] = 2 / 2 = **1**", "`dx = dxhat / σ`, with `dxhat = dout · gamma` and `σ = √(running_var + eps)`."),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "terms", "said", "formula"), TERMS)
def test_the_backward_pass_of_two_elements_follows_the_layer(layer, terms, said, formula):
    dout = torch.tensor([[2.0, 1.0]], dtype=torch.float64)
    e = explain(layer, TWO)
    e = replace(e, values=replace(e.layer_values(), gamma=torch.tensor([1.0, 3.0])))
    steps = backward_terms(e, dout)
    panels = {panel.key: panel.values for panel in gradients.backward_panels(dout, steps)}
    assert list(panels) == ["dout", *terms]
    for key, wanted in terms.items():
        assert panels[key].tolist() == [pytest.approx(wanted, abs=1e-12)], key
    assert gradients.backward_sentence(steps, (0, 0)) == said
    text = next(gradients.backward_texts(e, dout, steps))
    assert text.startswith(formula)
    assert ("means" in text) == ("mean(" in formula)
    assert formula.partition("σ = ")[2].partition("`")[0] in gradients.symbols(e)


@pytest.mark.parametrize(("layer", "shape"), CATALOGUE)
def test_the_backward_pass_of_every_layer_agrees_with_autograd(layer, shape):
    e = numbered(layer, shape)
    dout = upstream(shape, 0)
    terms = backward_terms(e, dout)
    torch.testing.assert_close(terms.dx, autograd_backward(e, dout).dx)
    differences = gradient_differences(terms, autograd_backward(e, dout))
    assert list(differences) == [
        "dx",
        *(["dgamma"] if e.norm.params is not None else []),
        *(["dbeta"] if e.norm.bias else []),
    ]
    assert all(difference < 1e-9 for difference in differences.values())
    text = list(gradients.backward_texts(e, dout, terms))[-1]
    assert all(f"{name} **" in text for name in differences)


# Which input


def test_the_input_is_x_or_one_at_which_derivatives_vanish():
    on = scene("shape=2,4&layer=LayerNorm(4)&params=random")
    assert gradients.on_input(on.description, "x") is on.description
    outlier, signs = (gradients.on_input(on.description, given) for given in ("outlier", "signs"))
    assert outlier.x.tolist() == [[0, 0, 0, 4]] * 2
    assert signs.x.tolist() == [[-1, 1, -1, 1]] * 2
    for e in (outlier, signs):
        assert torch.equal(e.layer_values().gamma, on.description.layer_values().gamma)
        assert "would vanish without eps and rounding." in gradients.column_sentence(
            e, (0, 3), gradients.column(e, (0, 3))[0]
        )
    sentence = gradients.column_sentence(outlier, (0, 3), gradients.column(outlier, (0, 3))[0])
    assert "Inside the group, **4** of **4** are nearly 0" in sentence


REFUSED = [
    ("shape=65537", "x", "up to 65,536 elements; make the tensor smaller."),
    ("shape=100000,100000", "outlier", "up to 65,536 elements; make the tensor smaller."),
    ("shape=2,3", "signs", "needs groups of an even size"),
    ("shape=2,4&layer=RMSNorm(4)", "signs", "needs a layer that subtracts the mean"),
]


@cases_in_torch
@pytest.mark.parametrize(("link", "given", "words"), REFUSED)
def test_inputs_that_are_refused(link, given, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        gradients.on_input(scene(link).description, given)


LARGE = [  # whose layer torch has, and another; each with the group of its element
    ("shape=8,197,768&layer=LayerNorm(768)&at=7,0,767", 768),
    ("shape=32,64,32,33&layer=InstanceNorm2d(64)&at=31,63,0,32", 1056),
    ("shape=8,512,513&layer=Norm('n l c -> n l','c',center=False,bias=False)&at=7,0,512", 513),
]


@cases_in_torch
@pytest.mark.parametrize(("link", "group"), LARGE)
def test_of_a_large_tensor_the_groups_that_are_drawn_have_the_whole_column(link, group):
    on = scene(link)
    e, at = on.description, on.at
    near = gradients.near(e, on.grid, at)
    form, moved = gradients.column(near.layer, near.at)
    assert moved.difference < 1e-6
    assert form.difference < 1e-12
    assert near.layer.x.numel() < 2**16
    whole = replace(e, x=e.on_demand["x"].whole().double(), on_demand={}, values=None)
    x = whole.x.requires_grad_()
    y = forward(whole.norm, x, whole.layer_values()).output
    for other in (
        at,
        (*at[:-1], 0),
        tuple(0 for _size in at),
    ):  # the row of the Jacobian of one output has the same entry
        (row,) = torch.autograd.grad(y[other], x, retain_graph=True)
        drawn = near.take(form.autograd)[on.grid.place(other)]
        assert float(drawn) == pytest.approx(float(row[at]), rel=1e-5, abs=1e-9)
    sentence = gradients.column_sentence(near.layer, near.at, form, e.shape, at)
    total = x.numel()
    moving = int((form.autograd != 0).sum())
    assert sentence.startswith(
        f"**{moving:,}** of **{total:,}** derivatives with respect to x[{', '.join(map(str, at))}]"
    )
    assert f"all in its statistics group of **{group:,}**." in sentence
    assert f"The **{total - group:,}** derivatives outside are exactly 0." in sentence


def test_a_matrix_of_too_many_elements_is_refused():
    with pytest.raises(NormvizError, match="up to 256 elements"):
        gradients.whole_matrix(scene("shape=257").description)


def test_columns_differ_from_element_to_element():
    e = scene("shape=2,4&layer=LayerNorm(4)").description
    totals = [gradients.column(e, at)[0].total.numpy() for at in np.ndindex(2, 4)]
    assert all(not np.array_equal(one, other) for one, other in pairwise(totals))
