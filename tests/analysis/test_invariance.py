from dataclasses import replace

import pytest
import torch
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from normviz import explain
from normviz.analysis import invariance
from normviz.analysis.comparison import LABELS
from normviz.analysis.description import describe
from normviz.analysis.invariance import invariances, reduced_copy, reduced_layer
from normviz.layers.axes import example_axis
from normviz.layers.catalogue import KINDS
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.sharing import counts
from normviz.texts.errors import NormvizError
from tests.support.strategies import layers_that_fit, norms, random_tensor

MARKS = {
    "add": "one number is added to everything",
    "add_feature": "a different number to each feature",
    "add_example": "a different number to each example",
    "scale": "everything is scaled",
    "scale_feature": "one feature is scaled",
    "scale_example": "one example is scaled",
    "shuffle": "the examples are shuffled",
    "others": "the other examples change",
}

BY_HAND = [
    # on a 2 x 3 matrix: does the output stay the same, in the order of MARKS
    ("LayerNorm(3)", "yes no yes  yes no yes  yes yes"),
    ("RMSNorm(3)", "no no no  yes no yes  yes yes"),
    ("LayerNorm([2, 3])", "yes no no  yes no no  no no"),  # its gamma has a number for each example
    ("LayerNorm([2, 3], elementwise_affine=False)", "yes no no  yes no no  yes no"),
    ("BatchNorm1d(3)", "yes yes no  yes yes no  yes no"),
    ("BatchNorm1d(3).eval()", "no no no  no no no  yes yes"),
    ("BatchNorm1d(3, track_running_stats=False).eval()", "yes yes no  yes yes no  yes no"),
    ("GroupNorm(1, 3)", "yes no yes  yes no yes  yes yes"),
    ("GroupNorm(3, 3)", "yes yes yes  yes yes yes  yes yes"),  # groups of one element: beta, whatever x is
    ("RMSNorm(3, elementwise_affine=False, eps=1.0)", "no no no  yes no yes  yes yes"),
    (Norm("n d ->", ""), "yes no no  yes no no  yes no"),
    (Norm("n d -> n", "n"), "yes no yes  yes no yes  no yes"),
    (Norm("n d -> n d", None, center=False), "no no no  yes yes yes  yes yes"),  # the signs of x
    (Norm("n d -> d", None, running=True), "no no no  no no no  yes yes"),
]


@pytest.mark.parametrize(("layer", "marks"), BY_HAND)
def test_the_invariances_on_a_matrix(layer, marks):
    found = {i.key: i.holds for i in invariances(describe(layer, (2, 3), layout="ND"))}
    assert found == dict(zip(MARKS, [mark == "yes" for mark in marks.split()], strict=True))


POSITIONS = [
    # layer on (2, 4, 3, 2), the changes to one channel or position that leave the output unchanged
    ("BatchNorm2d(4)", ["add_channel", "scale_channel"]),
    ("InstanceNorm2d(4)", ["add_channel", "scale_channel"]),
    ("GroupNorm(4, 4)", ["add_channel", "scale_channel"]),
    ("GroupNorm(2, 4)", []),
    ("LayerNorm([4, 3, 2])", []),
    ("LayerNorm([3, 2])", ["add_channel", "scale_channel"]),
    ("LayerNorm(2)", ["add_channel", "scale_channel"]),
    ("ChannelsFirstLayerNorm(4)", ["add_position", "scale_position"]),
    ("DimNorm(2, dim=0)", ["add_channel", "add_position", "scale_channel", "scale_position"]),
    ("DimNorm(2, dim=1)", ["add_position", "scale_position"]),
]


@pytest.mark.parametrize(("layer", "keys"), POSITIONS)
def test_channels_and_positions(layer, keys):
    found = invariances(describe(layer, (2, 4, 3, 2), layout="NCHW"))
    assert [i.key for i in found if i.holds and i.key.endswith(("_channel", "_position"))] == keys


def expected(norm: Norm, axes: tuple[str, ...], shape: tuple[int, ...]) -> dict[str, bool]:
    """The invariances that follow from the patterns alone. On an axis of size 1 nothing is shared."""
    sizes, parts = norm.axis_sizes(shape), dict(zip(axes, norm.pattern.left, strict=True))
    long = {name for name in norm.pattern.names if sizes[name] > 1}
    reduced = long & set(norm.pattern.reduced)
    beta_alone = norm.center and not norm.running and not reduced  # x - mean is 0 in a group of one

    def over(axes) -> set[str]:
        return {part for axis in axes for part in parts[axis]} & long

    channel = [next((name for name in "cd" if name in parts), "")]
    batch = example_axis(axes)
    examples = [] if batch is None else [axes[batch]]
    rest = [axis for axis in parts if axis not in (*channel, *examples)]
    words = {"c": "channel", "d": "slice" if "h" in parts else "feature", "": ""}
    places = {words[channel[0]]: [axis for axis in channel if axis], "example": examples}
    places |= {"position": rest if any(places.values()) else []}
    found = {"add": beta_alone or (norm.center and not norm.running), "scale": not norm.running}
    for key, changed in places.items():
        if changed:
            apart = beta_alone or (not norm.running and not over(changed) & reduced)
            found[f"add_{key}"], found[f"scale_{key}"] = apart and (norm.center or beta_alone), apart
    if batch is not None and shape[batch] > 1:
        named = over(examples) & {part for axis in norm.gamma_axes for part in parts.get(axis, (axis,))}
        learned = named and (norm.bias or not beta_alone)
        stored = norm.running and over(examples) & set(norm.pattern.right)
        found["shuffle"] = not learned and not stored
        found["others"] = norm.running or beta_alone or not over(examples) & reduced
    return found


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=settings().max_examples // 3)
@given(data=st.data())
def test_every_measurement_agrees_with_the_patterns_for_the_catalogue(name, data):
    layer, shape = data.draw(layers_that_fit((name,)))
    try:
        e = describe(layer, shape)
    except NormvizError:  # one value has no spread
        assume(False)
    check(e)


@given(norms() | norms(running=True))
@example((Norm("n d -> d", "d"), (2, 1)))
@example((Norm("n d ->", None, center=False), (1, 1)))
@example((Norm("n (g k) -> n k", "d", sizes={"g": 3}), (2, 6)))
@example((Norm("n c h w l d1 -> c", "c"), (9, 9, 9, 9, 9, 9)))
def test_every_measurement_agrees_with_the_patterns_for_any_norm(drawn):
    e = describe(*drawn)
    batch = example_axis(e.axes)
    assume(batch is None or len(e.norm.pattern.left[batch]) == 1)  # shuffling would split groups
    check(e)


def check(e):
    norm, shape = reduced_copy(e)
    assert {i.key: i.holds for i in invariances(e)} == expected(norm, e.axes, shape)


@given(layers_that_fit())
@example(("RMSNorm(1, eps=1e-05, elementwise_affine=False)", (1,)))  # a shift changes little until it changes the sign
def test_differences_are_far_below_or_far_above_the_tolerance(drawn):
    try:
        e = describe(*drawn)
    except NormvizError:
        assume(False)
    norm, shape = reduced_copy(e)
    alone = counts(norm, shape).elements_per_statistic == 1  # then rounding errors are multiplied by 1 / sqrt(eps)
    for i in invariances(e):
        assert i.difference <= i.tolerance < (0.1 if alone else 1e-3) if i.holds else i.difference > 100 * i.tolerance


@given(layers_that_fit())
@example(("LayerNorm([5, 4, 6])", (4, 5, 4, 6)))
@example(("BatchNorm2d(7)", (5, 7, 4, 6)))
@example(("InstanceNorm2d(5)", (2, 5, 4, 4)))
@example(("GroupNorm(2, 8)", (5, 8, 2, 4)))
@example(("GroupNorm(4, 8)", (4, 8, 4, 1)))
@example(("ChannelsFirstLayerNorm(2)", (4, 2, 5, 1)))
@example((Norm("n (g k) -> n k", "d", sizes={"g": 5}), (4, 20)))
def test_the_small_copy_has_the_invariances_of_the_whole_tensor(drawn):
    try:
        e = describe(*drawn)
    except NormvizError:
        assume(False)
    batch = example_axis(e.axes)
    assume(batch is None or e.shape[batch] > 1)  # the copy always has a second example
    direct = invariance._measure(e.norm, e.shape, e.axes, e.torch_layer)
    assert {i.key: i.holds for i in invariances(e)} == {i.key: i.holds for i in direct}


CHANNELS = [
    (
        "BatchNorm2d(3)",
        (2, 3, 4, 4),
        "NCHW",
        "add a different number to each channel",
        "multiply one channel by a positive number",
    ),
    (
        "LayerNorm(3)",
        (2, 3),
        "ND",
        "add a different number to each feature",
        "multiply one feature by a positive number",
    ),
    (
        "LayerNorm(3)",
        (2, 3, 3, 3),
        "NDHW",
        "add a different number to each slice",
        "multiply one slice by a positive number",
    ),
]


@pytest.mark.parametrize(("layer", "shape", "layout", "add", "scale"), CHANNELS)
def test_the_labels_name_the_channel_axis(layer, shape, layout, add, scale):
    labels = [LABELS[i.key] for i in invariances(describe(layer, shape, layout=layout))]
    assert (labels[1], labels[1 + labels.index("multiply everything by a positive number")]) == (add, scale)


LEFT_OUT = [
    # shape, layout, the changes that are measured
    ((3,), "D", ["add", "add_feature", "scale", "scale_feature"]),
    ((3, 4, 4), "CHW", ["add", "add_channel", "add_position", "scale", "scale_channel", "scale_position"]),
    ((2, 4), "AB", ["add", "scale"]),  # without an axis of examples or channels there are no positions
    ((1, 3), "ND", list(MARKS)),  # measured with two examples
]


@pytest.mark.parametrize(("shape", "layout", "keys"), LEFT_OUT)
def test_a_change_that_needs_an_absent_axis_is_left_out(shape, layout, keys):
    e = describe(f"LayerNorm({shape[-1]})", shape, layout=layout)
    assert [i.key for i in invariances(e)] == keys


def test_torchs_own_layer_is_measured(monkeypatch):
    """Where torch's layers are replaced by one that leaves x as it is, no constant can be added."""
    e = describe("LayerNorm(3)", (2, 3))
    assert invariances(e)[0].holds
    invariance._measure.cache_clear()
    monkeypatch.setattr(invariance, "put_values", lambda module, values: torch.clone)
    assert not invariances(e)[0].holds
    invariance._measure.cache_clear()


def test_a_large_eps_breaks_the_invariance():
    scaled = {eps: invariances(describe(f"LayerNorm(3, eps={eps})", (2, 3)))[3] for eps in (1e-5, 0.5, 1e9, 1e20)}
    assert [i.key for i in scaled.values()] == ["scale"] * 4
    assert [i.holds for i in scaled.values()] == [True, True, False, False]


@pytest.mark.parametrize("eps", [-0.5, -1e30])
def test_a_negative_eps_has_invariances_too(eps):
    assert invariances(describe(f"LayerNorm(3, eps={eps})", (2, 3)))[0].holds


def test_without_eps_groups_of_one_are_nan_before_and_after():
    assert all(i.holds for i in invariances(describe(Norm("n d -> n d", eps=0.0), (2, 3))))


def test_the_measurement_does_not_depend_on_x():
    module = torch.nn.BatchNorm1d(3).double()
    x = random_tensor((4, 3), seed=0)
    threads = torch.get_num_threads()
    before, state = x.clone(), {name: value.clone() for name, value in module.state_dict().items()}
    invariance._measure.cache_clear()
    assert invariances(explain(module, x)) == invariances(explain("BatchNorm1d(3)", (4, 3)))
    assert torch.get_num_threads() == threads
    assert torch.equal(x, before)
    assert all(torch.equal(value, state[name]) for name, value in module.state_dict().items())


SMALL = [
    # layer, shape, its small copy
    ("GroupNorm(32, 256)", (8, 256, 14, 14), {"g": 3}, (3, 9, 3, 3)),
    ("GroupNorm(256, 256)", (8, 256, 14, 14), {"g": 3}, (3, 3, 3, 3)),
    ("GroupNorm(1, 256)", (8, 256, 14, 14), {"g": 1}, (3, 3, 3, 3)),
    ("BatchNorm2d(2)", (1, 2, 3, 10**6), {}, (2, 2, 3, 3)),
    ("LayerNorm([2, 1])", (7, 2, 1), {}, (3, 2, 1)),
    ("LayerNorm(9)", (9,) * 8, {}, (3,) * 8),
    ("LayerNorm(9)", (9,) * 12, {}, (2,) * 12),
]


@pytest.mark.parametrize(("layer", "shape", "sizes", "small"), SMALL)
def test_a_small_copy_keeps_the_sharing(layer, shape, sizes, small):
    e = describe(layer, shape)
    norm, found = reduced_copy(e)
    assert (norm.split_sizes, found) == (sizes, small)
    assert replace(norm, sizes=e.norm.sizes) == e.norm
    assert invariances(e)


@given(layers_that_fit(tuple(name for name, kind in KINDS.items() if kind.module)))
def test_torchs_layer_for_the_small_copy_is_the_same_layer(drawn):
    try:
        e = describe(*drawn)
    except NormvizError:
        assume(False)
    norm, small = reduced_copy(e)
    found = reduced_layer(e, norm, small)
    assert found is not None
    assert (found.name, found.training, found.norm(e.axes)) == (drawn[0].name, drawn[0].training, norm)


def test_too_many_axes_are_refused():
    with pytest.raises(
        NormvizError, match=r"measured on up to 8,192 elements, and 14 axes of size 2 have 16,384; give"
    ):
        invariances(describe("LayerNorm(2)", (2,) * 14))
    assert invariances(describe("LayerNorm(2)", (1,) * 20 + (2,)))


def test_group_norm_with_one_channel_per_group_has_the_invariances_of_instance_norm():
    group, instance = (
        invariances(describe(layer, (2, 6, 4, 4))) for layer in ("GroupNorm(6, 6)", Layer.make("InstanceNorm2d", 6))
    )
    assert [i.holds for i in group] == [i.holds for i in instance]
