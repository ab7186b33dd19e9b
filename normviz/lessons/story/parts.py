"""The figures of the story as parts: a reader's choice shows one of several states, and torch has computed each of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

from normviz.figures.wire import Payload, left_out
from normviz.lessons.start.page import DepthData
from normviz.parts.html import Body, block, data, escape, line, text
from normviz.parts.part import Link, Panels, Part
from normviz.texts.messages import plain


@dataclass(frozen=True)
class StoryControl(Payload):
    """What a reader of a figure chooses.

    label    what it is, for readers
    options  the text of each option
    kind     "slider" for amounts, "buttons" for names
    first    the number of the option at first
    """

    label: str
    options: tuple[str, ...]
    kind: Literal["slider", "buttons"] = "slider"
    first: int = 0


@dataclass(frozen=True)
class StoryPicture(Payload):
    """A picture: its address, what it shows, and what stands below it."""

    address: str
    alt: str
    caption: str


@dataclass(frozen=True, kw_only=True)
class StoryData(Payload):
    """What a figure of the story shows.

    depth     the first figure of Start here, in place of all others
    figures   of the page, one for each state
    pictures  the numbers of the images of each state
    """

    controls: tuple[StoryControl, ...] = ()
    figures: list[int] | None = left_out(None)
    images: Sequence[StoryPicture] = ()
    pictures: list[list[int]] | None = left_out(None)
    depth: DepthData | None = left_out(None)

    def html(self, content: str) -> str:
        return f'<div class="nv-story-figure" data-story="{escape(data(self))}">{content}</div>'


@dataclass(frozen=True)
class StoryFigure(Part):
    """A figure with its controls, which the browser adds. ``states``: one for each choice; the last control varies fastest."""

    controls: tuple[StoryControl, ...]
    states: tuple[Any, ...]

    def __post_init__(self) -> None:
        assert len(self.states) == prod(len(control.options) for control in self.controls)

    @property
    def first(self) -> int:
        """The number of the state that is shown first."""
        number = 0
        for control in self.controls:
            number = number * len(control.options) + control.first
        return number

    def plain_text(self) -> str:
        return ""


@dataclass(frozen=True)
class LinkedFigure(StoryFigure):
    """A linked figure. The states of the figure are data of figures of one kind."""

    states: tuple[Panels, ...]

    def html(self, body: Body) -> str:
        """Only one of the figures has a place on the page."""
        begin = len(body.figures)
        places = [state.html(body) for state in self.states]
        figures = list(range(begin, len(body.figures)))
        return StoryData(controls=self.controls, figures=figures).html(places[self.first])

    def plain_text(self) -> str:
        return self.states[self.first].plain_text()


@dataclass(frozen=True)
class Pictures(StoryFigure):
    """Pictures, of which each state has as many; without scripts, those of the first state are shown."""

    states: tuple[tuple[StoryPicture, ...], ...]

    def html(self, body: Body) -> str:
        found = list(dict.fromkeys(picture for state in self.states for picture in state))
        numbers = [[found.index(picture) for picture in state] for state in self.states]
        images = "".join(
            f'<figure><img src="{picture.address}" alt="{escape(picture.alt)}"><figcaption>{escape(picture.caption)}</figcaption></figure>'
            for picture in self.states[self.first]
        )
        shown = StoryData(controls=self.controls, images=found, pictures=numbers)
        return shown.html(f'<div class="nv-story-pictures">{images}</div>')


@dataclass(frozen=True)
class DepthFigure(Part):
    """The first figure of Start here. ``depth``: its data."""

    depth: DepthData

    def html(self, body: Body) -> str:
        return StoryData(depth=self.depth).html('<div class="nv-start-figure"></div>')

    def plain_text(self) -> str:
        return ""


@dataclass(frozen=True)
class Section(Part):
    """A section of the story: its text, and a figure beside it if there is room, else below it.

    lead     Markdown above the title, or ""
    text     Markdown
    after    parts beside the text; the figure is then below both, as wide as the page
    caption  what a reader can do with the figure, in a line of Markdown
    """

    key: str
    lead: str
    title: str
    text: str
    after: tuple[Part, ...]
    figure: Part
    caption: str

    def html(self, body: Body) -> str:
        text = f'<div class="nv-story-text">{block(self.lead)}<h2>{line(self.title)}</h2>{block(self.text)}</div>'
        after = f'<div class="nv-story-after">{body.html(self.after)}</div>' if self.after else ""
        figure = f'<div class="nv-story-beside"><p class="nv-story-caption">{line(self.caption)}</p>{self.figure.html(body)}</div>'
        return f'<section class="nv-story-section" data-key="{self.key}">{text}{after}{figure}</section>'

    def plain_text(self) -> str:
        return "\n\n".join(filter(None, (plain(self.lead), plain(self.title), plain(self.text), text(self.after))))


@dataclass(frozen=True)
class Story(Part):
    """All of the page, as one part: nothing on it changes. ``next``: where to go on."""

    sections: tuple[Section, ...]
    next: Link

    def html(self, body: Body) -> str:
        body.exercises = True
        after = self.next.html(body, " nv-story-next")
        return f'<article class="nv-story">{body.html(self.sections)}{f"<p>{after}</p>" if after else ""}</article>'

    def plain_text(self) -> str:
        return text(self.sections)
