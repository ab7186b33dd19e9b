"""Measures of color, from their published definitions: WCAG contrast, dichromatic vision, CIEDE2000 differences."""

from __future__ import annotations

import re

import numpy as np

Rgb = tuple[float, float, float]  # 0 to 1, sRGB

# Machado, Oliveira & Fernandes 2009, severity 1.0, on linear RGB.
VISION = {
    "full": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def rgb(text: str) -> Rgb:
    """``#rrggbb``."""
    return tuple(int(text[at : at + 2], 16) / 255 for at in (1, 3, 5))  # type: ignore[return-value]


def over(veil: str, ground: Rgb) -> Rgb:
    """``rgba(r,g,b,a)`` laid over an opaque color, as a browser composes it: in sRGB."""
    red, green, blue, alpha = map(float, re.findall(r"[\d.]+", veil))
    return tuple(
        alpha * part / 255 + (1 - alpha) * under for part, under in zip((red, green, blue), ground, strict=True)
    )  # type: ignore[return-value]


def mixed(low: str, high: str, share: float) -> Rgb:
    """A color between two stops of a scale, as Plotly interpolates it."""
    return tuple(a + (b - a) * share for a, b in zip(rgb(low), rgb(high), strict=True))  # type: ignore[return-value]


def linear(color: Rgb) -> np.ndarray:
    parts = np.array(color)
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def luminance(color: Rgb) -> float:
    """Relative luminance (WCAG 2.2)."""
    return float(linear(color) @ [0.2126, 0.7152, 0.0722])


def contrast(one: Rgb, other: Rgb) -> float:
    """The contrast ratio of WCAG 2.2, 1 to 21.

    >>> round(contrast(rgb("#000000"), rgb("#ffffff")), 6)
    21.0
    """
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lab(color: Rgb, vision: str = "full") -> np.ndarray:
    """CIE L*a*b* (D65) of a color as it appears to this vision."""
    seen = np.clip(VISION[vision] @ linear(color), 0, 1)
    to_xyz = np.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    )
    x, y, z = (to_xyz @ seen) / [0.95047, 1.0, 1.08883]
    f = [part ** (1 / 3) if part > (6 / 29) ** 3 else part / (3 * (6 / 29) ** 2) + 4 / 29 for part in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """CIEDE2000 (Sharma, Wu & Dalal 2005).

    >>> round(difference(np.array([50, 2.6772, -79.7751]), np.array([50, 0, -82.7485])), 4)
    2.0425
    """
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean_c = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    g = (1 - np.sqrt(mean_c**7 / (mean_c**7 + 25**7))) / 2
    c1, c2 = np.hypot((1 + g) * a1, b1), np.hypot((1 + g) * a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, (1 + g) * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    dl, dc, dh = l2 - l1, c2 - c1, 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    ml, mc = (l1 + l2) / 2, (c1 + c2) / 2
    mh = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    t = (
        1
        - 0.17 * np.cos(np.radians(mh - 30))
        + 0.24 * np.cos(np.radians(2 * mh))
        + 0.32 * np.cos(np.radians(3 * mh + 6))
        - 0.20 * np.cos(np.radians(4 * mh - 63))
    )
    sl = 1 + 0.015 * (ml - 50) ** 2 / np.sqrt(20 + (ml - 50) ** 2)
    sc, sh = 1 + 0.045 * mc, 1 + 0.015 * mc * t
    rt = -2 * np.sqrt(mc**7 / (mc**7 + 25**7)) * np.sin(np.radians(60 * np.exp(-(((mh - 275) / 25) ** 2))))
    return float(np.sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rt * dc / sc * dh / sh))
