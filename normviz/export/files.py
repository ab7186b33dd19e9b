"""Files that are there whole or not at all: written beside their place, and then moved to it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp

from normviz.layers.errors import NormvizError


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A path to write to; what was written is moved to ``path`` in the end, and removed where something went wrong.

    Its suffix is that of ``path``. What is no file, such as /dev/stdout, is written to as it is.

    Raises NormvizError where the path cannot be written; nothing is written then.
    """
    place = checked(path)
    if str(path).startswith("/dev/") or (place.exists() and not place.is_file()):
        with naming(path):
            yield Path(path)
        return
    with naming(path):
        handle, name = mkstemp(dir=place.parent, prefix=f".{place.stem[:40]}-", suffix=place.suffix)
        os.close(handle)
    beside = Path(name)
    try:
        with naming(path):
            yield beside
            beside.chmod(_mode(place))
            beside.replace(place)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def write(path: str | Path, content: str | bytes) -> None:
    """Write a whole file; text as UTF-8. Raises NormvizError as ``whole_file`` does."""
    written = content.encode("utf-8") if isinstance(content, str) else content
    with whole_file(path) as place:
        place.write_bytes(written)


def checked(path: str | Path) -> Path:
    """The file that ``path`` leads to. Raises NormvizError where none can be written there; asked before a long computation."""
    with naming(path):
        place = Path(os.path.realpath(path))
        if place.is_dir():
            raise NormvizError(f"{named(path)} is a directory; name a file in it.")
        _folder(place.parent)
        if place.exists() and not os.access(place, os.W_OK):
            raise PermissionError(13, os.strerror(13))
    return place


def _folder(folder: Path) -> None:
    """Raise NormvizError unless files can be made in the folder."""
    if not folder.exists():
        raise NormvizError(f"there is no directory {named(folder)}; make it first, or write to another place.")
    if not folder.is_dir():
        raise NormvizError(f"{named(folder)} is no directory; write to another place.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(13, os.strerror(13))


LONGEST_PATH = 300


def named(path: str | Path) -> str:
    """A path as a message names it; its end says more than its beginning."""
    text = repr(str(path))
    return text if len(text) <= LONGEST_PATH else f"'…{text[-LONGEST_PATH:]}"


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """What the system says of a path as a NormvizError that names it."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        if isinstance(error, NormvizError):
            raise
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise NormvizError(f"{named(path)} cannot be written ({why}); write to another place.") from error


def _mode(place: Path) -> int:
    """The permissions of the file that is replaced, or those of a new file."""
    if place.exists():
        return stat.S_IMODE(place.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
