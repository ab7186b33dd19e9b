"""Atomic writing: a file is written next to its place and then moved there, so it is never incomplete."""

import os
import stat
import sys
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from types import ModuleType
from typing import BinaryIO

from normviz.texts.errors import NormvizError
from normviz.texts.messages import format_count

try:
    import fcntl
except ImportError:  # on Windows
    fcntl: ModuleType | None = None  # type: ignore[no-redef]

STDOUT = "-"


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A temporary path to write to; at the end the file is moved to ``path``, or removed if there was an error.

    It has the suffix of ``path``. A path that is not a regular file, such as /dev/stdout, is written directly.

    Raises NormvizError if the path cannot be written; then nothing is written.
    """
    place = check_writable(path)
    if str(path).startswith("/dev/") or (place.exists() and not place.is_file()):
        with path_errors(path):
            yield Path(path)
        return
    with path_errors(path):
        handle, name = mkstemp(dir=place.parent, prefix=f".{place.stem[:40]}-", suffix=place.suffix)
        os.close(handle)
    beside = Path(name)
    try:
        with path_errors(path):
            yield beside
            beside.chmod(_mode(place))
            beside.replace(place)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def write(path: str | Path, content: str | bytes) -> None:
    """Write a file atomically, text as UTF-8; "-" is the standard output. Raises NormvizError like ``whole_file``."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    if str(path) == STDOUT:
        sys.stdout.buffer.write(data)
        return
    with whole_file(path) as place:
        place.write_bytes(data)


def check_writable(path: str | Path) -> Path:
    """The resolved path. Raises NormvizError if no file can be written there; used before a long computation."""
    if str(path) == STDOUT:
        return Path(path)
    with path_errors(path):
        place = Path(os.path.realpath(path))
        if place.is_dir():
            raise NormvizError("{path} is a directory; name a file in it.", path=short_path(path))
        check_folder(place.parent)
        if place.exists() and not os.access(place, os.W_OK):
            raise PermissionError(13, os.strerror(13))
    return place


def check_folder(folder: Path) -> None:
    """Raise NormvizError unless files can be created in the folder."""
    if not folder.exists():
        raise NormvizError(
            "there is no directory {folder}; create it first, or write to another place.", folder=short_path(folder)
        )
    if not folder.is_dir():
        raise NormvizError("{folder} is not a directory; write to another place.", folder=short_path(folder))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(13, os.strerror(13))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Wait until no other process is within this block for the folder. The lock ends with the process, also if it is killed.

    Windows, and some file systems of a network, have no such lock: there is no waiting.
    """
    handle = None
    try:
        if fcntl:
            with suppress(OSError):
                handle = os.open(folder, os.O_RDONLY)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        if handle is not None:
            os.close(handle)


EPOCH = (1980, 1, 1, 0, 0, 0)  # the date of every file in a zip, so that the same files give the same zip


def write_zip(place: Path | BinaryIO, contents: Iterable[tuple[str, bytes]]) -> None:
    """Write a zip without a top folder; the same names and contents give the same zip."""
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in contents:
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)


LONGEST_PATH = 300


def short_path(path: str | Path) -> str:
    """A path in a message, shortened at its beginning, because its end is more informative."""
    text = repr(str(path))
    return text if len(text) <= LONGEST_PATH else f"'…{text[-LONGEST_PATH:]}"


@contextmanager
def path_errors(path: str | Path) -> Iterator[None]:
    """Turn an error of the system into a NormvizError with the path."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        if isinstance(error, NormvizError):
            raise
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise NormvizError(
            "{path} cannot be written ({why}); write to another place.", path=short_path(path), why=why
        ) from error


def _mode(place: Path) -> int:
    """The permissions of the replaced file, or of a new file."""
    if place.exists():
        return stat.S_IMODE(place.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def print_size(path: str | Path) -> None:
    """Print the size of what a command wrote, if it is a file."""
    if str(path) != STDOUT and Path(path).is_file():
        print(f"{path}: {format_count(round(Path(path).stat().st_size / 1000))} kB")
