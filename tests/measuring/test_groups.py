"""Axes, partitions, and which outputs change if one input changes."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from normviz.measuring import formula as groups
from normviz.measuring.formula import Axis, Reach, candidates, measure_reach
from normviz.measuring.probe import TENSORS, isolated

AXES = [
    (Axis((4,), (True,)), [0, 1, 2, 3], False),
    (Axis((4,), (False,)), [0, 0, 0, 0], True),
    (Axis((1,), (False,)), [0], False),
    (Axis((2, 3), (True, False)), [0, 0, 0, 1, 1, 1], True),
    (Axis((2, 3), (False, True)), [0, 1, 2, 0, 1, 2], True),
    (Axis((2, 3), (True, True)), [0, 1, 2, 3, 4, 5], False),
    (Axis((2, 2, 2), (True, False, True)), [0, 1, 0, 1, 2, 3, 2, 3], True),
    (Axis((2, 2, 2), (False, True, False)), [0, 0, 1, 1, 0, 0, 1, 1], True),
]


@pytest.mark.parametrize(("axis", "classes", "is_reduced"), AXES, ids=str)
def test_an_axis_has_classes_of_indices(axis, classes, is_reduced):
    assert axis.classes.tolist() == classes
    assert axis.is_reduced is is_reduced


def test_an_axis_can_be_split_in_two_or_three_parts():
    whole, two = [Axis((4,), (True,)), Axis((4,), (False,))], (2, 2)
    assert candidates(4) == (*whole, Axis(two, (True, False)), Axis(two, (False, True)))
    assert candidates(5) == (Axis((5,), (True,)), Axis((5,), (False,)))
    assert [axis.parts for axis in candidates(12) if axis.kept[0]] == [
        (12,), (2, 6), (3, 4), (4, 3), (6, 2), (2, 2, 3), (2, 3, 2), (3, 2, 2),
    ]  # fmt: skip
    assert [axis.kept for axis in candidates(8)[-2:]] == [(False, True, False), (True, False, True)]


def test_a_group_has_a_number():
    rows = groups.number([Axis((2,), (True,)), Axis((3,), (False,))])
    assert rows.tolist() == [[0, 0, 0], [1, 1, 1]]
    both = groups.number([Axis((2,), (True,)), Axis((4,), (False,)), Axis((2, 2), (True, False))])
    assert both[:, 0].tolist() == [[0, 0, 1, 1], [2, 2, 3, 3]]
    assert (both == both[:, :1]).all()


@pytest.mark.parametrize(
    "axes",
    [
        (Axis((3,), (True,)), Axis((4,), (False,))),
        (Axis((2,), (False,)), Axis((2, 3), (True, False)), Axis((5,), (False,))),
        (Axis((2, 2, 2), (True, False, True)), Axis((3,), (True,))),
    ],
)
def test_the_axes_are_found_in_the_numbers_of_the_groups(axes):
    assert groups.from_ids(groups.number(axes)) == axes


@pytest.mark.parametrize("ids", [[[0, 0, 1], [1, 1, 0]], [[0, 0, 1], [2, 2, 2]], [[0, 1, 1, 0]]])
def test_groups_that_are_not_made_of_axes_have_none(ids):
    assert groups.from_ids(np.array(ids)) is None


def test_a_partition_refines_another_one():
    fine, coarse = np.array([[0, 1], [2, 2]]), np.array([[5, 5], [3, 3]])
    assert groups.refines(fine, coarse) is True
    assert not groups.refines(np.array([[0, 0], [1, 1]]), fine)
    assert not groups.same_partition(fine, coarse)
    assert groups.same_partition(fine, np.array([[2, 0], [1, 1]]))
    assert not groups.same_partition(np.array([0, 0, 1]), np.array([0, 1, 1]))


ROWS = {
    (0, 0): np.array([[True, True], [False, False]]),
    (0, 1): np.array([[True, True], [False, False]]),
    (1, 0): np.array([[False, False], [True, True]]),
    (1, 1): np.array([[False, False], [True, True]]),
}
DIAGONAL = {
    index: np.eye(2, dtype=bool) if index[0] == index[1] else ~np.eye(2, dtype=bool) for index in np.ndindex(2, 2)
}


def test_the_groups_are_those_that_change_together():
    reach = Reach((2, 2), ROWS)
    assert (reach.is_sampled, reach.is_elementwise, reach.is_empty, reach.reduced) == (False, False, False, (1,))
    assert reach.axes == (Axis((2,), (True,)), Axis((2,), (False,)))
    assert reach.ids.tolist() == [[0, 0], [1, 1]]


def test_groups_across_the_axes_have_numbers_if_all_inputs_were_moved():
    reach = Reach((2, 2), DIAGONAL)
    assert reach.axes is None
    assert reach.ids.tolist() == [[0, 1], [1, 0]]
    assert reach.reduced == (0, 1)
    some = Reach((2, 2), {(0, 0): DIAGONAL[0, 0]})
    assert (some.is_sampled, some.ids) == (True, None)


def test_outputs_that_overlap_are_no_groups():
    past = {(i,): np.arange(4) <= i for i in range(4)}
    assert Reach((4,), past).ids is None
    assert Reach((4,), {(i,): np.arange(4) >= i for i in range(4)}).ids is None
    pairs = {(i, 0): np.array([[True], [i > 0], [i > 0]]) for i in range(3)}
    assert Reach((3, 1), pairs).ids is None


def test_an_input_that_reaches_nothing_is_a_group_of_its_own():
    reach = Reach((3,), {(i,): np.zeros(3, dtype=bool) for i in range(3)})
    assert (reach.is_empty, reach.is_elementwise, reach.ids.tolist(), reach.reduced) == (True, True, [0, 1, 2], ())
    one = Reach((2,), {(0,): np.array([True, False]), (1,): np.array([False, False])})
    assert (one.is_empty, one.is_elementwise) == (False, True)


def moved_inputs(run, shape, **limits):
    return measure_reach(run, shape, torch.float64, **limits)


def test_the_reach_is_measured():
    reach = moved_inputs(lambda x: x - x.mean(0), (2, 3))
    assert reach.shape == (2, 3)
    assert set(reach.changed) == set(np.ndindex(2, 3))
    assert reach.changed[0, 1].tolist() == [[False, True, False], [False, True, False]]
    assert reach.changed[0, 1].dtype == bool


def test_a_move_in_either_direction_is_seen():
    below, above = (moved_inputs(lambda x, s=s: (s * x).clamp(min=1).sum(0, keepdim=True).expand(2, 2), (2, 2)) for s in (1, -1))  # fmt: skip
    assert below.ids.tolist() == above.ids.tolist() == [[0, 1], [0, 1]]


def test_an_output_that_becomes_nan_has_changed():
    reach = moved_inputs(lambda x: torch.where(x.sum() > 8, torch.nan, torch.zeros(2, 2)), (2, 2))
    assert all(mask.all() for mask in reach.changed.values())


def test_only_some_inputs_of_many_are_moved():
    calls = []
    reach = moved_inputs(lambda x: calls.append(1) or x, (30, 7), most=209)
    assert len(reach.changed) == 25  # the first, the last and 24 drawn ones, of which one was drawn twice
    assert {(0, 0), (29, 6)} <= set(reach.changed)
    assert len(calls) == 1 + 2 * 25
    assert len(moved_inputs(torch.clone, (30, 7), most=210).changed) == 210
    assert len(moved_inputs(torch.clone, (2**9, 2**9 + 1), most=9, few=0).changed) == 2
    assert len(moved_inputs(torch.clone, (2**9, 2**9), most=9, few=0).changed) == 26


def test_rounding_is_no_change():
    assert moved_inputs(lambda x: 1 + 1e-15 * x.sum() + 0 * x, (2, 2)).is_empty
    assert not moved_inputs(lambda x: 1 + 1e-13 * x.sum() + 0 * x, (2, 2)).is_empty


SHORT = [
    ((8, 32, 32, 33), F.relu, (3, 4, 5, 6)),
    ((8, 32, 32, 32), F.relu, (8, 32, 32, 32)),
    ((8, 32, 32, 33), lambda x: F.layer_norm(x, (33,), torch.ones(33)), (3, 4, 5, 33)),
    ((2, 32, 1, 32 * 256), F.relu, (2, 4, 1, 6)),
]


@pytest.mark.parametrize(("shape", "fn", "short"), SHORT)
def test_a_large_x_is_measured_with_short_axes(shape, fn, short):
    with isolated(fn, torch.zeros(3, 4, 5, 33), TENSORS, {}) as function:
        assert groups.smaller_shape(function, shape, bool) == short
        assert groups.smaller_shape(function, shape, lambda one: one[0] == 8)[0] == shape[0]


def test_a_smaller_x_is_alike_if_one_input_reaches_the_same_axes():
    kept, reduced = Axis((6,), (True,)), Axis((6,), (False,))
    split = Axis((2, 3), (True, False))
    with isolated(lambda x: x - x.mean(1, keepdim=True), torch.zeros(6, 6), TENSORS, {}) as function:
        alike = lambda axes, smaller=(3, 4): groups.is_alike(function, (6, 6), smaller, axes)  # noqa: E731
        assert alike((kept, reduced))
        assert not alike((reduced, kept))
        assert not alike((kept, kept))
        assert not alike(None)
        assert not alike((kept, split))
        assert not alike((split, reduced))
    with isolated(lambda x: F.group_norm(x, 2), torch.zeros(6, 6), TENSORS, {}) as function:
        assert groups.is_alike(function, (6, 6), (3, 6), (kept, split))
        assert not groups.is_alike(function, (6, 6), (3, 6), (kept, reduced))
