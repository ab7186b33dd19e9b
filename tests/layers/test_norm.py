import re
from dataclasses import FrozenInstanceError
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError
from tests.support.strategies import norms

AXES = [
    # a split axis gets its name in params, or else the first free one of c, d, e, f
    (Norm("n c h w -> n", "c"), ("n", "c", "h", "w")),
    (Norm("n (g k) h w -> n g", "c"), ("n", "c", "h", "w")),
    (Norm("n (g k) h w -> n g"), ("n", "c", "h", "w")),
    (Norm("n (g k) h w -> n g", "z"), ("n", "z", "h", "w")),
    (Norm("n (c k) h w -> n c"), ("n", "d", "h", "w")),
    (Norm("(g k) (a b) -> g", "y x"), ("y", "x")),
    (Norm("(g k) c h w -> g c", "c"), ("n", "c", "h", "w")),  # beside the channels, the first one is the batch
    (Norm("(c d) (e f) (g h) -> c"), ("c1", "c2", "c3")),
    (Norm("(c d) (e f) (c1 c2) -> c"), ("c3", "c4", "c5")),
    (Norm("(a1 b1) (a2 b2) (a3 b3) (a4 b4) (a5 b5) -> a1"), ("c", "d", "e", "f", "c1")),
]


@pytest.mark.parametrize(("norm", "axes"), AXES)
def test_every_axis_of_x_has_one_name(norm, axes):
    assert norm.axes == axes


SIZES = [
    (Norm("n c h w -> n", "c"), (2, 3, 4, 5), {"n": 2, "c": 3, "h": 4, "w": 5}),
    (Norm("n (g k) -> n g", "c", sizes={"g": 3}), (2, 6), {"n": 2, "c": 6, "g": 3, "k": 2}),
    (Norm("(c d) (e f) -> c", sizes={"c": 2, "e": 3}), (4, 9), {"c1": 4, "c2": 9, "c": 2, "d": 2, "e": 3, "f": 3}),
]


@pytest.mark.parametrize(("norm", "shape", "sizes"), SIZES)
def test_every_name_has_a_size(norm, shape, sizes):
    assert norm.axis_sizes(shape) == sizes


GAMMA = [(None, (), False), ("", (), True), ("c", ("c",), True), (" h  c ", ("h", "c"), True)]


@pytest.mark.parametrize(("params", "axes", "bias"), GAMMA)
def test_params_none_is_no_gamma_and_an_empty_text_is_one_scalar(params, axes, bias):
    norm = Norm("n c h -> n", params)
    assert (norm.gamma_axes, norm.bias) == (axes, bias)


WRITTEN = [
    (Norm("n c->n"), "Norm('n c -> n')", "statistics: n c -> n | no gamma, no beta"),
    (Norm("n c -> n", "c"), "Norm('n c -> n', 'c')", "statistics: n c -> n | gamma, beta: c"),
    (Norm("n c ->", ""), "Norm('n c ->', '')", "statistics: n c -> | gamma, beta: one scalar"),
    (
        Norm("n c -> n", "c", center=False, eps=None, bias=False),
        "Norm('n c -> n', 'c', center=False, eps=None, bias=False)",
        "statistics: n c -> n | gamma: c",
    ),
    (
        Norm("n (g k) -> n g", "c", sizes={"g": 2}, running=True, eps=0),
        "Norm('n (g k) -> n g', 'c', eps=0.0, running=True, sizes={'g': 2})",
        "running statistics: n (g k) -> n g | gamma, beta: c",
    ),
]


@pytest.mark.parametrize(("norm", "as_code", "in_words"), WRITTEN)
def test_a_norm_is_written_as_code_and_as_a_description(norm, as_code, in_words):
    assert repr(norm) == as_code
    assert str(norm) == in_words


@given(st.booleans().flatmap(norms))
def test_the_repr_of_a_norm_evaluates_to_an_equal_norm(drawn):
    norm, _ = drawn
    again = eval(repr(norm), {"Norm": Norm})
    assert again == norm
    assert hash(again) == hash(norm)


@given(norms())
def test_names_and_sizes_fit_the_shape(drawn):
    norm, shape = drawn
    sizes = norm.axis_sizes(shape)
    assert len(set(norm.axes)) == len(shape)
    assert tuple(sizes[name] for name in norm.axes) == shape


def test_norms_with_the_same_fields_are_equal():
    assert Norm("n c->n", "c") == Norm(" n c -> n", " c ")
    assert Norm("n (g k) -> g", sizes={"g": 2}) == Norm("n (g k) -> g", sizes=(("g", 2),))
    assert Norm("n c -> n", "c") != Norm("n c -> n", "c", bias=False)
    assert Norm("n c -> n") != Norm("n c -> n", "")


def test_a_norm_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Norm("n c -> n").eps = 1.0


ILLEGAL = [
    ({"stats": 3}, "3 is not a pattern; write the axes of x, an arrow and the kept axes"),
    ({"stats": ["n"]}, "['n'] is not a pattern"),
    ({"params": 3}, "params=3 is not a list of axes; write 'c h w', '' or None."),
    ({"params": ["c"]}, "params=['c'] is not a list of axes"),
    ({"params": "c h z"}, "params 'c h z' names 'z', which is not an axis of x; its axes are n c h."),
    ({"params": "c c"}, "params 'c c' names 'c' twice; name each axis once."),
    ({"params": "C"}, "'C' is not an axis name in 'C'"),
    (
        {"stats": "n (g k) -> g", "params": "c g", "sizes": {"g": 2}},
        "params 'c g' names 'c' and its parts (g k); name one or the other.",
    ),
    (
        {"stats": "n (g k) -> g", "params": "c d", "sizes": {"g": 2}},
        "params 'c d' names 'd', which is not an axis of x; its axes are n c g k.",
    ),
    ({"eps": -inf}, "eps=-inf must be a finite number, such as 1e-5."),
    ({"eps": inf}, "eps=inf must be a finite number"),
    ({"eps": nan}, "eps=nan must be a finite number"),
    ({"eps": "1"}, "eps='1' must be a finite number"),
    ({"eps": True}, "eps=True must be a finite number"),
    ({"eps": 10**400}, "eps=1000000000"),
    ({"center": 1}, "center=1 must be True or False."),
    ({"bias": "yes"}, "bias='yes' must be True or False."),
    ({"running": None}, "running=None must be True or False."),
    ({"sizes": 3}, "sizes=3 must name split axes and their sizes, as in {'g': 2}."),
    ({"sizes": {"g": 2, 1: 2}}, "must name split axes and their sizes"),
    ({"stats": "n (g k) -> g", "sizes": {"g": 0}}, "sizes['g']=0 must be a whole number of at least 1."),
    ({"stats": "n (g k) -> g", "sizes": {"g": True}}, "sizes['g']=True must be a whole number of at least 1."),
    ({"stats": "n (g k) -> g", "sizes": {"g": 2.0}}, "sizes['g']=2.0 must be a whole number of at least 1."),
    ({"sizes": {"z": 2}}, "sizes names 'z', which is not an axis of x; its axes are n c h."),
    ({"sizes": {1: 2}}, "sizes names 1, which is not an axis of x"),
]


@pytest.mark.parametrize(("changed", "message"), ILLEGAL)
def test_an_invalid_norm_raises_an_error_with_the_rule(changed, message):
    with pytest.raises(NormvizError, match=re.escape(message)):
        Norm(**({"stats": "n c h -> n", "params": "c"} | changed))


def test_a_shape_that_does_not_fit_raises_an_error():
    with pytest.raises(NormvizError, match=re.escape("has rank 2 and x has rank 3, shape (1, 2, 3)")):
        Norm("n c -> n").axis_sizes((1, 2, 3))
    with pytest.raises(NormvizError, match="an axis of size 6 cannot be split by g=4"):
        Norm("n (g k) -> n g", sizes={"g": 4}).axis_sizes((2, 6))
