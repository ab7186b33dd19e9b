import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from normviz import Norm, NormvizError, explain
from normviz.analysis.closed_form import closed_column, closed_jacobian, conditions, vanishing_entries, vanishing_input
from normviz.analysis.derivatives import column, jacobian
from normviz.analysis.forward import broadcast
from tests.analysis.gradient_cases import numbered
from tests.support.strategies import norms, random_tensor

DOUBLE = torch.float64

BY_HAND = [
    # layer, x, the input, which entries are 0 in its group
    ("LayerNorm(2)", [[3, 5]], (0, 1), [[1, 1]]),  # two elements: xhat is -1, 1, for every x
    ("LayerNorm(4)", [[-1, 1, -1, 1]], (0, 1), [[1, 0, 1, 0]]),  # xhat_i xhat_j = -1 between different values
    ("LayerNorm(4)", [[0, 0, 0, 4]], (0, 3), [[1, 1, 1, 1]]),  # an outlier's xhat^2 is m - 1
    ("LayerNorm(4)", [[0, 0, 0, 4]], (0, 0), [[0, 0, 0, 1]]),
    ("LayerNorm(3)", [[-1, 0, 1]], (0, 0), [[0, 0, 0]]),  # 2/3 - 1/2; -1/3; -1/3 + 1/2
    ("LayerNorm(1)", [[7]], (0, 0), [[1]]),  # 1 - 1/1 - 0
    ("RMSNorm(4)", [[0, 0, 0, 2]], (0, 3), [[1, 1, 1, 1]]),
    ("RMSNorm(4)", [[0, 1, 2, 3]], (0, 1), [[1, 0, 0, 0]]),  # xhat_i = 0
    ("BatchNorm1d(1).eval()", [[1], [2], [3]], (1, 0), [[1], [0], [1]]),
    ("BatchNorm1d(1)", [[1], [2]], (1, 0), [[1], [1]]),
]  # fmt: skip


def vanishing(e, at):
    return vanishing_entries(e, closed_column(e, at))


@pytest.mark.parametrize(("layer", "x", "at", "expected"), BY_HAND)
def test_zero_entries_by_hand(layer, x, at, expected):
    found = vanishing(explain(layer, torch.tensor(x, dtype=DOUBLE)), at)
    assert found.tolist() == [[bool(entry) for entry in row] for row in expected]


def test_the_conditions_in_words():
    assert conditions(Norm("n d -> n")) == ("xhat_i xhat_j = -1", "xhat_j^2 = m - 1")
    assert conditions(Norm("n d -> n", center=False)) == ("xhat_i xhat_j = 0", "xhat_j^2 = m")
    assert conditions(Norm("n d -> d", running=True)) == ("always: running statistics do not depend on x", "never")


def test_a_gamma_of_zero_makes_its_entry_zero():
    module = torch.nn.LayerNorm(3, dtype=DOUBLE)
    with torch.no_grad():
        module.weight.copy_(torch.tensor([0.0, 1.0, 1.0]))
    found = vanishing(explain(module, random_tensor((2, 3), 0)), (0, 1))
    assert found.tolist() == [[True, False, False], [False] * 3]


@given(norms() | norms(running=True), st.integers(0, 100), st.data())
def test_zero_entries_are_small_and_the_others_are_not(drawn, seed, data):
    e = numbered(*drawn, seed)
    at = tuple(data.draw(st.integers(0, size - 1)) for size in e.shape)
    found, moved = vanishing(e, at), column(e, at)
    gamma = e.values.gamma.flatten()[torch.tensor(e.param_ids)] if e.param_ids is not None else torch.ones(e.shape)
    factor = gamma.abs() / torch.sqrt(e.trace.var + e.trace.eps)
    order = torch.full(e.shape, 1 / e.counts.elements_per_statistic, dtype=DOUBLE)
    order[at] = 1
    factor, slack = factor * order, 1e-6 * factor * order
    assert (moved.abs() <= 1e-4 * factor + slack)[found].all()
    assert (moved.abs() >= 1e-4 * factor - slack)[torch.tensor(e.stat_ids == e.stat_ids[at]) & ~found].all()


@given(norms() | norms(running=True), st.integers(0, 100), st.data())
def test_the_conditions_hold_for_zero_entries(drawn, seed, data):
    e = numbered(*drawn, seed)
    assume(not e.norm.running)
    at = tuple(data.draw(st.integers(0, size - 1)) for size in e.shape)
    found, m = vanishing(e, at), e.counts.elements_per_statistic
    gamma, xhat = e.values.gamma, e.trace.normalized
    off_diagonal = found if gamma is None else found & (broadcast(e.norm, e.shape, gamma) != 0)
    products = xhat * xhat[at]
    own = bool(off_diagonal[at])
    off_diagonal[at] = False
    wanted = -1.0 if e.norm.center else 0.0
    assert ((products - wanted).abs() <= 1e-4 + 1e-9)[off_diagonal].all()
    if own:
        assert abs(float(products[at]) - (m - 1 if e.norm.center else m)) <= 1e-4 * m + 1e-9


def test_in_a_large_group_small_entries_are_not_zero():
    """An entry is of order 1/m: that of BatchNorm on 65,536 elements is 1e-5, and would not vanish without eps."""
    x = torch.arange(20_000, dtype=DOUBLE)[None]
    assert (
        vanishing(explain("LayerNorm(20000)", x), (0, 0)).sum() <= 1
    )  # xhat_i = 1 / 3 ** 0.5 lies between two elements
    alternating = vanishing_input(Norm("n d -> n"), (1, 20_000), "signs")
    assert vanishing(explain("LayerNorm(20000)", alternating), (0, 0)).sum() == 10_000


# Inputs that produce zero entries


def test_the_examples_by_hand():
    assert vanishing_input(Norm("n d -> n"), (2, 4), "outlier").tolist() == [[0, 0, 0, 4]] * 2
    assert vanishing_input(Norm("n d -> n"), (2, 4), "signs").tolist() == [[-1, 1, -1, 1]] * 2
    assert vanishing_input(Norm("n d -> d"), (2, 3), "signs").tolist() == [[-1] * 3, [1] * 3]


@given(norms())
def test_changing_the_outlier_changes_nothing(drawn):
    norm, shape = drawn
    norm = Norm(norm.stats, center=norm.center, sizes=norm.sizes)
    x = vanishing_input(norm, shape, "outlier")
    assume(x.numel() <= 256)
    e = explain(norm, x)
    outliers = x.flatten() == e.counts.elements_per_statistic
    assert jacobian(e)[:, outliers].abs().max() <= 2e-5  # eps / (var + eps), and var is m - 1 or m


@given(norms())
def test_entries_between_different_signs_are_zero(drawn):
    norm, shape = drawn
    norm = Norm(norm.stats, sizes=norm.sizes)
    e = explain(norm, torch.zeros(shape))
    assume(e.counts.elements_per_statistic % 2 == 0 and e.x.numel() <= 256)
    x = vanishing_input(norm, shape, "signs").flatten()
    found = jacobian(explain(norm, x.reshape(shape)))
    same_group = torch.tensor(e.stat_ids.ravel()[:, None] == e.stat_ids.ravel())
    unlike = x[:, None] != x
    assert found[same_group & unlike].abs().max() <= 1.1e-5
    m = e.counts.elements_per_statistic
    alike = same_group & ~unlike & ~torch.eye(len(x), dtype=torch.bool)
    assert torch.allclose(found[alike], torch.tensor(-2 / m, dtype=DOUBLE), atol=1e-4)


def test_two_elements_cancel_except_for_eps():
    """1 - 1/2 - xhat^2 / 2 = eps / (2 (var + eps)), and xhat_1 xhat_2 is as far from -1."""
    eps, var = 0.5, 4.0
    found = jacobian(explain(f"LayerNorm(2, eps={eps})", torch.tensor([[1.0, 5.0]], dtype=DOUBLE)))
    left = eps / (2 * (var + eps) ** 1.5)
    assert torch.allclose(found, torch.tensor([[left, -left], [-left, left]], dtype=DOUBLE), rtol=1e-13)


def test_the_formula_gives_zero_too():
    e = explain("LayerNorm(6, eps=0)", vanishing_input(Norm("n d -> n"), (1, 6)))
    assert closed_jacobian(e)[:, 5].abs().max() < 1e-15
    assert jacobian(e)[:, 5].abs().max() < 1e-15


# Errors


def test_invalid_examples():
    with pytest.raises(
        NormvizError, match=r'"signs" needs groups of an even size, and these have 3 elements\. Choose "outlier"'
    ):
        vanishing_input(Norm("n d -> n"), (2, 3), "signs")
    with pytest.raises(NormvizError, match=r'these have 1 element\. Choose "outlier"'):
        vanishing_input(Norm("n d -> n"), (2, 1), "signs")
    with pytest.raises(NormvizError, match='"signs" needs a layer that subtracts the mean'):
        vanishing_input(Norm("n d -> n", center=False), (2, 4), "signs")
    with pytest.raises(NormvizError, match="'spikes' is not an example of zero entries; choose outlier or signs"):
        vanishing_input(Norm("n d -> n"), (2, 4), "spikes")
    with pytest.raises(NormvizError, match="up to 262,144 elements"):
        vanishing_input(Norm("n d -> n"), (2**40, 2**40))
