"""Writing a site: into a directory, which is never seen half-written, and as a zip."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

from normviz.__version__ import __version__
from normviz.export.document import FOLLOW, check_theme
from normviz.export.files import named, naming, whole_file
from normviz.export.site.pages import INDEX, Entry, entries, entry_page, index_page
from normviz.export.site.shared import shared_files
from normviz.layers.errors import NormvizError

LIST = "site.json"  # what the site is made of, so that the next one knows what it may replace
EPOCH = (1980, 1, 1, 0, 0, 0)  # of every file in a zip: the same site is the same zip
Progress = Callable[[Sequence[Entry]], Iterable[Entry]]


def build(
    out: str | Path, *, theme: str = FOLLOW, only: Sequence[str] = (), force: bool = False, progress: Progress = iter
) -> list[str]:
    """Write the site to the directory ``out``; the paths of its files, as the pages see them.

    It is made beside ``out`` and moved there when all of it is done: what the pages share first, the index last, and then what an
    earlier site had and this one has not is removed. Other files are left alone.

    theme     "light", "dark", or "follow" the reader's own
    only      keys of the questions and ready-made sets to take; all of them where there are none
    force     write also into a directory that has other files
    progress  is given the pages, and hands them out one by one

    Raises NormvizError for an unknown theme or key, and where ``out`` cannot be written or has other files.
    """
    check_theme(theme)
    chosen = entries(only)
    with naming(out):
        place = Path(out).resolve()
        before = _checked(place, force)
        beside = Path(mkdtemp(dir=place.parent, prefix=f".{place.name[:40]}-"))
    try:
        with naming(out):
            made = _made(beside, chosen, theme, progress)
            beside.chmod(place.stat().st_mode if place.exists() else 0o755)
            _moved(beside, place, made, before)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return made


def pack(folder: str | Path, files: Iterable[str], target: str | Path) -> None:
    """Write the files of a folder as a zip in which they lie at the top; the same files make the same zip."""
    with (
        whole_file(target) as place,
        naming(target),
        zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
    ):
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, (Path(folder) / name).read_bytes())


def _made(folder: Path, chosen: Sequence[Entry], theme: str, progress: Progress) -> list[str]:
    """Write the site into an empty folder; its files in the order in which they may be moved: none names one that comes later."""
    contents = shared_files()
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    for entry in progress(chosen):
        (folder / entry.file).write_text(entry_page(entry, chosen, theme), encoding="utf-8", newline="\n")
    (folder / INDEX).write_text(index_page(chosen, theme), encoding="utf-8", newline="\n")
    made = [*contents, *(entry.file for entry in chosen), LIST, INDEX]
    (folder / LIST).write_text(json.dumps({"normviz": __version__, "files": made}, indent=1) + "\n", encoding="utf-8")
    return made


def _moved(folder: Path, place: Path, made: Sequence[str], before: Sequence[str]) -> None:
    """Move the site to its place: at once where nothing is there, else file by file, so that a site that is being read stays whole."""
    if not place.exists():
        folder.rename(place)
        return
    for name in made:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).replace(place / name)
    for name in set(before) - set(made):
        (place / name).unlink(missing_ok=True)


def _checked(place: Path, force: bool) -> list[str]:
    """The files of an earlier site there. Raises NormvizError where no site may be written."""
    if not place.parent.is_dir():
        raise NormvizError(f"there is no directory {named(place.parent)}; make it first, or write to another place.")
    if not place.exists():
        return []
    if not place.is_dir():
        raise NormvizError(f"{named(place)} is a file; name a directory.")
    before = _listed(place)
    there = (path for path in place.rglob("*") if not path.is_dir() or path.is_symlink())
    other = next((path for path in there if path.relative_to(place).as_posix() not in before), None)
    if other and not force:
        raise NormvizError(
            f"{named(place)} has other files, such as {named(other.name)}; name a new directory, or write beside them with --force."
        )
    return before


def _listed(place: Path) -> list[str]:
    """What the list of an earlier site names, of the files that are there and lie within."""
    try:
        named = json.loads((place / LIST).read_text(encoding="utf-8"))["files"]
        safe = [
            name for name in named if not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts
        ]
    except (OSError, ValueError, TypeError, KeyError):
        return []
    return [name for name in safe if (place / name).is_file()]
