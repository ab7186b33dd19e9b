"""The story "Why five layers?": an article in sections, each with a live figure whose states its paragraphs tell.

The prose of the section ``batch`` is ``normviz/locale/<language>/story/batch.md``. Its numbers are placeholders filled from torch's, and a
number that is ``Seen`` shows its state of the figure.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from normviz.layers.catalogue import KINDS
from normviz.lessons.page import Page, Plan
from normviz.lessons.questions.question import format_fact
from normviz.lessons.questions.sources import PAPERS, paper
from normviz.lessons.story import figures
from normviz.lessons.story.figures import Facts, Section, Seen, Story, StoryFigure, pointed
from normviz.parts.part import Link, Part, Table
from normviz.parts.titles import LEARN, TITLES
from normviz.scene.view import View
from normviz.texts.errors import NormvizError
from normviz.texts.languages import read_text
from normviz.texts.messages import N_, _, cache_by_language, language

PROSE = re.compile(r"(?:([^#].+?)\n+)?# (.+?)\n+(.+?)(?:\n+## Figure\n+(.+?))?\n*", re.DOTALL)


@dataclass(frozen=True)
class StoryProse:
    """The text of a section.

    lead     paragraphs above its heading, or ""
    title    its heading
    text     its paragraphs
    caption  what stands above the figure, or ""
    """

    lead: str
    title: str
    text: str
    caption: str


@dataclass(frozen=True)
class StorySection:
    """A section: its identifier, its figure, and the numbers of its prose."""

    key: str
    figure: Callable[[], StoryFigure | Table]
    facts: Callable[[], Facts]

    @property
    def prose(self) -> StoryProse:
        """The text in the reader's language, or in English if there is no translation."""
        return _prose(self, language.get())

    def part(self) -> Section:
        prose = self.prose
        return Section(self.key, prose.lead, prose.title, prose.text, self.figure(), prose.caption)


SECTIONS = (
    StorySection("depth", figures.depth_figure, figures.depth_numbers),
    StorySection("same", figures.five_figure, figures.five_numbers),
    StorySection("batch", figures.batch_figure, figures.batch_numbers),
    StorySection("eval", figures.eval_figure, figures.eval_numbers),
    StorySection("padding", figures.padding_figure, figures.padding_numbers),
    StorySection("pictures", figures.pictures_figure, figures.pictures_numbers),
    StorySection("groups", figures.groups_figure, figures.groups_numbers),
    *([StorySection("rms", figures.rms_figure, figures.rms_numbers)] if "RMSNorm" in KINDS else []),
    StorySection("choose", figures.five_table, figures.five_numbers),
)


@cache
def _prose(section: StorySection, name: str) -> StoryProse:
    path = f"story/{section.key}.md"
    facts = {key: _text(value) for key, value in section.facts().items()}
    papers = {key.replace(" ", "_"): paper(key).markdown for key in PAPERS}
    return read_story(read_text(path), f"{name}/{path}", facts | papers)


def _text(fact: object) -> str:
    return pointed(format_fact(fact.value), fact.state) if isinstance(fact, Seen) else format_fact(fact)


def read_story(text: str, name: str, facts: Facts) -> StoryProse:
    """The parts of a Markdown file. Raises NormvizError if it has no title or no text.

    >>> read_story("# Title\\n\\nIt is {what}.\\n\\n## Figure\\nMove it.", "a.md", {"what": "so"}).text
    'It is so.'
    """
    found = PROSE.fullmatch(text)
    if not found:
        raise NormvizError(f"{name} must have a title (#) and a text; '## Figure' and a caption may follow.")
    lead, title, body, caption = ((part or "").strip().format_map(facts) for part in found.groups())
    return StoryProse(lead, title, body, " ".join(caption.split()))


@cache_by_language()
def story() -> Story:
    """The article."""
    return Story(tuple(section.part() for section in SECTIONS), Link(_("Now try it: exercises on tables"), "practice"))


def view_parts(view: View) -> Iterator[Part]:
    """The page."""
    yield story()


PAGE = Page(
    "story",
    *TITLES["story"],
    view_parts,
    rows=lambda _view: (),
    group=LEARN,
    uses="nothing",
    in_first_html=True,
    plan=Plan(
        N_("Students say which problem each of the five layers solves, and what it leaves open."),
        20,
        ("s3a", "s0a", "q23|s2r"),
    ),
)
