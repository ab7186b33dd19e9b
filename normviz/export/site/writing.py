"""Sites in all languages, one folder for each, and a page that opens the reader's."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

from normviz.__version__ import __version__
from normviz.export.document import FOLLOW, check_theme
from normviz.export.files import check_folder, path_errors, short_path, whole_file, write
from normviz.export.site.pages import INDEX, Entry, entries, entry_page, index_page, shared_files
from normviz.figures.brand import FAVICON
from normviz.lessons.parts.html import escape
from normviz.lessons.questions.registry import MERGED
from normviz.texts.errors import NormvizError
from normviz.texts.languages import find_language, languages
from normviz.texts.messages import _, in_language

ALL = "all"
# The language of the address (?lang=es), else the first one of the browser that there is.
CHOOSE = """const known = [...document.links].map((link) => link.dataset.name);
const wanted = [new URLSearchParams(location.search).get("lang") ?? "", ...navigator.languages].map((tag) => tag.toLowerCase().split("-")[0]);
const found = wanted.find((name) => known.includes(name));
if (found) location.replace(found + "/index.html");"""


def build_all(
    out: str | Path, *, theme: str = FOLLOW, only: Sequence[str] = (), force: bool = False, progress: Progress = iter
) -> list[str]:
    """Write the site in each language to a folder of ``out``, such as ``out/es``; returns the paths of all files. See ``build``."""
    names = tuple(languages())
    with path_errors(out):
        check_directory(Path(out).resolve(), force)
        Path(out).mkdir(exist_ok=True)
    made = []
    for name in names:
        with in_language(name):
            written = build(Path(out) / name, theme=theme, only=only, force=force, progress=progress, beside=names)
            made += [f"{name}/{file}" for file in written]
    files = [*made, LIST, INDEX]
    write(Path(out) / LIST, json.dumps({"normviz": __version__, "files": files}, indent=1) + "\n")
    write(Path(out) / INDEX, _first_page(names))
    return files


def _first_page(names: Sequence[str]) -> str:
    """Opens the site in the reader's language; without JavaScript, a list."""
    known = {name: find_language(name) for name in names}
    links = "".join(
        f'<li><a href="{name}/{INDEX}" data-name="{name}" lang="{one.tag}" dir="{one.direction}">{escape(one.name)}</a></li>'
        for name, one in known.items()
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        f'<title>normviz</title>\n<link rel="icon" href="{FAVICON}">\n'
        "<style>body{font:18px/2 system-ui,sans-serif;margin:15vh auto;max-width:20rem;padding:0 1rem}a{color:inherit}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>normviz</h1>\n<ul>{links}</ul>\n</main>\n<script>{CHOOSE}</script>\n</body>\n</html>\n"
    )


# Writing a site: into a directory, which never contains an incomplete site, and as a zip file.


LIST = "site.json"  # the files of the site, so that the next one knows what it may replace
EPOCH = (1980, 1, 1, 0, 0, 0)  # the date of every file in a zip, so that the same site gives the same zip
Progress = Callable[[Sequence[Entry]], Iterable[Entry]]


def build(
    out: str | Path,
    *,
    theme: str = FOLLOW,
    only: Sequence[str] = (),
    force: bool = False,
    progress: Progress = iter,
    beside: Sequence[str] = (),
) -> list[str]:
    """Write the site to the directory ``out``; returns the paths of its files, relative to the pages.

    The site is written next to ``out`` and moved there when it is complete: shared files first, the index last. Then the files of an earlier
    site that this one does not have are removed. Other files are left alone.

    theme     "light", "dark", or "follow" the reader's own
    only      keys of the questions and ready-made sets; all of them by default
    force     write also into a directory that has other files
    progress  receives the pages and yields them one by one
    beside    the languages of the sites in the folders beside this one, which its pages link to

    Raises NormvizError for an unknown theme or key, and if ``out`` cannot be written or has other files.
    """
    check_theme(theme)
    chosen = entries(only)
    with path_errors(out):
        place = Path(out).resolve()
        before = check_directory(place, force)
        folder = Path(mkdtemp(dir=place.parent, prefix=f".{place.name[:40]}-"))
    try:
        with path_errors(out):
            written = _write_pages(folder, chosen, theme, progress, _old_files(chosen, only), beside)
            folder.chmod(place.stat().st_mode if place.exists() else 0o755)
            _move(folder, place, written, before)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return written


def pack(folder: str | Path, files: Iterable[str], target: str | Path) -> None:
    """Write the files of a folder as a zip without a top folder; the same files give the same zip."""
    with (
        whole_file(target) as place,
        path_errors(target),
        zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
    ):
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, (Path(folder) / name).read_bytes())


def _old_files(chosen: Sequence[Entry], only: Sequence[str]) -> dict[str, str]:
    """The files of links with an old key of a question, and the files of the questions that they open."""
    found = {entry.file for entry in chosen}
    old = {f"question-{key}.html": f"question-{now}.html" for key, now in MERGED.items() if not only or key in only}
    return {name: now for name, now in old.items() if now in found}


def _write_pages(
    folder: Path,
    chosen: Sequence[Entry],
    theme: str,
    progress: Progress,
    old: Mapping[str, str],
    beside: Sequence[str],
) -> list[str]:
    """Write the site into an empty folder; returns its files in the order of moving: no file refers to a later one."""
    contents = shared_files()
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    for entry in progress(chosen):
        (folder / entry.file).write_text(entry_page(entry, chosen, theme, beside), encoding="utf-8", newline="\n")
    for name, now in old.items():
        shutil.copyfile(folder / now, folder / name)
    (folder / INDEX).write_text(index_page(chosen, theme, beside), encoding="utf-8", newline="\n")
    made = [*contents, *(entry.file for entry in chosen), *old, LIST, INDEX]
    (folder / LIST).write_text(json.dumps({"normviz": __version__, "files": made}, indent=1) + "\n", encoding="utf-8")
    return made


def _move(folder: Path, place: Path, written: Sequence[str], before: Sequence[str]) -> None:
    """Move the site to its place: at once if nothing is there, otherwise file by file, so that a site that is being read stays complete."""
    if not place.exists():
        folder.rename(place)
        return
    for name in written:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).replace(place / name)
    for name in set(before) - set(written):
        (place / name).unlink(missing_ok=True)


def check_directory(place: Path, force: bool) -> list[str]:
    """The files of an earlier site there. Raises NormvizError if no site may be written."""
    if not place.exists():
        check_folder(place.parent)
        return []
    if not place.is_dir():
        raise NormvizError(_("{path} is a file; name a directory.", path=short_path(place)))
    before = _earlier_files(place)
    there = (path for path in place.rglob("*") if not path.is_dir() or path.is_symlink())
    other = next((path for path in there if path.relative_to(place).as_posix() not in before), None)
    if other and not force:
        raise NormvizError(
            _(
                "{folder} has other files, such as {file}; name a new directory, or use --force to add the site to them.",
                folder=short_path(place),
                file=short_path(other.name),
            )
        )
    return before


def _earlier_files(place: Path) -> list[str]:
    """The files of an earlier site, by its list, that exist inside the directory."""
    try:
        named = json.loads((place / LIST).read_text(encoding="utf-8"))["files"]
        safe = [
            name for name in named if not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts
        ]
    except (OSError, ValueError, TypeError, KeyError):
        return []
    return [name for name in safe if (place / name).is_file()]
