"""The colors of both themes; each has one meaning, and readers with color blindness can tell them apart.

Ids and outlines carry the same meaning without color.
"""

from base64 import b64encode
from dataclasses import dataclass
from typing import Literal

from normviz.texts.errors import NormvizError, echo, listed

FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"  # the same widths on every system
Stops = list[tuple[float, str]]
GROUP_COLORS = 16


@dataclass(frozen=True)
class Theme:
    """CSS colors.

    accent      the selected element, and nothing else
    veil        over the elements that do not share with the selected one
    ink         text on cells: dark or light, whichever has more contrast
    few         statistics groups 0 to 7; dark text is readable on each (based on Paul Tol's "light" scheme)
    more        statistics groups 8 to 15, darker; the colors of further groups repeat both
    parameters  the ends of a ramp for parameter groups
    values      a ramp from negative values through zero to positive ones
    none        cells of a layer without parameters
    group       the words of a programming language
    """

    background: str
    card: str
    text: str
    muted: str
    border: str
    accent: str
    veil: str
    ink: tuple[str, str]
    few: tuple[str, ...]
    more: tuple[str, ...]
    parameters: tuple[str, ...]
    values: tuple[str, ...]
    none: str
    group: str


FOLLOW = "follow"  # of a file: the theme of the page around it
FigureTheme = Literal["light", "dark"]
THEMES: dict[str, Theme] = {
    "light": Theme(
        background="#ffffff",
        card="#ffffff",
        text="#16202e",
        muted="#526075",
        border="#dfe3ea",
        accent="#bd3c0a",
        veil="rgba(255,255,255,0.82)",
        ink=("#040507", "#ffffff"),
        few=("#77aadd", "#ee8866", "#44bb99", "#ffaabb", "#bbcc33", "#99ddff", "#eedd88", "#aaaa00"),
        more=("#4a6989", "#94543f", "#2a745f", "#9e6974", "#747e20", "#5f899e", "#948954", "#696900"),
        parameters=("#bcebce", "#1f8f86"),
        values=("#2a6fb0", "#a9cbe6", "#f4f5f7", "#ecc79c", "#a85b12"),
        none="#e6e9ef",
        group="#5b8fc4",
    ),
    "dark": Theme(
        background="#10141f",
        card="#10141f",
        text="#e8ecf4",
        muted="#9fabc2",
        border="#2b3348",
        accent="#ffb000",
        veil="rgba(16,20,31,0.82)",
        ink=("#040507", "#ffffff"),
        few=("#6f9fd0", "#e58a6a", "#45b08f", "#e79aab", "#aebf3a", "#86c6e6", "#d9c977", "#a3a32a"),
        more=("#456381", "#8e5642", "#2b6d59", "#8f5f6a", "#6c7624", "#537b8f", "#877d4a", "#65651a"),
        parameters=("#1f4f52", "#8ee6c4"),
        values=("#7db4ec", "#33587f", "#242b3b", "#7a5730", "#f0b26b"),
        none="#2a3144",
        group="#6f9fd0",
    ),
}


def theme(name: str) -> Theme:
    """The theme of that name. Raises NormvizError for another name."""
    if name not in THEMES:
        raise NormvizError("{name} is not a theme; choose {themes}.", name=echo(name), themes=listed(THEMES))
    return THEMES[name]


def by_meaning(name: str, colors: Theme) -> str:
    """The color with a name such as "accent", "muted" or "few.0".

    >>> by_meaning("accent", theme("light"))
    '#bd3c0a'
    """
    key, _dot, number = name.partition(".")
    found = getattr(colors, key)
    return str(found[int(number)] if number else found)


def stops(colors: Theme, scale: str, groups: int = 0) -> Stops:
    """The Plotly color scale "groups" (for a number of groups), "parameters", "values" or "none"."""
    if scale == "none":
        return [(0.0, colors.none), (1.0, colors.none)]
    if scale == "groups":
        used = (colors.few + colors.more)[:groups]
        edges = [i / len(used) for i in range(len(used) + 1)]
        return [(edge, color) for i, color in enumerate(used) for edge in edges[i : i + 2]]
    ramp = {"parameters": colors.parameters, "values": colors.values}[scale]
    return [(i / (len(ramp) - 1), color) for i, color in enumerate(ramp)]


# The logo, a small tensor with one group filled, as data URLs.


CELL, GAP, EDGE = 9, 1, 3
BLUE, CORAL = theme("light").few[:2]
GRAY = "#7b879b"  # readable on a light and on a dark header


def _cells() -> str:
    """One path for each color; the stroke rounds the corners. Short, because each run of a page sends it."""
    side = CELL - EDGE
    square = f"h{side}v{side}h-{side}z"
    rows = [
        "".join(f"M{column * (CELL + GAP) + EDGE / 2} {row * (CELL + GAP) + EDGE / 2}{square}" for column in range(3))
        for row in range(3)
    ]
    paths = ((BLUE, rows[0] + rows[2]), (CORAL, rows[1]))
    drawn = "".join(f'<path d="{path}" fill="{color}" stroke="{color}"/>' for color, path in paths)
    return f'<g stroke-width="{EDGE}" stroke-linejoin="round">{drawn}</g>'


def _data_url(svg: str) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


# "normviz" as lines from y=10 to y=22, not as text: a machine without the font would draw another width, and cut the last letter.
NAME = (
    "M42 22V10m0 6.2a4.4 4.4 0 0 1 8.8 0V22"  # n
    "m4-6a4.6 4.6 0 1 1 9.2 0a4.6 4.6 0 1 1-9.2 0"  # o
    "m13.4 6V10m0 6.5c0-3 1.8-4.9 5-4.9"  # r
    "m4 10.4V10m0 6.2a3.9 3.9 0 0 1 7.8 0V22m0-5.8a3.9 3.9 0 0 1 7.8 0V22"  # m
    "m3.2-11.8 4.6 10.2 4.6-10.2"  # v
    "m4.2 11.8V10m0-2.8V4"  # i
    "m3.9 7.6h7.2l-6.8 8.8h7.6"  # z
)


def wordmark() -> str:
    """The logo with the name."""
    return _data_url(
        '<svg xmlns="http://www.w3.org/2000/svg" width="132" height="30" viewBox="0 0 132 30">'
        f'{_cells()}<path d="{NAME}" fill="none" stroke="{GRAY}" stroke-width="3.2" stroke-linejoin="round"/></svg>'
    )


FAVICON = _data_url(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 31 31">{_cells()}</svg>')
