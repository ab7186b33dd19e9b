"""Numbers as pages show them."""

import ast
from math import inf, nan
from pathlib import Path

import pytest

import normviz
from normviz.scene.setting import read_number
from normviz.texts.messages import _, format_count, format_number, in_language, ngettext
from tests.support.javascript import evaluate

PACKAGE = Path(normviz.__file__).parent


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (1.00249, "1.002"),
        (-131072.0, "−131,072"),
        (1e-12, "1e−12"),
        (-5.9e-8, "−5.9e−8"),
        (1234.5, "1,234"),
        (9999.9, "1e4"),
        (1e30, "1e30"),
        (nan, "NaN"),
        (inf, "∞"),
        (-inf, "−∞"),
    ],
)
def test_a_number_has_thousands_separators_a_true_minus_sign_and_short_powers(value, text):
    assert format_number(value) == text


NARROW = "\u202f"


@pytest.mark.parametrize(
    ("value", "comma", "space"),
    [
        (48, "48", "48"),
        (9408, "9,408", "9408"),
        (10000, "10,000", f"10{NARROW}000"),
        (-131072, "−131,072", f"−131{NARROW}072"),
        (12345678, "12,345,678", f"12{NARROW}345{NARROW}678"),
    ],
)
def test_thousands_have_a_narrow_space_where_a_comma_begins_the_decimals(value, comma, space):
    for name, expected in {"en": comma, "zh": comma, "es": space, "pt": space}.items():
        with in_language(name):
            assert (format_count(value), format_number(float(value), 8)) == (expected, expected)
            assert _("{n:,} of {all:,}", n=value, all=1) == f"{expected} of 1".replace("−", "-")
            assert ngettext("{n:,} x", "{n:,} x", value) == f"{expected} x".replace("−", "-")
        assert evaluate("formatCount(args[0])", value, language=name) == expected.replace("−", "-")
        assert evaluate("ngettext('{n} x', '{n} x', args[0])", value, language=name) == f"{expected} x".replace(
            "−", "-"
        )
        with in_language(name):
            assert read_number(expected, whole=True) == value  # what is printed can be typed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (131072.5, f"131{NARROW}073"),
        (-12345, f"−12{NARROW}345"),
        (9408.25, "9408"),
        (0.000123, "0.000123"),
        (1e7, "1e7"),
        (0.25, "0.25"),
    ],
)
def test_values_in_figures_have_the_same_spaces(value, text):
    assert evaluate("formatNumber(args[0])", value, language="es") == text
    assert evaluate("formatNumber(args[0])", value) == text.replace(NARROW, "")


def test_decimals_keep_their_point():
    with in_language("es"):
        assert (format_number(0.125), _("{x:,.2f}", x=12345.678)) == ("0.125", f"12{NARROW}345.68")


def test_no_text_has_thousands_that_the_language_does_not_group():
    """``f"{n:,}"`` is in English wherever it is shown: format_count is in the reader's language."""
    own = {}
    for file in PACKAGE.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        grouped = {id(node) for call in ast.walk(tree) if _is_grouping(call) for node in ast.walk(call)}
        found = [node.lineno for node in ast.walk(tree) if _has_thousands(node) and id(node) not in grouped]
        own |= {file.name: found} if found else {}
    assert own.keys() == {"messages.py"}  # format_number


def _is_grouping(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "group_digits"


def _has_thousands(node: ast.AST) -> bool:
    """Whether a format specification itself has a comma, not an expression in it, as ``{x:.{digits(a, b)}g}``."""
    spec = node.format_spec if isinstance(node, ast.FormattedValue) else None
    return isinstance(spec, ast.JoinedStr) and any(
        isinstance(one, ast.Constant) and "," in one.value for one in spec.values
    )
