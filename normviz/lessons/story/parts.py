"""The figures of the story as parts: a reader's choice shows one of several states, and torch has computed each of them."""

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product, zip_longest
from math import log10, prod
from typing import Any, Literal
from urllib.parse import quote, unquote

from normviz.analysis.description import describe
from normviz.figures.payload import Linked, PanelData
from normviz.figures.wire import Payload, left_out
from normviz.lessons.home.page import ramp
from normviz.lessons.start.page import DepthData, groups_picture
from normviz.parts.html import Body, block, data, escape, line, text
from normviz.parts.part import Link, Panels, Part, Table
from normviz.texts.messages import _, format_number, plain

APART = 7  # has no divisor in common with the numbers of gammas, and leads from a color to a clearly other one
LEVELS = 4  # of a color in a cell, from pale to strong
WIDTH = 7  # characters of a cell


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
    """A picture: its address, what it shows, and what stands above and below it."""

    address: str
    alt: str
    head: str
    caption: str

    def html(self, source: str) -> str:
        """``source``: the attribute of the image that tells its address."""
        image = f'<img {source} alt="{escape(self.alt)}">'
        return f"<figure><b>{escape(self.head)}</b>{image}<figcaption>{escape(self.caption)}</figcaption></figure>"


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
    """A figure with its controls, which the browser adds.

    states  one for each choice; the last control varies fastest
    steps   the name of the state that each paragraph of the text shows; "" or none: that of the paragraph before
    """

    controls: tuple[StoryControl, ...]
    states: tuple[Any, ...]
    steps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert len(self.states) == prod(len(control.options) for control in self.controls)
        assert {*self.steps} <= {"", *self.state_names}, (self.steps, self.state_names)

    @property
    def state_names(self) -> list[str]:
        """Of the states: the chosen options."""
        return [", ".join(filter(None, chosen)) for chosen in self.choices]

    @property
    def choices(self) -> list[tuple[str, ...]]:
        return [*product(*(control.options for control in self.controls))]

    @property
    def first(self) -> int:
        """The number of the state that is shown first."""
        number = 0
        for control in self.controls:
            number = number * len(control.options) + control.first
        return number

    def plain_text(self) -> str:
        return ""

    def still(self, name: str) -> str:
        """A state as a small picture, for places where the figure does not follow the reader."""
        number = self.state_names.index(name)
        chosen = zip(self.controls, self.choices[number], strict=True)
        said = " · ".join(f"{escape(one.label)} <b>{escape(option)}</b>" for one, option in chosen if option)
        picture = f'<div class="nv-story-small" aria-hidden="true">{self.small(self.states[number])}</div>'
        return f'<figure class="nv-story-still"><figcaption>{said}</figcaption>{picture}</figure>'

    @abstractmethod
    def small(self, state: Any) -> str:
        """A state as HTML, without a script."""


@dataclass(frozen=True)
class LinkedFigure(StoryFigure):
    """A linked figure. The states of the figure are data of figures of one kind. ``drawn``: the keys of the panels in its small pictures."""

    states: tuple[Panels, ...]
    drawn: tuple[str, ...] = ("output",)

    def html(self, body: Body) -> str:
        """Only one of the figures has a place on the page."""
        begin = len(body.figures)
        places = [state.html(body) for state in self.states]
        figures = list(range(begin, len(body.figures)))
        return StoryData(controls=self.controls, figures=figures).html(places[self.first])

    def plain_text(self) -> str:
        return self.states[self.first].plain_text()

    def small(self, state: Panels) -> str:
        """Of the panels with values, those that are computed: one, or the first example of each."""
        shown = [panel for panel in state.data.panels if isinstance(panel, PanelData) and panel.key in self.drawn]
        if len(shown) == 1:
            return _small_panel(state.data, shown[0])
        heads = [f"<b>{escape(panel.title)}{'' if panel.z is None else ': <code>x[0]</code>'}</b>" for panel in shown]
        pictures = [_small_panel(state.data, panel, 1) for panel in shown]
        return "".join(f"<div>{head}{picture}</div>" for head, picture in zip(heads, pictures, strict=True))


def _small_panel(view: Linked, panel: PanelData, facets: int | None = None) -> str:
    shape = tuple(view.grid.shape)
    if panel.z is not None:
        return _small_values(panel.z.reshape(-1, *shape[-2:])[:facets].tolist(), panel.high, view.at)
    e = describe(panel.title, shape)
    if panel.row == "stats":
        return groups_picture(e)
    gammas = prod(e.counts.gamma_shape or ())
    return groups_picture(e, e.param_ids, [ramp(APART * i % gammas / (gammas - 1)) for i in range(gammas)])


def _small_values(facets: list[list[list[float]]], most: float, at: Sequence[int] | None) -> str:
    """Numbers in lines of a typewriter, and under them the colored cells, one path for each color. ``at``: the framed element of the first facet."""
    rows = [row for facet in facets for row in facet]
    cells: dict[str, str] = {}
    for y, row in enumerate(rows):
        for x, value in enumerate(row):
            if level := round(LEVELS * min(1, abs(value) / most)):
                color = f"nv-{'below' if value < 0 else 'above'}{level}"
                cells[color] = cells.get(color, "") + f"M{x} {y}h1v1h-1z"
    paths = "".join(f'<path class="{color}" d="{path}"/>' for color, path in cells.items())
    frame = f'<path class="nv-framed" d="M{at[-1]} {at[-2]}h1v1h-1z"/>' if at else ""
    ends = "".join(f'<path class="nv-next" d="M0 {y}h{len(rows[0])}"/>' for y in _ends(facets))
    svg = f'<svg viewBox="0 0 {len(rows[0])} {len(rows)}" preserveAspectRatio="none">{paths}{ends}{frame}</svg>'
    lines = "\n".join("".join(format_number(value, 2).rjust(WIDTH) for value in row) for row in rows)
    return f'<div class="nv-story-values">{svg}<pre>{lines}</pre></div>'


def _ends(facets: list[list[list[float]]]) -> range:
    """The rows before which another example begins."""
    return range(len(facets[0]), len(facets) * len(facets[0]), len(facets[0]))


@dataclass(frozen=True)
class Pictures(StoryFigure):
    """Pictures, of which each state has as many; without scripts, those of the first state are shown."""

    states: tuple[tuple[StoryPicture, ...], ...]

    def html(self, body: Body) -> str:
        numbers = [[self.images.index(picture) for picture in state] for state in self.states]
        images = "".join(one.html(f'src="{one.address}"') for one in self.states[self.first])
        shown = StoryData(controls=self.controls, images=self.images, pictures=numbers)
        return shown.html(f'<div class="nv-story-pictures">{images}</div>')

    @property
    def images(self) -> list[StoryPicture]:
        return list(dict.fromkeys(picture for state in self.states for picture in state))

    def small(self, state: tuple[StoryPicture, ...]) -> str:
        """The first half of them, which are of one photograph. The browser has each address once."""
        shown = state[: len(state) // 2]
        images = "".join(one.html(f'data-image="{self.images.index(one)}"') for one in shown)
        return f'<div class="nv-story-pictures">{images}</div>'


@dataclass(frozen=True)
class DepthFigure(StoryFigure):
    """The first figure of Start here, which has controls of its own. ``states``: the standard deviation of each layer's output."""

    states: tuple[list[float], ...]

    def html(self, body: Body) -> str:
        sizes = self.controls[0]
        depth = DepthData([*map(float, sizes.options)], sizes.first, [*self.states[::2]], [*self.states[1::2]])
        return StoryData(controls=self.controls, depth=depth).html('<div class="nv-start-figure"></div>')

    def small(self, state: list[float]) -> str:
        """A bar for each layer, on the scale of the figure: three powers of ten on either side of 1."""
        shares = (min(1, max(0, (log10(spread) + 3) / 6)) for spread in state)
        bars = "".join(f'<i style="height:{share:.0%}"></i>' for share in shares)
        last = f"{escape(_('layer {n}', n=len(state)))} <b>{format_number(state[-1], 2)}</b>"
        return f'<div class="nv-story-bars">{bars}</div><span>{last}</span>'


# A number of the text, and the state of the figure that it comes from, as a link in Markdown.


@dataclass(frozen=True)
class Seen:
    """A number that a state of the figure shows. ``state``: its name."""

    value: object
    state: str


POINTED = re.compile(r'<a href="#([^"]*)">(.*?)</a>')


def pointed(text: str, state: str) -> str:
    """Markdown for a number of which a reader can see the state."""
    return f"[{text}](#{quote(state)})"


@dataclass(frozen=True)
class Section(Part):
    """A section of the story: its text, and a figure or a table beside it if there is room, else below it.

    lead     Markdown above the title, or ""
    text     Markdown
    caption  what stands above the figure, a line of Markdown, or ""
    """

    key: str
    lead: str
    title: str
    text: str
    figure: StoryFigure | Table
    caption: str

    def html(self, body: Body) -> str:
        text = f'<div class="nv-story-text">{block(self.lead)}<h2>{line(self.title)}</h2>{"".join(self._paragraphs())}</div>'
        caption = f'<p class="nv-story-caption">{line(self.caption)}</p>' if self.caption else ""
        figure = f'<div class="nv-story-beside">{caption}{self.figure.html(body)}</div>'
        return f'<section class="nv-story-section" data-key="{self.key}">{text}{figure}</section>'

    def _paragraphs(self) -> Iterator[str]:
        """Each with the number of the state that it shows, and a small picture of a state that was not shown yet."""
        figure = self.figure if isinstance(self.figure, StoryFigure) else None
        steps, names, shown = (figure.steps, figure.state_names, {""}) if figure else ((), [], {""})

        def number(found: re.Match[str]) -> str:
            state = names.index(unquote(found[1]))
            return f'<button type="button" class="nv-story-number" data-show="{state}">{found[2]}</button>'

        for paragraph, step in zip_longest(self.text.split("\n\n"), steps, fillvalue=""):
            text = POINTED.sub(number, block(paragraph))
            still = figure.still(step) if figure and step not in shown else ""
            shown.add(step)
            show = f' data-show="{names.index(step)}"' if step else ""
            yield f'<div class="nv-story-step"{show}>{text}{still}</div>'

    def plain_text(self) -> str:
        table = [self.figure] if isinstance(self.figure, Table) else []
        return "\n\n".join(filter(None, (plain(self.lead), plain(self.title), plain(self.text), text(table))))


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
