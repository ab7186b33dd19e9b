"""Figures as pictures: one plain Plotly figure a part, and PNG, SVG and PDF files of them.

A picture is drawn by Plotly's own renderer, kaleido, in a Chromium or Chrome that it finds. Nothing is fetched.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any

from normviz.figures import Marked, themed
from normviz.figures import picture as of_panels
from normviz.layers.errors import NormvizError, echo, listed
from normviz.lessons.parts.part import Chart, Panels, Part, flat

if TYPE_CHECKING:
    import plotly.graph_objects as go

FORMATS = ("png", "svg", "pdf")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 90  # seconds for one picture
LARGEST_SCALE, WIDEST = 8.0, 16_384  # pixels
INSTALL = "pip install 'normviz[images]'"
NO_BROWSER = (
    "a picture is drawn by Chromium or Chrome, and none was found; install one (Debian: apt install chromium; anywhere: "
    "kaleido_get_chrome), or name it in BROWSER_PATH."
)


def picture(part: Panels | Chart, theme: str = "light") -> go.Figure:
    """The part as one plain Plotly figure, the selected element and its peers marked.

    Raises NormvizError for an unknown theme.
    """
    if isinstance(part, Chart):
        return themed(part.lines, theme)
    return of_panels(part.panels(), part.drawing, theme, part.across, title=_title(part), marked=_marked(part))


def pictures(parts: Iterable[Part], theme: str = "light") -> list[go.Figure]:
    """A figure for every linked view and every chart among the parts, in their order."""
    return [picture(part, theme) for part in flat(parts) if isinstance(part, Panels | Chart)]


def save(
    what: go.Figure | Part | Iterable[Part],
    path: str | os.PathLike[str],
    *,
    theme: str = "light",
    scale: float = 2,
    width: int | None = None,
) -> list[Path]:
    """Write a figure, or those of the parts of a page, as ``.png``, ``.svg`` or ``.pdf``; return the files written.

    what   a Plotly figure, which keeps its colours; a part, or parts, drawn in ``theme``
    path   of the file; of several figures, ``page.png`` becomes ``page-1.png``, ``page-2.png``, ...
    scale  pixels of a PNG for one of the figure
    width  pixels of the file instead, with the height that belongs to it

    A file is written whole or not at all, and an older one is replaced.

    Raises NormvizError where the name ends otherwise, where the folder cannot be written, where there is no figure, where
    a size is out of bounds, and where kaleido or a browser is missing: then with what to install.
    """
    target = Path(path)
    kind = _kind(target)
    figures = _figures(what, theme)
    scales = [_scale(figure, kind, scale, width) for figure in figures]
    images = _drawn(figures, kind, scales)
    return _written(_names(target, len(figures)), images)


def _title(part: Panels) -> str:
    """Which layer, on which tensor."""
    layer, name = part.data.get("layer", ""), part.data.get("name", "x")
    where = f"x of shape {part.drawing.shape}"
    return "" if name != "x" else f"{layer} on {where}" if layer else where


def _marked(part: Panels) -> Marked | None:
    at = part.data["at"]
    if at is None or not part.drawing.shows(tuple(at)):
        return None
    sharings = part.data.get("sharings") or {name: part.data[name] for name in ("stats", "params")}
    tables = {name: sharing["tables"] for name, sharing in sharings.items() if sharing}
    return Marked(tuple(i - first for i, first in zip(at, part.drawing.start, strict=True)), tables)


def _kind(path: Path) -> str:
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        endings = listed([f".{each}" for each in FORMATS])
        raise NormvizError(f"path={str(path)!r} must end in {endings}.")
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise NormvizError(
            f"path={str(path)!r} cannot be written; name a file in a folder that exists and is yours to write."
        )
    return kind


def _figures(what: go.Figure | Part | Iterable[Part], theme: str) -> Sequence[go.Figure]:
    if hasattr(what, "to_plotly_json"):
        return [what]
    found = pictures([what] if isinstance(what, Part) else what, theme)
    if not found:
        raise NormvizError("there is no figure here; a view of text and tables makes no picture.")
    return found


def _scale(figure: go.Figure, kind: str, scale: float, width: int | None) -> float:
    own = float(figure.layout.width or 700)
    if width is not None:
        if not 1 <= width <= WIDEST:
            raise NormvizError(f"width={echo(width)} must be from 1 to {WIDEST:,} pixels.")
        return width / own
    if not (isfinite(scale) and 0 < scale <= LARGEST_SCALE):
        raise NormvizError(f"scale={echo(scale)} must be above 0 and at most {LARGEST_SCALE:g}.")
    return scale if kind == "png" else 1.0


def _drawn(figures: Sequence[go.Figure], kind: str, scales: Sequence[float]) -> list[bytes]:
    """Every figure as a file's bytes, in one browser."""
    if find_spec("kaleido") is None:
        raise NormvizError(f"pictures need kaleido: {INSTALL}.")
    browser = _browser()
    if browser is None:
        raise NormvizError(NO_BROWSER)
    from normviz.export.rendering import rendered  # kaleido only when a picture is asked for

    jobs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (figure.to_plotly_json(), {"format": kind, "scale": scale})
        for figure, scale in zip(figures, scales, strict=True)
    ]
    return rendered(jobs, browser, PATIENCE)


def _browser() -> str | None:
    """BROWSER_PATH, else a Chromium or Chrome on PATH, else what kaleido knows."""
    named = os.environ.get("BROWSER_PATH")
    if named:
        return named if os.access(named, os.X_OK) else None
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found:
        return found
    from choreographer.browsers.chromium import Chromium

    return Chromium.find_browser(skip_local=False)


def _names(path: Path, count: int) -> list[Path]:
    return [path] if count == 1 else [path.with_stem(f"{path.stem}-{number}") for number in range(1, count + 1)]


def _written(paths: Sequence[Path], images: Sequence[bytes]) -> list[Path]:
    """All files, each moved into its place when all of them are whole."""
    drafts: list[str] = []
    try:
        for path, image in zip(paths, images, strict=True):
            handle, draft = mkstemp(dir=path.parent, prefix=f".{path.stem[:40]}-", suffix=path.suffix)
            drafts.append(draft)
            with os.fdopen(handle, "wb") as file:
                file.write(image)
            os.chmod(draft, 0o666 & ~_umask())
        for path, draft in zip(paths, drafts, strict=True):
            os.replace(draft, path)
    except OSError as error:
        raise NormvizError(f"path={str(paths[0])!r} cannot be written: {error.strerror}.") from error
    finally:
        for draft in drafts:
            with suppress(FileNotFoundError):
                os.unlink(draft)
    return list(paths)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
