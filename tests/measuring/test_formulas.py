"""The formula of a function, its parameters and its eps, found on small tensors."""

from dataclasses import replace
from functools import partial
from math import sqrt

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from normviz.measuring import formula as formulas
from normviz.measuring import probe
from normviz.measuring.formula import (
    QUOTIENTS,
    Eps,
    Formula,
    Groups,
    Learned,
    Measurement,
    Quotient,
    Reach,
    measure,
    measure_affine,
    measure_eps,
    measure_formula,
    measure_learned,
    same_partition,
)
from normviz.measuring.probe import TENSORS, isolated

ROWS = np.repeat(np.arange(3), 4).reshape(3, 4)  # each row is a group
ACROSS = np.array([[0, 1, 0], [1, 1, 0]])  # no groups that axes make
X = torch.tensor([[1.0, 2.0, 3.0, 6.0], [0.0, 0.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.0]], dtype=torch.float64)


def test_the_mean_of_each_group():
    rows = Groups(ROWS)
    assert (rows.elements, rows.axes[1].kept) == (4, (False,))
    assert rows.mean(X).tolist() == [[3] * 4, [0] * 4, [2] * 4]
    across = Groups(ACROSS)
    assert (across.axes, across.elements) == (None, 3)
    assert across.mean(torch.tensor([[1.0, 2, 3], [4, 6, 8]]).double()).tolist() == [[4, 4, 4], [4, 4, 4]]
    assert across.mean(torch.tensor([[3.0, 2, 3], [4, 6, 9]]).double()).tolist() == [[5, 4, 5], [4, 4, 5]]
    assert (Groups(np.array([0, 0, 1])).elements, Groups(np.array([0, 1, 1, 1])).elements) == (0, 0)
    assert (Groups(np.array([0, 0, 1, 2])).elements, Groups(np.zeros((2, 3), dtype=int)).elements) == (0, 6)
    single = Groups(np.arange(6).reshape(2, 3))
    assert single.mean(torch.arange(6.0).reshape(2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]
    split = Groups(np.array([[0, 0, 1, 1]]))
    assert split.mean(torch.tensor([[1.0, 3, 5, 9]])).tolist() == [[2, 2, 7, 7]]


TERMS = [
    (Quotient(True, True), [-2, -1, 0, 3], 3.5),
    (Quotient(False, False), [1, 2, 3, 6], 12.5),
    (Quotient(False, True), [1, 2, 3, 6], 3.5),
    (Quotient(True, False), [-2, -1, 0, 3], 12.5),
]


@pytest.mark.parametrize(("kind", "numerator", "square"), TERMS)
def test_a_quotient_has_a_numerator_and_a_mean_of_squares(kind, numerator, square):
    found = kind.terms(X, Groups(ROWS))
    assert [one[0].tolist() for one in found] == [numerator, [square] * 4]
    normalized = kind.normalized(X, Groups(ROWS))
    assert normalized[0].tolist() == pytest.approx([one / sqrt(square) for one in numerator])
    assert normalized[1].tolist() == [0] * 4


FACTOR, OFFSET = torch.tensor([1.0, -2, 3, 0.5]).double(), torch.tensor([0.0, 4, -1, 2]).double()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("kind", QUOTIENTS, ids=str)
def test_the_formula_of_a_normalization_is_found(kind, dtype):
    groups = Groups(ROWS)
    found = measure_formula(lambda x: (kind.normalized(x, groups) * FACTOR + OFFSET).to(dtype), dtype, groups)
    assert (found.kind, found.exact) == (kind, True)
    assert torch.allclose(found.factor, FACTOR.expand(3, 4), atol=1e-4)
    assert torch.allclose(found.offset, OFFSET.expand(3, 4), atol=1e-2)


def test_most_outputs_give_the_formula_and_it_is_not_exact_then():
    groups = Groups(ROWS)
    found = measure_formula(
        lambda x: QUOTIENTS[0].normalized(x, groups).clamp(-1.4, 1.4) * FACTOR, torch.float64, groups
    )
    assert (found.kind, found.exact) == (QUOTIENTS[0], False)
    assert torch.allclose(found.factor, FACTOR.expand(3, 4))
    assert measure_formula(torch.sin, torch.float64, groups) is None
    assert measure_formula(lambda x: x.softmax(1), torch.float64, groups) is None


def test_eps_does_not_count_where_the_formula_is_measured():
    found = measure_formula(lambda x: F.layer_norm(x, (4,), eps=1e-3), torch.float64, Groups(ROWS))
    assert torch.allclose(found.factor, torch.ones(3, 4).double(), rtol=1e-9)


def test_the_formula_of_single_elements_is_found():
    found = measure_affine(lambda x: x * FACTOR + OFFSET, (3, 4), torch.float64)
    assert (found.kind, found.exact) == (None, True)
    assert torch.allclose(found.factor, FACTOR.expand(3, 4))
    assert torch.equal(found.offset, OFFSET.expand(3, 4))
    for other in (torch.tanh, torch.square, lambda x: x.clamp(max=2)):
        assert measure_affine(other, (3, 4), torch.float64) is None
    constant = measure_affine(lambda x: torch.full_like(x, 7), (3, 4), torch.float64)
    assert (constant.factor.abs().max(), constant.offset[0, 0]) == (0, 7)


# Parameters


def learned(make, *shapes):
    tensors = {number: torch.zeros(shape, dtype=torch.float64) for number, shape in enumerate(shapes)}

    def with_values(values):
        factor, offset = make(*(values[number] for number in tensors))
        whole = torch.zeros(3, 4, dtype=torch.float64)
        return Formula(QUOTIENTS[0], factor + whole, offset + whole)

    return measure_learned(with_values, tensors, torch.float64)


COLUMNS = [[0, 1, 2, 3]] * 3
USES = [
    (lambda a, b: (a, b), (Learned(COLUMNS), Learned(COLUMNS))),
    (lambda a, b: (3 * b, torch.ones(4)), (Learned(COLUMNS, 3.0), None)),
    (lambda a, b: (1 + a, a), (Learned(COLUMNS, 1.0, True), Learned(COLUMNS))),
    (lambda a, b: (2 + 2 * a, torch.zeros(4)), (Learned(COLUMNS, 2.0, True), None)),
    (lambda a, b: (a.flip(0), torch.zeros(4)), (Learned([[3, 2, 1, 0]] * 3), None)),
    (lambda a, b: (torch.ones(4), a[2]), (None, Learned([[2] * 4] * 3))),
    (lambda a, b: (a**2, b.exp()), (Learned(COLUMNS, zero_centered=None),) * 2),  # neither a nor 1 + a, and not b
    (lambda a, b: (torch.ones(4), torch.zeros(4)), (None, None)),
]


@pytest.mark.parametrize(("make", "wanted"), USES)
def test_a_parameter_is_found_by_changing_it(make, wanted):
    for one, other in zip(learned(make, (4,), (4,)), wanted, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert (one.constant, one.zero_centered) == (pytest.approx(other.constant), other.zero_centered)
            assert np.array_equal(one.ids, other.ids) or len(np.unique(one.ids)) == 4 == len(np.unique(one.ids[0]))


def test_without_tensors_or_formulas_nothing_is_learned():
    assert measure_learned(lambda values: pytest.fail("called"), {}, torch.float64) == (None, None)
    assert measure_learned(lambda values: None, {0: torch.ones(3)}, torch.float64) == (None, None)


def test_a_formula_that_is_known_is_not_measured_again():
    tensors, calls = {3: torch.ones(4, dtype=torch.float64)}, []

    def with_values(values):
        calls.append(values)
        return Formula(QUOTIENTS[0], values[3].expand(3, 4), torch.zeros(3, 4))

    first = formulas.generic_values(tensors, seed=1)
    gamma, beta = measure_learned(with_values, tensors, torch.float64, (first, with_values(first)))
    assert (gamma.ids.tolist(), gamma.constant, beta, len(calls)) == (COLUMNS, 1.0, None, 2)


def test_generic_values_are_different_numbers_from_1_to_2():
    tensors = {0: torch.zeros(3, dtype=torch.float32), 2: torch.zeros(2, 3, dtype=torch.float64)}
    one, other = formulas.generic_values(tensors, 1), formulas.generic_values(tensors, 2)
    assert (one[0].dtype, one[0].shape, one[2].dtype, one[2].shape) == (torch.float32, (3,), torch.float64, (2, 3))
    numbers = torch.cat([*(value.flatten().double() for value in (*one.values(), *other.values()))])
    assert numbers.min() > 1
    assert numbers.max() < 2
    assert len(numbers.unique()) == 18
    assert all(torch.equal(one[i], formulas.generic_values(tensors, 1)[i]) for i in one)


def test_a_large_parameter_is_told_apart_by_its_place():
    shape = (2, 101, 100)
    whole = torch.zeros(shape, dtype=torch.float64)

    def of(make):
        def with_values(values):
            return Formula(QUOTIENTS[0], make(values[0]) + whole, whole)

        return measure_learned(with_values, {0: torch.zeros(1, 100, 101, dtype=torch.float64)}, torch.float64)[0]

    places = np.arange(10_100).reshape(100, 101).T
    found = of(lambda gamma: gamma.movedim(1, 2))
    assert np.array_equal(found.ids, np.stack([places, places]))
    assert not np.array_equal(of(lambda gamma: gamma.movedim(1, 2).flip(1)).ids, found.ids)


def test_equal_values_have_equal_numbers():
    values = torch.tensor([[2.0, -1, 2 + 1e-12], [0, 2, -1]], dtype=torch.float64)
    assert formulas.equal_ids(values, torch.float64).tolist() == [[2, 0, 2], [1, 2, 0]]
    assert formulas.equal_ids(torch.zeros(3), torch.float64).tolist() == [0, 0, 0]
    assert formulas.equal_ids(torch.tensor([1.0, 1.002]), torch.float32).tolist() == [0, 1]
    assert formulas.equal_ids(torch.tensor([1.0, 1.0005]), torch.float32).tolist() == [0, 0]


# eps


def divided(eps, kind=QUOTIENTS[0], factor=1.0, constant=1.0):
    groups = Groups(ROWS)

    def run(x):
        numerator, square = kind.terms(x, groups)
        return factor * numerator / eps(square.sqrt() / constant)

    found = Formula(kind, torch.full((3, 4), factor * constant).double(), torch.zeros(3, 4))
    return measure_eps(run, found, kind, groups, constant, torch.float64)


PLACES = [(1e-5, "inside"), (1e-12, "inside"), (0.3, "inside"), (1e-5, "outside"), (2e-8, "outside"), (1e-4, "maximum"), (1e-12, "maximum")]  # fmt: skip


@pytest.mark.parametrize("constant", [1.0, 0.5])
@pytest.mark.parametrize(("value", "place"), PLACES)
def test_the_value_and_the_place_of_eps(value, place, constant):
    found = divided(Eps(value, place).applied, factor=2.0, constant=constant)
    assert (found.value, found.place) == (pytest.approx(value, rel=1e-3), place)


def test_no_eps_is_0_and_an_eps_elsewhere_has_no_place():
    assert divided(lambda root: root) == Eps(0.0, "inside")
    assert divided(lambda root: root + 1e-3 * root.sqrt()) == Eps(0.0, "")


def test_an_eps_with_many_digits_is_found_to_six():
    assert divided(Eps(1.19209e-07, "inside").applied).value == pytest.approx(1.19209e-07, rel=1e-5)
    assert divided(Eps(1.5e-05, "inside").applied).value == 1.5e-05


def test_x_without_influence_has_no_eps():
    groups, zeros = Groups(np.arange(4)), torch.zeros(4, dtype=torch.float64)
    assert measure_eps(lambda x: 0 * x, Formula(QUOTIENTS[0], zeros, zeros), QUOTIENTS[0], groups, 1.0, torch.float64) is None  # fmt: skip


def test_eps_is_applied_to_a_denominator():
    root = torch.tensor([0.0, 3.0])
    assert Eps(16.0, "inside").applied(root).tolist() == [4, 5]
    assert Eps(2.0, "outside").applied(root).tolist() == [2, 5]
    assert Eps(2.0, "maximum").applied(root).tolist() == [2, 3]


# Everything together


def measured(fn, shape=(3, 4), dtype=torch.float64, **more):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    return measure(fn, x.to(dtype), **more)


def rows(x, correction=0, eps=1e-5, sum=False):
    second = x.var(1, keepdim=True, correction=correction) * (x.shape[1] if sum else 1)
    return (x - x.mean(1, keepdim=True)) / (second + eps).sqrt()


DIVISORS = [(rows, "m"), (partial(rows, correction=1), "m - 1"), (partial(rows, sum=True), "1"), (lambda x: 1.1 * rows(x), "m")]  # fmt: skip


@pytest.mark.parametrize(("fn", "divisor"), DIVISORS)
def test_the_divisor_of_the_sum_of_squares(fn, divisor):
    found = measured(fn)
    assert (found.divisor, found.eps, found.agrees) == (divisor, Eps(1e-5, "inside"), True)
    assert found.formula.exact
    assert found.elements == 4
    assert (found.has_beta, found.running, found.is_sampled, found.instead) == (False, False, False, None)


def test_a_divisor_is_seen_behind_a_gamma():
    gamma = nn.Parameter(torch.tensor([1.0, 2, 3, 4]))
    found = measured(lambda x: gamma * rows(x, correction=1))
    assert (found.divisor, found.gamma.constant) == ("m - 1", pytest.approx(sqrt(3 / 4)))
    assert torch.allclose(found.gammas, torch.tensor([1.0, 2, 3, 4]).double().expand(3, 4))


def test_the_root_of_a_share_of_m():
    assert [formulas.constant_of(divisor, 4) for divisor in ("m", "m - 1", "1", "9")] == [1, sqrt(3 / 4), 0.5, 1.5]
    assert [formulas.constant_of(divisor, 1) for divisor in ("m", "m - 1")] == [1, 1]
    assert formulas.constant_of("m", 0) == 1


def six(x):
    centered = x - x.mean(1, keepdim=True)
    return centered / (centered.square().sum(1, keepdim=True) / 6 + 1e-5).sqrt()


def test_another_divisor_is_a_factor_and_another_eps_until_a_layer_is_expected():
    found = measured(six)
    assert (found.divisor, found.eps.value) == ("m", pytest.approx(1.5e-5))
    told = nv.check(six, (4, 4), "LayerNorm(4)").differences
    assert [(one.what, one.found) for one in told] == [("variance", "6")]


def measurement(factor, offset, **more):
    reach = Reach((2, 2), {})
    return Measurement(
        reach, torch.float64, np.array([[0, 0], [1, 1]]), Formula(QUOTIENTS[0], torch.tensor(factor).double(), torch.tensor(offset).double()), **more
    )  # fmt: skip


ONES, ZEROS = [[1.0, 1], [1, 1]], [[0.0, 0], [0, 0]]


def test_gamma_is_what_is_not_1_and_beta_what_is_not_0():
    assert (measurement(ONES, ZEROS).has_gamma, measurement(ONES, ZEROS).has_beta) == (False, False)
    assert measurement([[1.0, 1], [1, 1.01]], ZEROS).has_gamma
    assert not measurement([[1.0, 1], [1, 1.0001]], ZEROS).has_gamma
    assert not measurement([[2.0, 1], [1, 1]], ZEROS, running=True).has_gamma
    assert measurement(ONES, [[0.0, 0], [0, 0.01]]).has_beta
    assert not measurement(ONES, [[0.0, 0], [0, 0.0005]]).has_beta
    assert not measurement([[20.0, 1], [1, 1]], [[0.0, 0], [0, 0.01]]).has_beta
    assert not measurement(ONES, [[1.0, 1], [1, 1]], running=True).has_beta
    assert measurement(ONES, ZEROS, running=True, beta=Learned(np.zeros((2, 2)))).has_beta


def test_the_elements_that_share_gamma_and_beta_have_a_number():
    assert measurement(ONES, ZEROS).param_ids is None
    assert measurement([[1.0, 2], [1, 2]], ZEROS).param_ids.tolist() == [[0, 1], [0, 1]]
    assert measurement([[1.0, 2], [1, 2]], [[0.0, 0], [1, 1]]).param_ids.tolist() == [[0, 2], [1, 3]]
    ids = np.array([[4, 4], [4, 4]])
    assert measurement(ONES, ZEROS, gamma=Learned(ids)).param_ids is ids
    assert measurement(ONES, ZEROS, beta=Learned(ids)).param_ids is ids
    assert measurement([[1.0, 2], [1, 2]], ZEROS, running=True).param_ids is None


def test_groups_that_are_unknown_have_no_elements():
    assert Measurement(Reach((2, 2), {}), torch.float64, None).elements == 0


def test_a_large_x_is_sampled():
    formula = Formula(None, torch.ones(64, 64), torch.zeros(64, 64))
    assert not Measurement(Reach((64, 64), {}), torch.float64, None, formula).is_sampled
    assert Measurement(Reach((64, 64), {}), torch.float64, None, replace(formula, exact=False)).is_sampled
    assert Measurement(Reach((64, 65), {}), torch.float64, None).is_sampled


OTHERS = {
    "tanh": torch.tanh,
    "clipped": lambda x: rows(x).clamp(-1, 1),
    "an outlier": lambda x: torch.where(x.abs().max() > 20, 0.0, rows(x)),
    "a shift": lambda x: torch.where((x.mean() > 50) & (x.mean() < 1000), 0.0, rows(x)),
    "an eps elsewhere": lambda x: rows(x, eps=0.0) / (1 + 1e-3 / x.std(1, keepdim=True, correction=0).sqrt()),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_a_function_that_does_something_else_for_some_x_does_not_agree(name):
    found = measured(OTHERS[name])
    assert found.formula is None or not found.agrees


def test_the_given_x_must_agree_too():
    special = torch.randn(3, 4, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    assert not measured(lambda x: 0 * x if torch.equal(x, special) else rows(x)).agrees
    assert measured(rows).agrees


def test_an_axis_of_size_1_is_measured_with_size_2():
    assert measured(rows, (1, 4)).shape == (2, 4)
    assert measured(lambda x: rows(x) if len(x) == 1 else 1 / 0, (1, 4)).shape == (1, 4)
    assert measured(rows, (1, 4), allowed=lambda shape: shape[0] == 1).shape == (1, 4)


def test_stored_statistics_are_told_by_their_influence():
    module = nn.BatchNorm1d(4, eps=1e-3).double().eval()
    module.running_mean += torch.arange(4)
    module.running_var += torch.arange(4)
    found = measured(module)
    assert (found.running, found.eps, found.divisor) == (True, Eps(1e-3, "inside"), "m")
    assert [len(np.unique(found.ids)), *(found.ids == found.ids[0]).all(axis=0)] == [4, True, True, True, True]
    assert (found.gamma.ids.tolist(), same_partition(found.beta.ids, found.gamma.ids)) == (COLUMNS, True)
    assert torch.allclose(found.formula.factor[0], 1 / (torch.arange(4) + 1 + 1e-3).sqrt().double())
    plain = measured(lambda x: 2 * x + 1)
    assert (plain.running, plain.eps) == (False, None)


@pytest.mark.parametrize("fn", [torch.clone, torch.zeros_like, torch.square, torch.sigmoid])
def test_a_function_of_single_elements_is_often_no_normalization(fn):
    found = measured(fn)
    assert (found.formula, found.running, found.elements) == (None, False, 1)


def test_groups_of_one_element_give_beta():
    beta = nn.Parameter(torch.ones(1, dtype=torch.float64))
    found = measured(lambda x: F.layer_norm(x, (1,)) + beta, (3, 1))
    assert (found.agrees, found.eps, found.formula.kind, found.elements) == (True, None, QUOTIENTS[0], 1)
    assert found.beta.ids.tolist() == [[0]] * 3
    assert found.formula.offset.tolist() == [[1]] * 3


def test_parameters_are_no_buffers():
    module = nn.BatchNorm1d(4)
    module.register_buffer("weight_mask", torch.ones(4))
    module.register_buffer("gamma", torch.ones(4))
    constant, number = torch.ones(4), torch.ones((), dtype=torch.int64)
    with isolated(lambda x: module(x) * constant * number, torch.zeros(3, 4), TENSORS, {}) as function:
        names = function.names
        parameters = {names.get(i) for i in formulas.parameters_of(function)}
        assert parameters == {"weight", "bias", "gamma"}
        assert {names[i] for i in formulas.stored_of(function)} == {"running_mean", "running_var", "weight_mask", "constant"}  # fmt: skip
        assert names.keys() - formulas.parameters_of(function).keys() - formulas.stored_of(function)


def test_a_large_tensor_is_no_parameter():
    weights = nn.ParameterList([torch.zeros(2**20), torch.zeros(2**20 + 1), torch.zeros(0)])
    with isolated(lambda x: x + 0 * sum(one.sum() for one in weights), torch.zeros(3, 4), TENSORS, {}) as function:
        assert [value.numel() for value in formulas.parameters_of(function).values()] == [2**20]


def test_of_a_function_with_zero_gamma_the_formula_has_it_and_the_measurement_not():
    gamma = nn.Parameter(torch.zeros(4))
    found = measured(lambda x: gamma * rows(x))
    assert (found.gamma.ids.tolist(), found.eps) == (COLUMNS, Eps(1e-5, "inside"))
    assert torch.equal(found.formula.factor, torch.zeros(3, 4).double())


def test_few_inputs_are_moved_where_the_groups_are_made_of_axes():
    calls = []
    found = measured(lambda x: calls.append(1) or rows(x), (20, 9))
    assert found.reach.is_sampled
    assert len(calls) < 180
    across = torch.arange(180).reshape(20, 9) % 7

    def mixed(x):
        sums = torch.zeros(7, dtype=x.dtype).index_add(0, across.flatten(), x.flatten())
        return x - (sums / torch.bincount(across.flatten()))[across]

    assert not measured(mixed, (20, 9)).reach.is_sampled
    assert measured(mixed, (20, 9), most_inputs=100).reach.is_sampled


def centered(x):
    return x - x.mean(1, keepdim=True)


SMALLER = [
    (centered, (15, 10), {}, (3, 4), (15, 10)),
    (centered, (10, 10), {}, (10, 10), None),
    (centered, (15, 10), {"whole": True}, (15, 10), None),
    (lambda x: centered(x) if len(x) == 3 else x, (15, 10), {}, (15, 10), None),
    (centered, (15, 10), {"allowed": lambda shape: shape[0] == 15}, (15, 4), (15, 10)),
]


@pytest.mark.parametrize(("fn", "shape", "more", "wanted", "instead"), SMALLER)
def test_a_smaller_x_is_measured_instead_of_a_large_one(monkeypatch, fn, shape, more, wanted, instead):
    monkeypatch.setattr(probe, "LARGE", 100)
    found = measured(fn, shape, most_inputs=10, **more)
    assert (found.shape, found.instead) == (wanted, instead)
