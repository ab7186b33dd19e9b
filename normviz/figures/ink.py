"""The colour that Plotly gives a cell, and ink that can be read on it."""

from __future__ import annotations

from itertools import pairwise

from normviz.figures.palette import Stops

Rgb = tuple[float, float, float]


def fill(stops: Stops, place: float) -> Rgb:
    """The colour at ``place``, from 0 to 1, of a colour scale.

    >>> fill([(0.0, "#000000"), (1.0, "#ff0000")], 0.2)
    (51.0, 0.0, 0.0)
    """
    place = min(1.0, max(0.0, place))
    for (low, one), (high, other) in pairwise(stops):
        if place <= high and high > low:
            share = (place - low) / (high - low)
            red, green, blue = (a + (b - a) * share for a, b in zip(_rgb(one), _rgb(other), strict=True))
            return red, green, blue
    return _rgb(stops[-1][1])


def mixed(one: str, share: float, other: str) -> str:
    """``color-mix(in srgb, one share, other)``.

    >>> mixed("#ff0000", 0.5, "#ffffff")
    '#ff8080'
    """
    parts = (round(share * a + (1 - share) * b) for a, b in zip(_rgb(one), _rgb(other), strict=True))
    return "#" + "".join(f"{part:02x}" for part in parts)


def seen_through(colour: str, share: float) -> str:
    """
    >>> seen_through("#ff0000", 0.25)
    'rgba(255,0,0,0.25)'
    """
    red, green, blue = _rgb(colour)
    return f"rgba({red:.0f},{green:.0f},{blue:.0f},{share:g})"


def ink_on(ground: Rgb, inks: tuple[str, str]) -> str:
    """The one of two inks that stands out more.

    >>> ink_on((255.0, 255.0, 255.0), ("#000000", "#ffffff"))
    '#000000'
    """
    return max(inks, key=lambda ink: _contrast(_rgb(ink), ground))


def _rgb(text: str) -> Rgb:
    red, green, blue = (float(int(text[at : at + 2], 16)) for at in (1, 3, 5))
    return red, green, blue


def _contrast(one: Rgb, other: Rgb) -> float:
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(parts: Rgb) -> float:
    linear = [part / 255 / 12.92 if part <= 10.3 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
