"""Numbers as pages show them."""

from math import inf, nan

import pytest

from normviz.texts.messages import format_number


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
