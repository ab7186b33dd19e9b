"""eps and numbers as the page Numerics shows them."""

from __future__ import annotations

SIZE = 256  # numbers in a group


def as_code(eps: float) -> str:
    """eps as a program writes it.

    >>> as_code(0.001), as_code(2.5e-12), as_code(1.0)
    ('1e-3', '2.5e-12', '1')
    """
    mantissa, _e, exponent = f"{eps:e}".partition("e")
    return f"{float(mantissa):g}" + (f"e{int(exponent)}" if int(exponent) else "")
