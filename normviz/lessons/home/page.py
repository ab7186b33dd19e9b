"""The front page: one figure, the field for a layer or an error, and the pages in their groups."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from normviz.figures.payload import compare_payload
from normviz.lessons.compare.page import READY_SETS
from normviz.lessons.page import Page, language_query
from normviz.parts.html import Body, escape, text
from normviz.parts.part import Link, Panels, Part, page_path
from normviz.parts.titles import EXPLORE, HOME, LEARN, LOOK_UP, TEACH, TITLES
from normviz.scene.view import TYPED, View, read
from normviz.texts.messages import N_, _

EXAMPLE = "LayerNorm(96) on (8, 96, 56, 56)"
DOORS = {LEARN: N_("Predict, then see."), LOOK_UP: N_("Any layer, any tensor."), TEACH: N_("In front of a class.")}


def figure() -> Panels:
    """Who shares a mean under four layers on one tensor. The browser answers it without the server."""
    four = READY_SETS["four"]
    scene = read(four.query).scene
    data = compare_payload(four.comparison.descriptions, scene.grid, at=scene.at)
    means = [panel for panel in data.panels if panel.row == "stats"]
    return Panels(replace(data, panels=means, hidden=("cube", "params")), ())


@dataclass(frozen=True)
class Begin(Part):
    """The link to Explore, and a field whose text Explore reads: a plain form, which works before any script has run.

    lang  the language that the address names, or ""
    """

    lang: str = ""

    def html(self, body: Body) -> str:
        """Without an app, nothing would read the field."""
        link = Link(_("Explore a layer"), EXPLORE).html(body, " nv-front-go")
        return f'<div class="nv-front-begin">{link}{"" if body.app is None else self._form(body)}</div>'

    def _form(self, body: Body) -> str:
        named = language_query() if body.app else {"lang": self.lang} if self.lang else {}
        hidden = "".join(f'<input type="hidden" name="{name}" value="{escape(lang)}">' for name, lang in named.items())
        return (
            f'<form class="nv-front-field" action="{escape(body.app or ".")}/{page_path(EXPLORE)}">{hidden}'
            f'<label for="nv-typed">{escape(_("A layer, or an error message of torch"))}</label>'
            f'<input type="text" id="nv-typed" name="{TYPED}" placeholder="{EXAMPLE}" translate="no" autocomplete="off" autocapitalize="off" spellcheck="false">'
            f"<button>{escape(_('Open'))}</button></form>"
        )

    def plain_text(self) -> str:
        return ""


@dataclass(frozen=True)
class Doors(Part):
    """The pages in their groups."""

    groups: Mapping[str, Sequence[Page]]

    def html(self, body: Body) -> str:
        return f'<div class="nv-doors">{"".join(self._door(body, group) for group in DOORS)}</div>'

    def _door(self, body: Body, group: str) -> str:
        """A group; "" if none of its pages is anywhere."""
        links = [Link(page.title, page.name).html(body) for page in self.groups[group]]
        items = "".join(f"<li>{html}</li>" for html in links if html)
        head = f"<h2>{escape(_(group))} <small>{escape(_(DOORS[group]))}</small></h2>"
        return f"<section>{head}<ul>{items}</ul></section>" if items else ""

    def plain_text(self) -> str:
        return "\n".join(f"- {_(group)}: {', '.join(page.title for page in self.groups[group])}" for group in DOORS)


@dataclass(frozen=True)
class Front(Part):
    """All of the page, as one part: nothing on it changes."""

    parts: tuple[Part, ...]

    @property
    def children(self) -> tuple[Part, ...]:
        return self.parts

    def html(self, body: Body) -> str:
        body.exercises = True
        return body.html(self.parts)

    def plain_text(self) -> str:
        return text(self.parts)


def front_page(groups: Mapping[str, Sequence[Page]]) -> Page:
    """The front page, with the pages in their groups."""

    def view_parts(view: View) -> Iterator[Part]:
        yield Front((figure(), Begin(view.display.lang), Doors(groups)))

    return Page(HOME, *TITLES[HOME], view_parts, rows=lambda _view: (), uses="nothing", in_first_html=True)
