import contextlib
import re

import numpy as np
import pytest
from einops import reduce
from hypothesis import given
from hypothesis import strategies as st

from normviz.layers.axes import Pattern, check_names, example_axis, layout_text, parse_layout, parse_names
from normviz.texts.errors import NormvizError, echo, listed
from tests.support.strategies import norms

PATTERNS = [
    # text, left, right, reduced
    ("n d -> n", (("n",), ("d",)), ("n",), ("d",)),
    ("n c h w -> c", (("n",), ("c",), ("h",), ("w",)), ("c",), ("n", "h", "w")),
    ("n (g k) h w -> n g", (("n",), ("g", "k"), ("h",), ("w",)), ("n", "g"), ("k", "h", "w")),
    ("d ->", (("d",),), (), ("d",)),
    ("a b -> b a", (("a",), ("b",)), ("b", "a"), ()),
    ("n d1 d2 -> n d2", (("n",), ("d1",), ("d2",)), ("n", "d2"), ("d1",)),
    ("(a b c) d -> b", (("a", "b", "c"), ("d",)), ("b",), ("a", "c", "d")),
]


@pytest.mark.parametrize(("text", "left", "right", "reduced"), PATTERNS)
def test_a_pattern_has_the_axes_of_x_and_the_kept_axes(text, left, right, reduced):
    pattern = Pattern.parse(text)
    assert (pattern.left, pattern.right, pattern.reduced) == (left, right, reduced)
    assert pattern.rank == len(left)
    assert str(pattern) == text


SIZES = [
    ("n d -> n", (2, 3), {}, {"n": 2, "d": 3}),
    ("n (g k) h w -> n g", (2, 6, 4, 5), {"g": 3}, {"n": 2, "g": 3, "k": 2, "h": 4, "w": 5}),
    ("n (g k) h w -> n g", (2, 6, 4, 5), {"k": 3}, {"n": 2, "g": 2, "k": 3, "h": 4, "w": 5}),
    ("n (g k) -> n g", (1, 6), {"g": 2, "k": 3}, {"n": 1, "g": 2, "k": 3}),
    ("(a b c) -> b", (24,), {"a": 2, "c": 4}, {"a": 2, "b": 3, "c": 4}),
]


@pytest.mark.parametrize(("text", "shape", "known", "sizes"), SIZES)
def test_sizes_follow_from_the_shape(text, shape, known, sizes):
    assert Pattern.parse(text).sizes(shape, known) == sizes


@pytest.mark.parametrize("text", ["n c->n", " n  c -> n ", "n\tc\n->\nn", "n (c) -> n"])
def test_spaces_and_brackets_around_one_name_change_nothing(text):
    assert Pattern.parse(text) == Pattern.parse("n c -> n")


NO_PATTERN = "is not a pattern; write the axes of x, an arrow and the kept axes, as in 'n c h w -> n'."
NAMES_ARE = "a name consists of lower-case letters and digits and is not a reserved word of Python or einops"
ILLEGAL = [
    ("", f"'' {NO_PATTERN}"),
    ("n c h w", f"'n c h w' {NO_PATTERN}"),
    ("n -> c -> w", f"'n -> c -> w' {NO_PATTERN}"),
    ("n " * 300 + "->", NO_PATTERN),
    (None, f"None {NO_PATTERN}"),
    (3, f"3 {NO_PATTERN}"),
    (["n"], f"['n'] {NO_PATTERN}"),
    ("n n -> n", "axis 'n' appears twice on the left of 'n n -> n'; name each axis once."),
    ("n (g n) -> g", "axis 'n' appears twice on the left"),
    ("n c -> z", "'-> z' names 'z', which is not an axis of x; its axes are n c."),
    ("n c -> n n", "'-> n n' names 'n' twice; name each axis once."),
    ("n (g k) -> (g k)", f"'(g' is not an axis name in ' (g k)'; {NAMES_ARE}, as in 'c h w'."),
    ("n C -> n", f"'n C -> n' has 'C' where an axis name belongs; {NAMES_ARE}, and a split axis is in one pair"),
    ("n c? -> n", "has '?' where an axis name belongs"),
    ("n 1 -> n", "has '1' where an axis name belongs"),
    ("n ... -> n", "has '.' where an axis name belongs"),
    ("n _c -> n", "has '_' where an axis name belongs"),
    ("n é -> n", "has 'é' where an axis name belongs"),
    ("n () -> n", "has ')' where an axis name belongs"),
    ("n ((g k) m) -> n", "has '(' where an axis name belongs"),
    ("n g k) -> n", "has ')' where an axis name belongs"),
    ("n (g k -> n", "'n (g k -> n' opens a bracket and does not close it; write '(g k)'."),
    ("-> ", "'-> ' has rank 0; x must have rank 1 to 64."),
    (" ".join(f"d{i}" for i in range(65)) + " ->", "has rank 65; x must have rank 1 to 64."),
    (
        "n if -> n",
        "has 'if' where an axis name belongs; a name consists of lower-case letters and digits and is not a reserved word of Python",
    ),
    (
        "n c -> lambda",
        "'lambda' is not an axis name in ' lambda'; a name consists of lower-case letters and digits and is not a reserved word of",
    ),
]


@pytest.mark.parametrize(("text", "message"), ILLEGAL)
def test_an_invalid_pattern_raises_an_error_with_the_rule(text, message):
    with pytest.raises(NormvizError, match=re.escape(message)):
        Pattern.parse(text)


@pytest.mark.parametrize("name", ["tensor", "pattern", "reduction"])
def test_argument_names_of_einops_are_not_axis_names(name):
    with pytest.raises(NormvizError, match=f"has '{name}' where an axis name belongs"):
        Pattern.parse(f"n {name} -> n")


MISFITS = [
    (
        "n c -> n",
        (2, 3, 4),
        {},
        "the pattern 'n c -> n' has rank 2 and x has rank 3, shape (2, 3, 4); name one axis for each axis of x.",
    ),
    ("n (g k) -> n", (2, 6), {}, "the sizes of g and k in (g k) are unknown; give all but one, as in sizes={'g': 2}."),
    (
        "n (g k) -> n",
        (2, 6),
        {"g": 4},
        "an axis of size 6 cannot be split by g=4 in (g k); the product of the sizes must divide 6.",
    ),
    (
        "n (g k) -> n",
        (2, 6),
        {"g": 1, "k": 3},
        "an axis of size 6 cannot be split by g=1 k=3 in (g k); the product of the sizes must be 6.",
    ),
    (
        "n c -> n",
        (2, 6),
        {"n": 3},
        "an axis of size 2 cannot be split by n=3 in (n); the product of the sizes must be 2.",
    ),
]


@pytest.mark.parametrize(("text", "shape", "known", "message"), MISFITS)
def test_a_shape_that_does_not_fit_the_pattern_raises_an_error(text, shape, known, message):
    with pytest.raises(NormvizError, match=re.escape(message)):
        Pattern.parse(text).sizes(shape, known)


@given(norms())
def test_the_text_of_a_pattern_parses_to_the_pattern(drawn):
    norm, _ = drawn
    assert Pattern.parse(str(norm.pattern)) == norm.pattern


@given(norms())
def test_einops_gives_the_same_sizes(drawn):
    norm, shape = drawn
    sizes = norm.pattern.sizes(shape, norm.split_sizes)
    counted = reduce(np.ones(shape), norm.stats, "sum", **norm.split_sizes)
    assert counted.shape == tuple(sizes[name] for name in norm.pattern.right)
    assert (counted == np.prod([sizes[name] for name in norm.pattern.reduced])).all()


@given(st.text(max_size=40) | st.text("nchw() ->gk1_A.", max_size=40))
def test_any_text_gives_a_pattern_or_a_normviz_error(text):
    with contextlib.suppress(NormvizError):
        assert Pattern.parse(Pattern.parse(text).__str__()) == Pattern.parse(text)


@pytest.mark.parametrize(("text", "names"), [("c h w", ("c", "h", "w")), ("", ()), ("  d1 ", ("d1",))])
def test_names_are_separated_by_spaces(text, names):
    assert parse_names(text) == names


@pytest.mark.parametrize("text", ["c H", "c,h", "(g k)", "c 1", "é"])
def test_an_invalid_name_raises_an_error(text):
    with pytest.raises(NormvizError, match=f"is not an axis name in .*; {NAMES_ARE}.*, as in 'c h w'"):
        parse_names(text)


def test_check_names_reports_the_source_and_the_axes():
    check_names(("c", "n"), ("n", "c"), "params 'c n'")
    with pytest.raises(
        NormvizError, match=re.escape("params 'z' names 'z', which is not an axis of x; its axes are n c.")
    ):
        check_names(("z",), ("n", "c"), "params 'z'")
    with pytest.raises(NormvizError, match="params 'c c' names 'c' twice; name each axis once"):
        check_names(("c", "c"), ("n", "c"), "params 'c c'")


LAYOUTS = [
    ("NCHW", ("n", "c", "h", "w")),
    ("nlc", ("n", "l", "c")),
    ("D", ("d",)),
    ("ND1D2", ("n", "d1", "d2")),
    ("CDHW", ("c", "d", "h", "w")),
]


@pytest.mark.parametrize(("text", "axes"), LAYOUTS)
def test_a_layout_has_one_letter_for_each_axis(text, axes):
    assert parse_layout(text, len(axes)) == axes
    assert layout_text(axes) == text.upper()


ILLEGAL_LAYOUTS = [
    ("", 1, "'' is not a layout; write one letter for each axis, as in 'NCHW' or 'NLC'."),
    ("N C", 2, "'N C' is not a layout; write one letter for each axis"),
    ("1N", 1, "'1N' is not a layout"),
    ("N-C", 2, "'N-C' is not a layout"),
    ("É", 1, "'É' is not a layout"),
    (None, 1, "None is not a layout"),
    (7, 1, "7 is not a layout"),
    ("N" * 501, 501, "is not a layout"),
    ("NCHW", 3, "the layout NCHW has rank 4 and x has rank 3; write one letter for each axis of x."),
    ("NDD", 3, "the layout NDD names an axis twice; use each letter once, or add digits, as in 'ND1D2'."),
]


@pytest.mark.parametrize(("text", "rank", "message"), ILLEGAL_LAYOUTS)
def test_an_invalid_layout_raises_an_error_with_the_rule(text, rank, message):
    with pytest.raises(NormvizError, match=re.escape(message)):
        parse_layout(text, rank)


@given(st.text(max_size=20), st.integers(0, 6))
def test_any_text_gives_a_layout_of_that_rank_or_a_normviz_error(text, rank):
    try:
        axes = parse_layout(text, rank)
    except NormvizError:
        return
    assert len(set(axes)) == rank
    assert parse_layout(layout_text(axes), rank) == axes


ECHOES = [
    (3, "3"),
    ("a\nb", r"'a\nb'"),
    ("a" * 100, "'" + "a" * 59 + "…"),
    (np.arange(4).reshape(2, 2), "array([[0, 1], [2, 3]])"),
]


@pytest.mark.parametrize(("value", "text"), ECHOES)
def test_an_echo_is_short_and_on_one_line(value, text):
    assert echo(value) == text


def test_an_int_too_long_for_python_to_print_has_an_echo():
    assert echo(10**5000) == "a value too long to print"


@pytest.mark.parametrize(
    ("values", "last", "phrase"), [([1], "or", "1"), ([1, 2], "or", "1 or 2"), (["a", "b", "c"], "and", "a, b and c")]
)
def test_listed_joins_values_to_a_phrase(values, last, phrase):
    assert listed(values, last) == phrase


def test_an_arrow_may_be_one_character():
    assert Pattern.parse("n c → n") == Pattern.parse("n c -> n")


def test_the_longest_texts():
    assert Pattern.parse("n c -> n".ljust(500)) == Pattern.parse("n c -> n")
    assert parse_names("c".ljust(500)) == ("c",)
    assert parse_layout("A" + "0" * 499, 1) == ("a" + "0" * 499,)
    assert Pattern.parse(" ".join(f"d{i}" for i in range(64)) + " ->").rank == 64
    message = f"{echo('c' * 501)} has 501 characters; write at most 500, as in 'c h w'."
    with pytest.raises(NormvizError, match=re.escape(message)):
        parse_names("c" * 501)


EXAMPLE_AXES = [
    ("NCHW", 0),
    ("CHWN", 3),
    ("BHWC", 0),
    ("BLD", 0),
    ("BCN", 2),
    ("B", None),  # a letter b without channels may name anything
    ("BHW", None),
    ("CHW", None),
    ("CB", None),
]


@pytest.mark.parametrize(("layout", "axis"), EXAMPLE_AXES)
def test_the_batch_axis_is_n_or_a_leading_b_before_channels(layout, axis):
    assert example_axis(parse_layout(layout, len(layout))) == axis
