import re
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.scene.setting import (
    LONGEST_LIST,
    choice,
    integer,
    number,
    number_or_none,
    read_settings,
    text,
    texts,
    write_settings,
)
from normviz.texts.errors import NormvizError

KIND = choice("show", {"stream": "Over time", "modes": "train() and eval()"})
STEPS = integer("steps", 1, 500, 60)
DRIFT = number("drift", -10.0, 10.0, 0.0)
MOMENTUM = number_or_none("momentum", 0, 1, 0.1)
SEARCH = text("search", 5)
LAYERS = texts("layers", ("a",), 2)

BY_HAND = [
    # setting, text in the link, its value, its text when written
    (KIND, "modes", "modes", "modes"),
    (STEPS, "1", 1, "1"),
    (STEPS, "500", 500, "500"),
    (STEPS, "5e2", 500, "500"),
    (DRIFT, "-10", -10.0, "-10"),
    (DRIFT, "0.25", 0.25, "0.25"),
    (MOMENTUM, "none", None, "none"),
    (MOMENTUM, " None ", None, "none"),
    (MOMENTUM, "1", 1.0, "1"),
    (MOMENTUM, "1e-12", 1e-12, "1e-12"),
    (SEARCH, "eps", "eps", "eps"),
    (SEARCH, "", "", ""),
    (LAYERS, "a; b ;", ("a", "b"), "a;b"),
]


@pytest.mark.parametrize(("field", "given", "value", "written"), BY_HAND)
def test_a_value_is_read_and_written(field, given, value, written):
    assert field.parse(given) == value
    assert type(field.parse(given)) is type(value)
    assert field.format(value) == written
    assert field.parse(written) == value


WRONG = [
    # setting, text in the link, message, nearest value
    (KIND, "", "show='' is unknown; choose stream or modes.", "stream"),
    (KIND, "Modes", "show='Modes' is unknown; choose stream or modes.", "stream"),
    (STEPS, "0", "steps='0' must be a whole number from 1 to 500.", 1),
    (STEPS, "-3", "must be a whole number from 1 to 500.", 1),
    (STEPS, "501", "must be a whole number from 1 to 500.", 500),
    (STEPS, "1000000000", "steps='1000000000' must be a whole number from 1 to 500.", 500),
    (STEPS, "2.7", "must be a whole number", 2),
    (STEPS, "many", "must be a whole number", 60),
    (STEPS, "", "must be a whole number", 60),
    (STEPS, "nan", "must be a whole number", 60),
    (STEPS, "inf", "must be a whole number", 60),
    (STEPS, "1" * 41, "must be a whole number", 60),
    (DRIFT, "10.01", "drift='10.01' must be a number from -10 to 10.", 10.0),
    (DRIFT, "-1e300", "must be a number from -10 to 10.", -10.0),
    (DRIFT, "nan", "must be a number from -10 to 10.", 0.0),
    (DRIFT, "1e999", "must be a number from -10 to 10.", 0.0),
    (MOMENTUM, "2", "momentum='2' must be a number, or none, from 0 to 1.", 1.0),
    (MOMENTUM, "nothing", "must be a number, or none, from 0 to 1.", 0.1),
    (SEARCH, "gammas", "search='gammas' is too long; use at most 5 characters.", "gamma"),
    (LAYERS, "", "layers='' must be 1 to 2 texts, separated by semicolons.", ("a",)),
    (LAYERS, ";;", "layers=';;' must be 1 to 2 texts", ("a",)),
    (LAYERS, "b;c;d", "layers='b;c;d' must be 1 to 2 texts, separated by semicolons.", ("b", "c")),
    (LAYERS, "b" * (LONGEST_LIST + 1), "must be 1 to 2 texts", ("b" * LONGEST_LIST,)),
]  # fmt: skip


@pytest.mark.parametrize(("field", "given", "words", "nearest"), WRONG)
def test_a_wrong_value_gives_a_message_and_the_nearest_legal_value(field, given, words, nearest):
    with pytest.raises(NormvizError, match=re.escape(words)):
        field.parse(given)
    values, problem = read_settings([field], {field.name: given})
    assert words in problem
    assert len(problem) < 200
    assert values == {field.name: nearest}
    assert type(values[field.name]) is type(nearest)


def test_empty_texts_are_ignored():
    assert LAYERS.parse(";;b") == ("b",)


def test_a_setting_that_is_not_in_the_link_has_its_default():
    fields = [KIND, STEPS, DRIFT, MOMENTUM, SEARCH, LAYERS]
    defaults = {"show": "stream", "steps": 60, "drift": 0.0, "momentum": 0.1, "search": "", "layers": ("a",)}
    assert read_settings(fields, {}) == (defaults, None)
    assert read_settings(fields, {"shape": "2,3", "layer": "x"}) == (defaults, None)
    assert write_settings(fields, defaults) == {}
    assert write_settings(fields, {}) == {}


def test_the_default_of_a_choice_need_not_be_the_first():
    assert read_settings([choice("dtype", {"a": "A", "b": "B"}, "b")], {}) == ({"dtype": "b"}, None)


def test_the_first_of_several_errors_is_returned_and_all_values_are_legal():
    values, problem = read_settings([STEPS, DRIFT, KIND], {"show": "x", "drift": "99", "steps": "9000"})
    assert problem == "steps='9000' must be a whole number from 1 to 500."
    assert values == {"steps": 500, "drift": 10.0, "show": "stream"}


def test_defaults_are_not_written():
    assert write_settings([STEPS, DRIFT, MOMENTUM], {"steps": 60, "drift": -0.5, "momentum": None}) == {
        "drift": "-0.5",
        "momentum": "none",
    }


@given(st.text(max_size=60))
def test_any_text_reads_as_a_legal_value(said):
    fields = [KIND, STEPS, DRIFT, MOMENTUM, SEARCH, LAYERS]
    values, problem = read_settings(fields, {field.name: said for field in fields})
    assert values["show"] in ("stream", "modes")
    assert values["steps"] in range(1, 501)
    assert -10 <= values["drift"] <= 10
    assert values["momentum"] is None or 0 <= values["momentum"] <= 1
    assert len(values["search"]) <= 5
    assert 1 <= len(values["layers"]) <= 2
    assert problem is None or problem.split("=")[0] in values


@given(st.floats(-10, 10), st.integers(1, 500))
def test_a_written_value_reads_back(drift, steps):
    written = write_settings([DRIFT, STEPS], {"drift": drift, "steps": steps})
    values, problem = read_settings([DRIFT, STEPS], written)
    assert problem is None
    assert values == {"steps": steps, "drift": drift}


def test_a_number_of_many_digits_reads_back():
    assert write_settings([DRIFT], {"drift": 0.24609375001}) == {"drift": "0.24609375001"}
    assert write_settings([MOMENTUM], {"momentum": 1 / 3}) == {"momentum": "0.3333333333333333"}


@given(st.floats())
def test_any_float_reads_as_itself_or_as_the_nearer_end(number):
    values, problem = read_settings([DRIFT], {"drift": repr(number)})
    if number in (inf, -inf) or number != number:
        assert values == {"drift": 0.0}
        assert problem
    else:
        assert values["drift"] == min(max(number, -10), 10)
        assert (problem is None) == (abs(number) <= 10)


@pytest.mark.parametrize("number", [nan, inf, -inf])
def test_nan_and_infinity_read_as_the_default(number):
    assert read_settings([MOMENTUM], {"momentum": str(number)})[0] == {"momentum": 0.1}
