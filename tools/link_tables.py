"""Generate the tables of docs/links.md from the declarations of the settings: ``python -m tools.link_tables``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from normviz.lessons.pages import PAGES, controls
from normviz.scene.scene import SCENE_SETTINGS
from normviz.scene.setting import Setting, Where
from normviz.scene.view import ALL, ALL_CONTROLS, DISPLAY_SETTINGS, PANELS, PARTS
from normviz.texts.errors import listed

DOCUMENT = Path(__file__).parents[1] / "docs" / "links.md"
TITLES = {name: page.title for name, page in PAGES.items()} | {"questions": "Questions"}
STREAMLIT_PARAMETERS = (  # read by Streamlit, not by normviz
    ("`embed`", "true: without the page's header, for an iframe", "`embed=true`"),
    ("`embed_options`", "with `embed=true`: light_theme or dark_theme; without it, the reader's own", "`embed_options=dark_theme`"),
)  # fmt: skip


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def tables() -> list[str]:
    """The tables, in the order of the document."""
    of_pages = [
        (f"`{one.name}`", TITLES[page.name], one.description + _with(one), _example(one))
        for page in PAGES.values()
        for one in page.settings
    ]
    groups = {"control": controls(), "part of a page": PARTS, "part of a figure": PANELS}
    hidden = [(f"`{name}`", kind, label) for kind, labels in groups.items() for name, label in labels.items()]
    first = [(f"`{ALL}`", "group", "everything but the figure"), (f"`{ALL_CONTROLS}`", "group", "every control")]
    return [
        table(("name", "sets", "example"), map(_row, SCENE_SETTINGS.values())),
        table(("name", "page", "sets", "example"), of_pages),
        table(("name", "sets", "example"), [*map(_row, DISPLAY_SETTINGS), *STREAMLIT_PARAMETERS]),
        table(("name", "kind", "hides"), [*first, *hidden]),
    ]


def _row(setting: Setting) -> tuple[str, str, str]:
    return f"`{setting.name}`", setting.description, _example(setting)


def _with(setting: Setting) -> str:
    """The views that a setting belongs to."""
    rule = setting.applies
    return f"; with {listed(f'`{one}`' for one in rule.in_words)}" if isinstance(rule, Where) else ""


def _example(setting: Setting) -> str:
    return f"`{setting.name}={setting.example}`"


def updated(document: str) -> str:
    """The document with its tables regenerated."""
    made = iter(tables())
    return re.sub(r"(?:^\|.*\n)+", lambda _: next(made), document, flags=re.MULTILINE)


if __name__ == "__main__":
    DOCUMENT.write_text(updated(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
