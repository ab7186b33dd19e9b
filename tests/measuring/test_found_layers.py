"""The Norm and the layer of torch that a check finds, with a layer to compare with and without one."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from normviz.analysis.description import describe
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.measuring import check as checks
from normviz.measuring.formula import Eps, Formula, Learned, Measurement, Quotient, Reach
from tests.measuring.implementations import OnePlus
from tests.measuring.mutations import RIGHT, WRONG
from tests.support.needs import cases_in_torch

NAMED = {one.name: one for one in [*RIGHT, *WRONG]}
# Of each implementation, compared with its layer: the Norm, the layer, the reduced axes.
COMPARED = {
    'layer norm': ("Norm('n d -> n', 'd')", 'LayerNorm([6])', (1,)),
    'a square x': ("Norm('n d -> n')", 'LayerNorm([5], elementwise_affine=False)', (1,)),
    'a module': ("Norm('n l c -> n l', 'c')", 'LayerNorm([5])', (2,)),
    'batch norm': ("Norm('n c l -> c', 'c')", 'BatchNorm1d(4)', (0, 2)),
    'eval mode': ("Norm('n d -> d', 'd', running=True)", 'BatchNorm1d(3).eval()', ()),
    'instance norm': ("Norm('n c h w -> n c')", 'InstanceNorm2d(3)', (2, 3)),
    'group norm': ("Norm('n (g k) h w -> n g', 'c', sizes={'g': 2})", 'GroupNorm(2, 6)', (1, 2, 3)),
    'RMSNorm': ("Norm('n d -> n', 'd', center=False, eps=1e-06, bias=False)", 'RMSNorm([6], eps=1e-06)', (1,)),
    'LayerNorm in float16': ("Norm('n d -> n', eps=1e-12)", 'LayerNorm([6], eps=1e-12, elementwise_affine=False)', (1,)),
    'channels last': ("Norm('n l c -> c', 'c')", 'ChannelsLastBatchNorm(5)', (0, 1)),
    'nn.BatchNorm1d in eval mode': ("Norm('n c l -> c', 'c', running=True)", 'BatchNorm1d(4).eval()', ()),
    'nn.BatchNorm1d without statistics': ("Norm('n c l -> c', 'c')", 'BatchNorm1d(4, track_running_stats=False)', (0, 2)),
    'nn.BatchNorm1d with a mean over all batches': ("Norm('n c l -> c', 'c')", 'BatchNorm1d(4, momentum=None)', (0, 2)),
    'nn.RMSNorm': ("Norm('n d -> n', 'd', center=False, eps=None, bias=False)", 'RMSNorm([6])', (1,)),
    'gamma of shape (1, C, 1, 1)': ("Norm('n c h w -> c', 'c')", 'BatchNorm2d(3, track_running_stats=False)', (0, 2, 3)),
    'channels last around a module': ("Norm('n h w (g k) -> n g', 'c', sizes={'g': 2})", 'ChannelsLastGroupNorm(2, 4)', (1, 2, 3)),
    'one group': ("Norm('n (g k) l -> n g', sizes={'g': 1})", 'LayerNorm([4, 5], elementwise_affine=False)', (1, 2)),
    'a group for each channel': ("Norm('n c l -> n c')", 'InstanceNorm1d(4)', (2,)),
    'layer norm: (var + 1e-5).sqrt() -> (var + 1e-12).sqrt()': ("Norm('n d -> n', 'd', eps=1e-12)", 'LayerNorm([6], eps=1e-12)', (1,)),
    'layer norm: (x - mean) / ( -> x / (': (None, None, (1,)),
    'layer norm: mean(-1, -> mean(0,': ("Norm('n d -> d', 'd')", 'BatchNorm1d(6)', (0,)),
    'a square x: return -> return torch.arange(5.) +': ("Norm('n d -> n', 'd')", 'LayerNorm([5])', (1,)),
    'two axes: (1, 2) -> (0, 2)': ("Norm('n l c -> l', 'l c')", None, (0, 2)),
    'batch norm: (0, 2) -> (0,)': ("Norm('n c l -> c l', 'c')", None, (0,)),
    'batch norm: 1e-5 -> 1e-3': ("Norm('n c l -> c', 'c', eps=0.001)", 'BatchNorm1d(4, eps=0.001)', (0, 2)),
    'LayerNorm(5) for InstanceNorm1d(4)': ("Norm('n c l -> n c', 'l')", 'LayerNorm([5])', (2,)),
    'eval mode: * self.weight + self.bias -> * self.weight': ("Norm('n d -> d', 'd', bias=False, running=True)", 'BatchNorm1d(3, bias=False).eval()', ()),
    'instance norm: (2, 3) -> (1, 2)': ("Norm('n c h w -> n w')", 'ChannelsLastInstanceNorm(5)', (1, 2)),
    'group norm: x.reshape(n, 2, c // 2, h, w) -> x.reshape(n, c // 2, 2, h, w).transpose(1, 2)': ("Norm('n (g k) h w -> n k', 'c', sizes={'g': 3})", None, (1, 2, 3)),
    'RMSNorm: mean(-1, -> mean(0,': ("Norm('n d -> d', 'd', center=False, eps=1e-06, bias=False)", None, (0,)),
}  # fmt: skip
# Without a layer: also the text.
MEASURED = {
    'layer norm': ("Norm('n d -> n', 'd')", 'LayerNorm([6])', (1,), 'Your function averages over D (like LayerNorm).'),
    'a square x': ("Norm('n d -> n')", 'LayerNorm([5], elementwise_affine=False)', (1,), 'Your function averages over D (like LayerNorm).'),
    'a module': ("Norm('n l c -> n l', 'c')", 'LayerNorm([5])', (2,), 'Your function averages over C (like LayerNorm).'),
    'batch norm': ("Norm('n c l -> c', 'c')", 'BatchNorm1d(4)', (0, 2), 'Your function averages over N and L (like BatchNorm1d).'),
    'eval mode': ("Norm('n d -> d', 'd', running=True)", 'BatchNorm1d(3).eval()', (), 'Your function uses stored statistics (like BatchNorm1d).'),
    'instance norm': ("Norm('n c h w -> n c')", 'InstanceNorm2d(3)', (2, 3), 'Your function averages over H and W (like InstanceNorm2d).'),
    'group norm': ("Norm('n (g k) h w -> n g', 'c', sizes={'g': 2})", 'GroupNorm(2, 6)', (1, 2, 3), 'Your function averages over H, W and groups of 3 neighbors along C (like GroupNorm).'),
    'RMSNorm': ("Norm('n d -> n', 'd', center=False, eps=1e-06, bias=False)", 'RMSNorm([6], eps=1e-06)', (1,), 'Your function averages over D (like RMSNorm).'),
    'LayerNorm in float16': ("Norm('n d -> n', eps=1e-12)", 'LayerNorm([6], eps=1e-12, elementwise_affine=False)', (1,), 'Your function averages over D (like LayerNorm).'),
    'channels last': ("Norm('n l c -> c', 'c')", 'ChannelsLastBatchNorm(5)', (0, 1), 'Your function averages over N and L (like BatchNorm1d).'),
    'nn.LayerNorm in eval mode': ("Norm('n d -> n', 'd')", 'LayerNorm([6]).eval()', (1,), 'Your function averages over D (like LayerNorm).'),
    'nn.BatchNorm1d in eval mode': ("Norm('n c l -> c', 'c', running=True)", 'BatchNorm1d(4).eval()', (), 'Your function uses stored statistics (like BatchNorm1d).'),
    'nn.BatchNorm1d without statistics': ("Norm('n c l -> c', 'c')", 'BatchNorm1d(4, track_running_stats=False)', (0, 2), 'Your function averages over N and L (like BatchNorm1d).'),
    'nn.BatchNorm1d with a mean over all batches': ("Norm('n c l -> c', 'c')", 'BatchNorm1d(4, momentum=None)', (0, 2), 'Your function averages over N and L (like BatchNorm1d).'),
    'nn.RMSNorm': ("Norm('n d -> n', 'd', center=False, eps=None, bias=False)", 'RMSNorm([6])', (1,), 'Your function averages over D (like RMSNorm).'),
    'channels last around a module': ("Norm('n h w (g k) -> n g', 'c', sizes={'g': 2})", 'ChannelsLastGroupNorm(2, 4)', (1, 2, 3), 'Your function averages over H, W and groups of 2 neighbors along C (like GroupNorm).'),
    'one group': ("Norm('n l c -> n')", 'LayerNorm([4, 5], elementwise_affine=False)', (1, 2), 'Your function averages over L and C (like LayerNorm).'),
    'a group for each channel': ("Norm('n l c -> n l')", 'LayerNorm([5], elementwise_affine=False)', (2,), 'Your function averages over C (like LayerNorm).'),
}  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("name", "expected"), COMPARED.items(), ids=COMPARED)
def test_the_layer_of_a_compared_function(name, expected):
    found = NAMED[name].check()
    assert (None if found.norm is None else repr(found.norm), found.layer, found.reduced) == expected
    assert found.expected.name == NAMED[name].like or NAMED[name].like.startswith("nv.")


@cases_in_torch
@pytest.mark.parametrize("name", MEASURED)
def test_the_layer_of_a_measured_function(name):
    found = NAMED[name].check(like=None, shapes=())
    assert (repr(found.norm), found.layer, found.reduced, str(found).partition(" The backward")[0]) == (
        *MEASURED[name][:3],
        found.text,
    )
    assert str(found).startswith(MEASURED[name][3])
    assert (found.ok, found.expected, found.sampled) == (True, None, False)


# A measurement as a Norm

REACH = Reach((2, 6), {})
ONES, ZEROS = torch.ones(2, 6, dtype=torch.float64), torch.zeros(2, 6, dtype=torch.float64)
ROWS, COLUMNS = np.repeat([[0], [1]], 6, 1), np.array([[0, 1, 2, 3, 4, 5]] * 2)
HALVES, EVERY = np.array([[0, 0, 0, 1, 1, 1], [2, 2, 2, 3, 3, 3]]), np.array([[0, 1, 0, 1, 0, 1], [2, 3, 2, 3, 2, 3]])
PAIRS = np.array([[0, 0, 1, 1, 2, 2]] * 2)
BOTH, NONE = Quotient(True, True), Quotient(False, False)


def norm_of(ids=ROWS, kind=BOTH, eps=Eps(1e-5, "inside"), **more):  # noqa: B008
    formula = Formula(kind, more.pop("factor", ONES), more.pop("offset", ZEROS))
    found = checks.norm_of(Measurement(REACH, torch.float64, ids, formula, eps=eps, **more), ("n", "d"))
    return None if found is None else repr(found)


NORMS = [
    ({}, "Norm('n d -> n')"),
    ({"gamma": Learned(COLUMNS), "beta": Learned(COLUMNS)}, "Norm('n d -> n', 'd')"),
    ({"gamma": Learned(COLUMNS)}, "Norm('n d -> n', 'd', bias=False)"),
    ({"beta": Learned(COLUMNS)}, "Norm('n d -> n', 'd')"),
    ({"gamma": Learned(ROWS)}, "Norm('n d -> n', 'n', bias=False)"),
    ({"gamma": Learned(np.zeros((2, 6), dtype=int))}, "Norm('n d -> n', '', bias=False)"),
    ({"gamma": Learned(np.arange(12).reshape(2, 6))}, "Norm('n d -> n', 'n d', bias=False)"),
    ({"ids": HALVES}, "Norm('n (g k) -> n g', sizes={'g': 2})"),
    ({"ids": EVERY}, "Norm('n (g k) -> n k', sizes={'g': 3})"),
    ({"ids": HALVES, "gamma": Learned(COLUMNS)}, "Norm('n (g k) -> n g', 'd', bias=False, sizes={'g': 2})"),
    ({"ids": ROWS, "gamma": Learned(PAIRS)}, "Norm('n (g k) -> n', 'g', bias=False, sizes={'g': 3})"),
    ({"ids": HALVES, "gamma": Learned(EVERY)}, None),
    ({"ids": np.array([[0, 0, 0, 1, 1, 1]] * 2), "gamma": Learned(PAIRS)}, None),
    ({"ids": COLUMNS}, "Norm('n d -> d')"),
    ({"ids": None}, None),
    ({"divisor": "m - 1"}, None),
    ({"agrees": False}, None),
    ({"kind": Quotient(True, False)}, None),
    ({"kind": Quotient(False, True)}, None),
    ({"kind": NONE}, "Norm('n d -> n', center=False)"),
    ({"kind": NONE, "eps": Eps(2.22045e-16, "inside")}, "Norm('n d -> n', center=False, eps=None)"),
    ({"eps": Eps(2.22045e-16, "inside")}, "Norm('n d -> n', eps=2.22045e-16)"),
    ({"eps": Eps(1e-3, "inside")}, "Norm('n d -> n', eps=0.001)"),
    ({"eps": None}, "Norm('n d -> n')"),
    ({"kind": None, "running": True, "ids": COLUMNS}, "Norm('n d -> d', running=True)"),
    ({"eps": Eps(1e-5, "outside")}, None),
    ({"eps": Eps(1e-5, "maximum")}, None),
    ({"ids": np.array([[0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 0]])}, None),
    ({"gamma": Learned(np.array([[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]]))}, None),
    ({"factor": 2 * ONES}, "Norm('n d -> n', '', bias=False)"),
    ({"offset": ONES}, "Norm('n d -> n', '')"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "wanted"), NORMS)
def test_a_measurement_is_a_norm(changes, wanted):
    assert norm_of(**changes) == wanted


def test_names_of_parts_are_not_those_of_axes():
    ids = np.array([[[0, 0, 1, 1]] * 2, [[2, 2, 3, 3]] * 2])
    found = Measurement(
        Reach((2, 2, 4), {}), torch.float64, ids, Formula(BOTH, torch.ones(2, 2, 4), torch.zeros(2, 2, 4))
    )
    assert checks.norm_of(found, ("g", "k", "c")).stats == "g k (g1 k1) -> g g1"
    assert checks.norm_of(found, ("n", "g", "c")).stats == "n g (k g1) -> n k"
    assert checks.norm_of(replaced(found), ("n", "d", "c")).stats == "n d c -> n c"


def replaced(found):
    return Measurement(found.reach, found.dtype, np.arange(8).reshape(2, 1, 4).repeat(2, 1), found.formula)


def test_the_usual_formula_has_the_same_groups():
    found = Measurement(REACH, torch.float64, ROWS, Formula(Quotient(True, False), 0.5 * ONES, ZEROS), divisor="m - 1", eps=Eps(1e-3, "outside"), agrees=False)  # fmt: skip
    usual = checks.with_usual_formula(found)
    assert (usual.formula.kind, usual.divisor, usual.eps, usual.agrees) == (BOTH, "m", Eps(1e-5, "inside"), True)
    assert torch.equal(usual.formula.factor, found.gammas)
    assert not torch.equal(usual.formula.factor, found.formula.factor)
    rms = Measurement(REACH, torch.float64, ROWS, Formula(Quotient(False, True), ONES, ZEROS))
    assert checks.with_usual_formula(rms).formula.kind == NONE
    affine = Measurement(REACH, torch.float64, COLUMNS, Formula(None, ONES, ZEROS), running=True)
    assert checks.with_usual_formula(affine).formula.kind is None


def test_the_usual_names_of_axes():
    assert ["".join(checks.usual_axes(rank)) for rank in (1, 2, 3, 4, 5, 6)] == ["d", "nd", "ncl", "nchw", "ncdhw", "nd1d2d3d4d5"]  # fmt: skip


def test_the_names_are_those_of_the_layer_that_was_found():
    x = (2, 4, 6)
    assert nv.check(lambda x: F.layer_norm(x, (6,)), x).norm.stats == "n l c -> n l"
    assert nv.check(lambda x: F.group_norm(x, 2), x).norm.stats == "n (g k) l -> n g"
    assert nv.check(lambda x: F.layer_norm(x, (6,)), x, layout="NCL").norm.stats == "n c l -> n c"
    assert nv.check(lambda x: (x - x.mean(0)) / (x.var(0, correction=0) + 1e-5).sqrt(), x).norm.stats == "n c l -> c l"


EXPECTED = [
    ("BatchNorm1d(6)", "NLC", "n l c -> c", "c", (2, 4, 6)),
    ("BatchNorm1d(4)", "NCL", "n c l -> c", "c", (2, 4, 6)),
    ("LayerNorm(6)", "NLC", "n l c -> n l", "c", (2, 4, 6)),
    ("GroupNorm(3, 6)", "NHWC", "n h w (g k) -> n g", "c", (2, 4, 5, 6)),
    ("GroupNorm(2, 4)", "NHWD", "n (g k) w d -> n g", "h", (2, 4, 5, 6)),
]


@pytest.mark.parametrize(("like", "layout", "stats", "params", "shape"), EXPECTED)
def test_a_layer_has_its_channels_where_the_layout_has_them(like, layout, stats, params, shape):
    found = checks.expect(f" {like} ", shape, layout)
    assert (found.norm.stats, found.norm.params, found.shape, found.name) == (stats, params, shape, like)
    assert "".join(found.axes).upper() == layout
    assert checks.expect(Layer.parse(like), shape, layout, "name").name == "name"
    assert checks.expect(Layer.parse(like).module(), shape, layout).norm.stats == stats


# A whole check


def test_a_layer_that_torch_does_not_have_is_measured():
    like = type("Own", (nn.Module,), {"forward": lambda self, x: F.layer_norm(x, (3,))})()
    found = nv.check(lambda x: 2 * F.layer_norm(x, (3,)), (4, 3), like)
    assert (found.expected.name, [one.what for one in found.differences]) == ("Own", ["factor"])
    with pytest.raises(nv.NormvizError) as raised:
        nv.check(F.relu, (4, 3), nn.GELU())
    assert str(raised.value).startswith("like='GELU' is not one normalization. Your function averages over no axis. It is not a normalization")  # fmt: skip


REFUSED = [
    ({"backward": "yes"}, "backward='yes' is not True, False or None; check_backward takes a backward function."),
    ({"like": None, "backward": True}, "shapes and backward compare with a layer; give like, such as like='LayerNorm(6)'."),
    ({"like": None, "shapes": [(2, 3)]}, "shapes and backward compare with a layer; give like, such as like='LayerNorm(6)'."),
    ({"shapes": [5]}, "shapes has 5, which is no shape; write a list of shapes, such as shapes=[(5, 6)]."),
    ({"shapes": [(5, "a")]}, "shapes has (5, 'a'), which is no shape; write a list of shapes, such as shapes=[(5, 6)]."),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "words"), REFUSED)
def test_arguments_that_say_nothing_are_refused(changes, words):
    with pytest.raises(nv.NormvizError) as raised:
        nv.check(F.relu, (4, 3), **({"like": "LayerNorm(3)"} | changes))
    assert str(raised.value) == words


def test_the_dtype_of_x_of_which_only_the_shape_is_given():
    seen = []

    def fn(x, gamma=None):
        seen.append(x.dtype)
        return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)

    nv.check(fn, (4, 3), "LayerNorm(3)")
    assert set(seen) == {np.dtype("float64")}
    seen.clear()
    nv.check(fn, (4, 3), "LayerNorm(3)", params={"gamma": np.ones(3, dtype=np.float32)})
    assert np.dtype("float32") in seen
    half = nv.check(nn.LayerNorm(3).half(), (4, 3), "LayerNorm(3)")
    assert half.ok
    assert nv.check(lambda x: F.layer_norm(x, (3,)).to(torch.float32), (4, 3), "LayerNorm(3)").ok


def test_arrays_are_noted():
    note = "Your function was called with NumPy arrays, because it returns one."
    fn = lambda x: np.asarray(x) - np.asarray(x).mean(1, keepdims=True)  # noqa: E731
    found = nv.check(fn, torch.rand(4, 3))
    assert found.notes == (note,)
    assert str(found).endswith(note)


def test_constants_are_no_stored_statistics():
    scale, shift = torch.tensor([1.0, 2, 3]), torch.tensor([0.0, 1, 2])
    found = nv.check(lambda x: x * scale + shift, (4, 3), "BatchNorm1d(3).eval()")
    assert str(found) == "It uses no statistics: each output is a*x + b."
    assert nv.check(F.relu, (4, 3), "BatchNorm1d(3).eval()").differences[-1].what == "not_normalization"


def test_a_function_that_is_wrong_on_another_shape():
    def rows(x):
        return F.layer_norm(x, x.shape[1:]) * (1 if x.shape[1] == 3 else 2)

    like = Norm("n d -> n", None)
    found = nv.check(rows, torch.randn(4, 3, generator=torch.Generator().manual_seed(1)), like)
    assert [(one.what, one.sentence) for one in found.differences] == [
        ("sizes", "It is right on (4, 3), but not on (5, 7): there its output differs by up to 2.22."),
        ("factor", "It multiplies by 2, which is no parameter."),
    ]
    other = nv.check(rows, torch.randn(4, 3, generator=torch.Generator().manual_seed(1)), like, shapes=[(4, 8)])
    assert other.differences[0].what == "sizes"
    assert other.differences[0].found == "another output on (4, 8)"


def test_a_dtype_and_another_difference_are_both_told():
    found = nv.check(lambda x: (2 * F.layer_norm(x, (3,))).double(), torch.rand(4, 3), "LayerNorm(3)")
    assert [one.what for one in found.differences] == ["dtype", "factor"]


def test_the_description_of_a_layer_has_its_reduced_axes():
    for like, shape, reduced in (("GroupNorm(2, 4)", (2, 4, 3), (1, 2)), ("GroupNorm(4, 4)", (2, 4, 3), (2,)), ("LayerNorm(1)", (2, 1), ()), ("BatchNorm1d(4).eval()", (2, 4), ())):  # fmt: skip
        assert nv.check(Layer.parse(like).module(), shape, like).reduced == reduced
        assert describe(like, shape).norm.running == like.endswith("eval()")


def test_like_is_a_layer_of_torch_or_is_measured():
    """OnePlus is an RMSNorm that multiplies by 1 + gamma."""
    x = torch.zeros(2, 4, 5)
    known = checks.expected_of(nn.LayerNorm(5), x, None, {}).layer
    assert (str(known.layer), known.norm.stats) == ("LayerNorm([5])", "n l c -> n l")
    assert checks.expected_of(nn.BatchNorm1d(5), x, "NLC", {}).layer.norm.stats == "n l c -> c"
    assert checks.expected_of("BatchNorm1d(5)", x, "NLC", {}).layer.norm.stats == "n l c -> c"
    own = checks.expected_of(OnePlus(5), x, None, {}).layer
    assert (own.name, own.layer, own.norm.stats, own.norm.eps, own.norm.zero_centered_gamma) == (
        "OnePlus",
        None,
        "n l c -> n l",
        1e-6,
        True,
    )
    assert checks.expected_of(type("Own", (nn.Module,), {"forward": lambda self, x: F.layer_norm(x, (5,))})(), x, "NCL", {}).layer.norm.stats == "n c l -> n c"  # fmt: skip


def test_another_divisor_and_another_use_are_both_told():
    def fn(x, gamma, beta):
        return (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True) + 1e-5).sqrt() * gamma - beta

    found = nv.check(fn, (4, 3), "LayerNorm(3)", params={"gamma": torch.ones(3), "beta": torch.zeros(3)})
    assert [one.what for one in found.differences] == ["variance", "beta"]


def test_a_function_that_clips_on_another_shape():
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(1))
    found = nv.check(lambda x: F.layer_norm(x, x.shape[1:]).clamp(max=1 if x.shape[1] == 5 else 2), x, Norm("n d -> n", None))  # fmt: skip
    assert [one.found for one in found.differences] == ["another output on (4, 5)", "other values"]
    assert str(found).endswith("It clips its output to the range from -inf to 1.")  # the least output is no limit


def test_a_pass_has_the_parameters_that_the_function_has():
    half = {"gamma": torch.ones(3)}
    assert repr(nv.check(lambda x: F.layer_norm(x, (3,)), (4, 3), "LayerNorm(3)").norm) == "Norm('n d -> n')"
    assert repr(nv.check(lambda x, gamma: F.layer_norm(x, (3,), gamma), (4, 3), "LayerNorm(3)", params=half).norm) == "Norm('n d -> n', 'd', bias=False)"  # fmt: skip
    assert repr(nv.check(nn.LayerNorm(3), (4, 3), "LayerNorm(3)").norm) == "Norm('n d -> n', 'd')"
    assert repr(nv.check(nn.BatchNorm1d(3).eval(), (4, 3), "BatchNorm1d(3).eval()").norm) == "Norm('n d -> d', 'd', running=True)"  # fmt: skip
