"""Numbers as pages show them: thousands separators, a true minus sign, powers of ten as in code."""

from __future__ import annotations

from math import isfinite, isnan


def format_number(value: float, digits: int = 4) -> str:
    """The number with up to ``digits`` significant digits.

    >>> format_number(-131072.0), format_number(1.2345678e-07), format_number(float("inf")), format_number(-0.0)
    ('−131,072', '1.235e−7', '∞', '0')
    """
    if isnan(value) or value == 0:
        return "NaN" if isnan(value) else "0"
    if not isfinite(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:,.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    return (mantissa + (f"e{int(exponent)}" if exponent else "")).replace("-", "−")


def format_fixed(value: float, places: int) -> str:
    """The number with that many decimal places, for columns of numbers.

    >>> format_fixed(-0.71, 4)
    '−0.7100'
    """
    return f"{value:.{places}f}".replace("-", "−")


def format_difference(difference: float) -> str:
    """The largest difference between two results, with two digits.

    >>> format_difference(0.0), format_difference(2.22e-16)
    ('0', '2.2e−16')
    """
    return format_number(difference, 2)
