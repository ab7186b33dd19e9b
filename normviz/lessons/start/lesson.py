"""The steps as one part of a page. The browser shows one step after the other, and judges what the reader does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from normviz.layers.messages import _
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.links import Link
from normviz.lessons.parts.markup import data, escape, line
from normviz.lessons.parts.part import Part
from normviz.lessons.parts.text import plain
from normviz.lessons.start.lesson_steps import LESSON_STEPS, LessonStep
from normviz.scene.view import View


@dataclass(frozen=True)
class Lesson(Part):
    """All steps.

    steps  in their order
    first  the number of the step that is shown first, from 1; 0: where the reader left off
    links  where to go on
    """

    steps: tuple[LessonStep, ...]
    first: int = 0
    links: tuple[Link, ...] = ()
    name: ClassVar[str] = "panels"

    def html(self, body: Body) -> str:
        """Without scripts, all steps are shown as text."""
        body.exercises = True
        steps = "\n".join(map(_html, self.steps))
        links = "".join(f"<li>{html}</li>" for html in (link.html(body) for link in self.links) if html)
        after = f'<ul class="nv-links nv-links-choices nv-start-links">{links}</ul>' if links else ""
        return f'<div class="nv-start" data-first="{self.first}">\n{steps}\n{after}</div>'

    def plain_text(self) -> str:
        return "\n\n".join(
            plain(f"{number}. {step.prose.title}\n\n{step.prose.text}\n\n{step.prose.done}")
            for number, step in enumerate(self.steps, 1)
        )


def _html(step: LessonStep) -> str:
    prose = step.prose
    hint = f'<p class="nv-start-hint" hidden>{line(prose.hint)}</p>' if prose.hint else ""
    return (
        f'<section class="nv-start-step" data-key="{step.key}" data-figure="{escape(data(step.figure()))}">'
        f'<h2 tabindex="-1">{line(prose.title)}</h2><p class="nv-start-text">{line(prose.text)}</p>'
        f'<p class="nv-start-act">{line(prose.act)}</p><div class="nv-start-figure"></div>{hint}'
        f'<p class="nv-start-done">{line(prose.done)}</p></section>'
    )


def view_parts(view: View) -> Iterator[Part]:
    """The page Start here."""
    links = (
        Link(_("Practice"), "practice", "level=1"),
        Link(_("Answer questions"), "questions"),
        Link(_("Explore every layer"), "explore"),
    )
    yield Lesson(LESSON_STEPS, view.settings["step"], links)
