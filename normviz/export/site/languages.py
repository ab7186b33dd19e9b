"""Sites in all languages, one folder for each, and a page that opens the reader's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from normviz.__version__ import __version__
from normviz.export.document import FOLLOW
from normviz.export.files import path_errors, write
from normviz.export.site.pages import INDEX
from normviz.export.site.writing import LIST, Progress, build, check_directory
from normviz.figures.brand import FAVICON
from normviz.layers.languages import find_language, languages
from normviz.layers.messages import in_language
from normviz.lessons.parts.markup import escape

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
