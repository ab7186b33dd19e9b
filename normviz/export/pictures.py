"""Picture files (PNG, SVG, PDF), drawn by an exported page in Chromium or Chrome, without a network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from math import isfinite
from pathlib import Path

from normviz.export.document import document
from normviz.export.files import check_writable, short_path, whole_file
from normviz.figures.palette import theme as checked_theme
from normviz.lessons.parts.part import Chart, Panels, Part, flat
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import N_, _, ngettext

FORMATS = ("png", "svg", "pdf")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 90  # seconds
LARGEST_SCALE, WIDEST = 8.0, 16_384  # pixels
NO_PACKAGE = N_("Pictures need choreographer: pip install 'normviz[images]'.")
NO_BROWSER = N_(
    "A picture is drawn by Chromium or Chrome, and none was found. Install one (Debian: apt install chromium; anywhere: "
    "choreo_get_chrome), or name it in BROWSER_PATH."
)


def save(
    parts: Part | Iterable[Part],
    path: str | os.PathLike[str],
    *,
    theme: str = "light",
    scale: float = 2,
    width: int | None = None,
) -> list[Path]:
    """Write the figures of a page's parts as ``.png``, ``.svg`` or ``.pdf``; return the files written.

    path   of the file; for several figures, ``page.png`` becomes ``page-1.png``, ``page-2.png``, ...
    theme  "light" or "dark"
    scale  pixels of a PNG for each pixel of the page
    width  of the file in pixels, instead of scale; the height follows

    A file is written completely or not at all, and replaces an existing one.

    Raises NormvizError for another ending, a path that cannot be written, parts without a figure, a size out of bounds, and if
    choreographer or a browser is missing; the message then says what to install.
    """
    target = Path(path)
    kind = target.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        endings = listed([f".{each}" for each in FORMATS])
        raise NormvizError(_("{path} must end in {endings}.", path=short_path(target), endings=endings))
    check_writable(target)
    checked_theme(theme)
    _check_size(scale, width)
    figures = [part for part in flat([parts] if isinstance(parts, Part) else parts) if isinstance(part, Panels | Chart)]
    if not figures:
        raise NormvizError(_("There is no figure here: this view has only text and tables."))
    page = document(figures, title="normviz", theme=theme)
    return _write(_names(target, len(figures)), _images(page, kind, scale, width))


def _check_size(scale: float, width: int | None) -> None:
    if width is not None and not 1 <= width <= WIDEST:
        raise NormvizError(
            ngettext(
                "width={width} must be from 1 to {n:,} pixel.",
                "width={width} must be from 1 to {n:,} pixels.",
                WIDEST,
                width=echo(width),
            )
        )
    if not (isfinite(scale) and 0 < scale <= LARGEST_SCALE):
        raise NormvizError(
            _("scale={scale} must be above 0 and at most {most:g}.", scale=echo(scale), most=LARGEST_SCALE)
        )


def _images(page: str, kind: str, scale: float, width: int | None) -> list[bytes]:
    """The contents of the files, all from one browser."""
    if find_spec("choreographer") is None:
        raise NormvizError(_(NO_PACKAGE))
    browser = _browser()
    if browser is None:
        raise NormvizError(_(NO_BROWSER))
    from normviz.export.chromium import draw  # an optional package

    unchanged = scale if kind == "png" else 1.0
    return draw(page, kind, lambda picture: width / picture.width if width else unchanged, browser, PATIENCE)


def _browser() -> str | None:
    """BROWSER_PATH, else a Chromium or Chrome on PATH, else one that choreographer finds or has downloaded."""
    given = os.environ.get("BROWSER_PATH")
    if given:
        return given if os.access(given, os.X_OK) else None
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found:
        return found
    from choreographer.browsers.chromium import Chromium

    return Chromium.find_browser(skip_local=False)


def _names(path: Path, count: int) -> list[Path]:
    return [path] if count == 1 else [path.with_stem(f"{path.stem}-{number}") for number in range(1, count + 1)]


def _write(paths: Sequence[Path], images: Sequence[bytes]) -> list[Path]:
    """All files; each is moved into its place when all of them are complete."""
    with ExitStack() as files:
        drafts = [files.enter_context(whole_file(path)) for path in paths]
        for draft, image in zip(drafts, images, strict=True):
            draft.write_bytes(image)
    return list(paths)
