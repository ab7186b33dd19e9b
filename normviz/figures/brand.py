"""The mark - a small tensor with one group filled - as an address that needs no request."""

from __future__ import annotations

from base64 import b64encode

from normviz.figures.palette import theme

CELL, GAP = 9, 1
BLUE, CORAL = theme("light").few[:2]
GREY = "#7b879b"  # reads on a light and on a dark header


def _cells() -> str:
    fills = [[BLUE, BLUE, BLUE], [CORAL, CORAL, CORAL], [BLUE, BLUE, BLUE]]
    return "".join(
        f'<rect x="{column * (CELL + GAP)}" y="{row * (CELL + GAP)}" width="{CELL}" height="{CELL}" rx="1.5" fill="{fill}"/>'
        for row, line in enumerate(fills)
        for column, fill in enumerate(line)
    )


def _address(svg: str) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


def wordmark() -> str:
    """The mark and the name."""
    return _address(
        '<svg xmlns="http://www.w3.org/2000/svg" width="132" height="30" viewBox="0 0 132 30">'
        f"{_cells()}"
        f'<text x="40" y="22" font-family="Segoe UI, Roboto, Liberation Sans, sans-serif" font-size="22" font-weight="700" fill="{GREY}">normviz</text></svg>'
    )


FAVICON = _address(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 31 31">{_cells()}</svg>')
