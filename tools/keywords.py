"""Write ``normviz/api/keywords.pyi``, the keywords of the functions of the pages for type checkers: ``python -m tools.keywords``.

The functions have them in their signatures, from the declarations of the settings. A test fails where the file is not up to date.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path

import normviz as nv
from normviz.api.pages import OF_VALUES
from normviz.lessons.pages import PAGES
from tools.reference import formatted

FILE = Path(nv.__file__).parent / "api" / "keywords.pyi"
HEAD = '''"""The keywords of the functions of the pages, for type checkers. ``python -m tools.keywords`` writes this file."""

from collections.abc import Sequence
from typing import Literal, TypedDict
'''
Keywords = Mapping[str, str]  # the type of each, by name


def keywords(page: str) -> Keywords:
    """Those of the page's function."""
    parameters = inspect.signature(getattr(nv, page)).parameters.values()
    return {one.name: one.annotation for one in parameters if one.kind == one.KEYWORD_ONLY}


def classes() -> Iterator[str]:
    """A TypedDict for each function of a page, and one for ``live``, which takes the keywords of all."""
    pages = {name: keywords(name) for name in PAGES if hasattr(nv, name)}
    all_types: dict[str, list[str]] = {}
    for own in pages.values():
        for name, kind in own.items():
            all_types[name] = [*dict.fromkeys([*all_types.get(name, []), kind])]
    shared = {
        "Display": pages["story"],
        "Shape": {
            name: kind for name, kind in pages["step_by_step"].items() if name in ("shape", "layout", "at", "from_")
        },
        "Values": {name: kind for name, kind in pages["step_by_step"].items() if name in OF_VALUES},
    }
    for name, own in shared.items():
        yield _class(name, own, {})
    for name, own in pages.items():
        yield _class(name.title().replace("_", ""), own, shared)
    yield _class("Live", {"q": "str"} | {name: " | ".join(kinds) for name, kinds in all_types.items()}, shared)


def _class(name: str, own: Keywords, shared: Mapping[str, Keywords]) -> str:
    bases = {base: keys for base, keys in shared.items() if keys.items() <= own.items()}
    inherited = {key for keys in bases.values() for key in keys}
    lines = "".join(f"    {key}: {kind}\n" for key, kind in own.items() if key not in inherited)
    named = ", ".join(f"{base}Settings" for base in bases) or "TypedDict"
    return f"class {name}Settings({named}, total=False):\n{lines or '    pass'}\n"


def text() -> str:
    """The file, formatted as ``make format`` does."""
    return formatted("\n\n".join([HEAD, *classes()]), FILE.name)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
