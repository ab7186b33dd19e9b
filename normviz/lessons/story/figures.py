"""The figures of the story, and the numbers in its prose. Most of them show the same 48 numbers, as a table, as sequences or as images."""

import re
import zlib
from abc import abstractmethod
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, product, zip_longest
from math import log10, prod
from struct import pack
from typing import Any, Literal
from urllib.parse import quote, unquote

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from normviz.analysis import description, examples, forward
from normviz.analysis.description import describe
from normviz.figures.payload import Linked, PanelData, PanelValues, compare_payload, values_payload
from normviz.figures.wire import Payload, left_out
from normviz.layers.layer import is_in_torch
from normviz.lessons.home.page import ramp
from normviz.lessons.start.page import SIZES, DepthData, depth, groups_picture
from normviz.parts.html import Body, block, data, escape, line, text
from normviz.parts.part import Link, Panels, Part, Table
from normviz.scene.grid import grid
from normviz.texts.messages import _, cache_by_language, english, format_difference, format_number, ngettext, plain

# The figures of the story as parts: a reader's choice shows one of several states, and torch has computed each of them.


APART = 7  # has no divisor in common with the numbers of gammas, and leads from a color to a clearly other one
STRENGTHS = 4  # of a color in a cell, from pale to strong
CELL_WIDTH = 7  # characters of a cell


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
            if level := round(STRENGTHS * min(1, abs(value) / most)):
                color = f"nv-{'below' if value < 0 else 'above'}{level}"
                cells[color] = cells.get(color, "") + f"M{x} {y}h1v1h-1z"
    paths = "".join(f'<path class="{color}" d="{path}"/>' for color, path in cells.items())
    frame = f'<path class="nv-framed" d="M{at[-1]} {at[-2]}h1v1h-1z"/>' if at else ""
    ends = "".join(f'<path class="nv-next" d="M0 {y}h{len(rows[0])}"/>' for y in _ends(facets))
    svg = f'<svg viewBox="0 0 {len(rows[0])} {len(rows)}" preserveAspectRatio="none">{paths}{ends}{frame}</svg>'
    lines = "\n".join("".join(format_number(value, 2).rjust(CELL_WIDTH) for value in row) for row in rows)
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


# Two small pictures that stand for photographs: a lake at noon, and a town at night. They are rendered, so they are under no other license.
#
# A picture is a tensor (3, H, W) of numbers from 0 to 1.


HEIGHT, WIDTH = 96, 144
FINER = 3  # rendered larger, and averaged, so that edges are smooth
LEVELS = 63  # of a color in a file: the eye sees no steps, and the file is half as large
UP = 2  # PNG's filter that stores the difference from the line above


@cache
def lake() -> Tensor:
    """A lake between hills at noon."""
    y, x = _places()
    sky = _mix((0.36, 0.60, 0.90), (0.86, 0.92, 0.97), y / 0.5)
    picture = _over(sky, (1.0, 0.97, 0.80), (x - 1.12).hypot(y - 0.17) < 0.08)
    picture = _over(picture, (0.46, 0.58, 0.68), y > 0.42 - 0.10 * torch.sin(4.2 * x + 0.6) - 0.04 * torch.sin(11 * x))
    picture = _over(picture, (0.25, 0.47, 0.27), y > 0.56 - 0.09 * torch.sin(3.1 * x + 2.5) - 0.015 * torch.sin(17 * x))
    water = _mix((0.50, 0.70, 0.84), (0.16, 0.36, 0.58), (y - 0.66) / 0.34)
    picture = torch.where(y > 0.66, water, picture)
    boat = ((y > 0.76) & (y < 0.80) & ((x - 0.55).abs() < 0.13 - (y - 0.76))) | (
        (y > 0.58) & (y < 0.75) & (x > 0.55) & (x < 0.55 + 0.55 * (y - 0.58))
    )
    return _smooth(_over(picture, (0.94, 0.91, 0.84), boat))


@cache
def town() -> Tensor:
    """A town at night."""
    y, x = _places()
    picture = _over(
        _mix((0.02, 0.03, 0.10), (0.16, 0.11, 0.22), y), (0.93, 0.90, 0.76), (x - 0.28).hypot(y - 0.2) < 0.09
    )
    tops = torch.tensor((0.55, 0.38, 0.62, 0.47, 0.32, 0.58, 0.43, 0.60))
    block = (x / 1.5 * len(tops)).long().clamp(max=len(tops) - 1)
    house = y > tops[block]
    picture = _over(picture, (0.07, 0.07, 0.11), house)
    column, row = x / 1.5 * len(tops) * 4, y * 16
    is_lit = (column.long() * 7 + row.long() * 5) % 4 < 2
    window = (
        ((column % 1 - 0.45).abs() < 0.32)
        & (column.long() % 4 > 0)
        & (row % 1 > 0.4)
        & (y > tops[block] + 0.05)
        & (y < 0.93)
    )
    return _smooth(_over(picture, (0.98, 0.74, 0.30), house & window & is_lit))


def _places() -> tuple[Tensor, Tensor]:
    """The height of each line, from 0 to 1, and the place of each column in the same unit."""
    y = (torch.arange(HEIGHT * FINER) + 0.5) / (HEIGHT * FINER)
    x = (torch.arange(WIDTH * FINER) + 0.5) / (HEIGHT * FINER)
    return y[:, None].expand(-1, len(x)), x.expand(len(y), -1)


def _mix(above: tuple[float, ...], below: tuple[float, ...], amount: Tensor) -> Tensor:
    amount = amount.clamp(0, 1)
    return torch.stack([a + (b - a) * amount for a, b in zip(above, below, strict=True)])


def _over(picture: Tensor, color: tuple[float, ...], where: Tensor) -> Tensor:
    return torch.where(where, torch.tensor(color)[:, None, None], picture)


def _smooth(picture: Tensor) -> Tensor:
    return F.avg_pool2d(picture, FINER)


def png(picture: Tensor) -> bytes:
    """The picture as a file; numbers below 0 are black, above 1 white.

    >>> png(torch.zeros(3, 2, 2))[:4]
    b'\\x89PNG'
    """
    levels = (picture.clamp(0, 1) * LEVELS).round() / LEVELS
    lines = (levels * 255).round().to(torch.uint8).permute(1, 2, 0).flatten(1)
    differences = lines - F.pad(lines[:-1], (0, 0, 1, 0))
    rows = F.pad(differences, (1, 0), value=UP).numpy().tobytes()
    _channels, height, width = picture.shape
    header = pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        pack(">I", len(body)) + kind + body + pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )


def address(picture: Tensor) -> str:
    """The picture as an address that contains it."""
    return f"data:image/png;base64,{b64encode(png(picture)).decode('ascii')}"


Facts = Mapping[str, Any]

TABLE, SEQUENCES, IMAGES = (8, 6), (2, 4, 6), (2, 6, 2, 2)
AT = (0, 1)  # the number that the text follows
SCALES, OFFSETS = (1.0, 2.0, 0.5, 1.0, 3.0, 1.0), (0.0, 4.0, -1.0, 2.0, 0.0, -3.0)  # of the features
BATCHES = (2, 3, 4, 6, 8)  # sizes
SHRINKING = (8, 4, 2)  # batches of the text
SEEN = (0, 1, 2, 5, 10, 20, 50)  # batches before eval()
PADDED = (0, 1, 2, 3)  # tokens of the second sequence
CONTRASTS = (0.2, 0.5, 1.0)
SHIFTS, FACTORS = (0.0, 1.0, 3.0), (1.0, 2.0, 10.0)
GROUPS = (1, 2, 3, 6)
MOST = 2.5  # the output that has the full color
MIDDLE, PER_DEVIATION = 0.5, 0.2  # the brightness of 0, and that of a standard deviation, in a picture of an output


def numbers(seed: int = 0) -> Tensor:
    """The 48 numbers: eight examples of six features, each with its own scale and offset; other batches have other seeds.

    >>> numbers().shape
    torch.Size([8, 6])
    """
    noise = examples.example("normal", TABLE, ("n", "d"), seed)
    return (noise * torch.tensor(SCALES) + torch.tensor(OFFSETS)).mul(10).round() / 10


def _before_and_after(
    e: description.Description, x: Tensor, output: Tensor, captions: tuple[str, str], at: tuple[int, ...] | None = None
) -> Panels:
    """A layer's input and output, in colors that mean the same in all states of a figure."""
    before = PanelValues("x", "x", captions[0], x, most=float(numbers().abs().max()))
    return _values(e, (before, PanelValues("output", _("output"), captions[1], output, most=MOST)), at)


def _values(e: description.Description, panels: Iterable[PanelValues], at: tuple[int, ...] | None = None) -> Panels:
    return Panels(values_payload(e, grid(e.shape, e.axes), panels, at=at), ())


# 1. Values that grow from layer to layer.


def depth_figure() -> DepthFigure:
    data = depth()
    size = StoryControl(_("size of the weights"), tuple(map(format_number, SIZES)), first=data.first)
    layer = StoryControl(_("layer"), ("", "BatchNorm"), "buttons")
    states = tuple(chain.from_iterable(zip(data.plain, data.normalized, strict=True)))
    large = size.options[data.first]
    return DepthFigure((size, layer), states, (size.options[0], "1", large, f"{large}, BatchNorm"))


def depth_numbers() -> Facts:
    data = depth()
    first, (small, large) = data.first, (format_number(SIZES[at]) for at in (0, data.first))
    return {
        "elements": prod(TABLE),
        "layers": len(data.plain[0]),
        "large": Seen(SIZES[first], large),
        "grown": Seen(_last(data.plain[first]), large),
        "small": Seen(SIZES[0], small),
        "shrunk": Seen(_last(data.plain[0]), small),
        "same": Seen(_last(data.plain[SIZES.index(1)]), "1"),
        "spread": Seen(_last(data.normalized[first]), f"{large}, BatchNorm"),
    }


def _last(spreads: list[float]) -> str:
    return format_number(spreads[-1], 2)


# 2. A batch of two.


def batch_figure() -> LinkedFigure:
    sizes = StoryControl(_("examples in the batch"), tuple(map(str, BATCHES)))
    return LinkedFigure((sizes,), tuple(map(_batch, BATCHES)), tuple(map(str, SHRINKING)))


def _batch(n: int) -> Panels:
    """In a batch of two no column is chosen: all of them become -1 and 1."""
    x = numbers()[:n]
    e = description.describe(nn.BatchNorm1d(x.shape[1]), x)
    return _before_and_after(e, x, in_batch(n), (_("the input"), ""), AT if n > BATCHES[0] else None)


@cache
def in_batch(n: int) -> Tensor:
    """The first n examples after BatchNorm in train mode."""
    return nn.BatchNorm1d(TABLE[1])(numbers()[:n]).detach()


def batch_numbers() -> Facts:
    every, some, two = (Seen(float(in_batch(n)[AT]), str(n)) for n in SHRINKING)
    return {
        "value": float(numbers()[AT]),
        "examples": TABLE[0],
        "features": TABLE[1],
        "all": every,
        "fewer": SHRINKING[1],
        "some": some,
        "two": two,
        "refusal": _refusal(),
    }


def _refusal() -> str:
    """What torch says to a batch of one."""
    try:
        nn.BatchNorm1d(TABLE[1])(numbers()[:1])
    except ValueError as error:
        return english(str(error).partition(", got")[0])
    raise AssertionError("torch's BatchNorm1d takes a batch of one")


# 3. Eval, and running statistics.


def eval_figure() -> LinkedFigure:
    seen = StoryControl(_("batches seen in train mode"), tuple(map(str, SEEN)), first=1)
    mode = StoryControl(_("mode of the layer"), ("train()", "eval()"), "buttons")
    states = tuple(_mode(n, training) for n, training in product(SEEN, (True, False)))
    return LinkedFigure((seen, mode), states, ("1, train()", "1, eval()", f"{SEEN[-1]}, eval()"))


def _mode(seen: int, training: bool) -> Panels:
    x, output = numbers(), after_batches(seen, training)
    caption = _("with this batch's statistics") if training else _("with running statistics")
    e = description.describe(nn.BatchNorm1d(x.shape[1]), x)
    return _before_and_after(e, x, output, (_("the input"), caption))


def after_batches(seen: int, training: bool) -> Tensor:
    """The table after a BatchNorm that has seen so many other batches of the same kind."""
    return _after_batches()[seen, training]


@cache
def _after_batches() -> Mapping[tuple[int, bool], Tensor]:
    """The outputs in both modes, for each number of batches in SEEN."""
    layer, found = nn.BatchNorm1d(TABLE[1]), {}
    for seen in range(SEEN[-1] + 1):
        if seen in SEEN:
            found[seen, False] = layer.eval()(numbers()).detach()
            found[seen, True] = in_batch(TABLE[0])  # in train mode, what is stored has no effect
        layer.train()(numbers(seen + 1))
    return found


def eval_numbers() -> Facts:
    layer = nn.BatchNorm1d(TABLE[1])
    momentum = layer.momentum or 0
    many = SEEN[-1]
    return {
        "momentum": momentum,
        "first_mean": float(layer.running_mean[0]),  # type: ignore[index]
        "first_var": float(layer.running_var[0]),  # type: ignore[index]
        "kept": 1 - momentum,
        "many": many,
        "off_one": Seen(_off(1), "1, eval()"),
        "off_many": Seen(_off(many), f"{many}, eval()"),
    }


def _off(seen: int) -> str:
    """The largest difference between the modes."""
    return format_number(forward.largest_difference(after_batches(seen, True), after_batches(seen, False)), 2)


# 4. Sequences with padding.


def padding_figure() -> LinkedFigure:
    padded = StoryControl(_("padded tokens in the second sequence"), tuple(map(str, PADDED)), first=len(PADDED) - 1)
    layer = StoryControl(_("layer"), ("BatchNorm", "LayerNorm"), "buttons")
    states = tuple(_padding(n, name) for n, name in product(PADDED, layer.options))
    most = PADDED[-1]
    return LinkedFigure((padded, layer), states, ("0, BatchNorm", f"{most}, BatchNorm", f"{most}, LayerNorm"))


def sequences(padded: int = 0) -> Tensor:
    """The 48 numbers as two sequences of four tokens; the last tokens of the second one are padding, zeros."""
    x = numbers().reshape(SEQUENCES).clone()
    x[1, SEQUENCES[1] - padded :] = 0
    return x


def _on_sequences(name: str, x: Tensor) -> description.Description:
    layers = {
        "BatchNorm": f"ChannelsLastBatchNorm({SEQUENCES[-1]})",
        "LayerNorm": f"LayerNorm({SEQUENCES[-1]})",
        "RMSNorm": f"RMSNorm({SEQUENCES[-1]})",
    }
    return description.describe(layers[name], x)


@cache
def padded_output(name: str, padded: int) -> Tensor:
    """The sequences after a layer."""
    x, features = sequences(padded), SEQUENCES[-1]
    if name == "BatchNorm":
        return nn.BatchNorm1d(features)(x.transpose(1, 2)).transpose(1, 2).detach()
    return nn.LayerNorm(features)(x).detach()


def _without_padding(padded: int) -> Tensor:
    """The first sequence after BatchNorm over the tokens that are no padding."""
    tokens = sequences().flatten(0, 1)[: prod(SEQUENCES[:2]) - padded]
    return nn.BatchNorm1d(SEQUENCES[-1])(tokens).detach()[: SEQUENCES[1]]


def _padding(padded: int, name: str) -> Panels:
    x, output = sequences(padded), padded_output(name, padded)
    return _before_and_after(_on_sequences(name, x), x, output, (_("the input; padding is zero"), name), (0, *AT))


def padding_numbers() -> Facts:
    most, at = PADDED[-1], (0, *AT)
    return {
        "shape": SEQUENCES,
        "elements": prod(SEQUENCES),
        "before": Seen(float(padded_output("BatchNorm", 0)[at]), "0, BatchNorm"),
        "after": Seen(float(padded_output("BatchNorm", most)[at]), f"{most}, BatchNorm"),
        "left_out": float(_without_padding(most)[AT]),
        "layer_norm": Seen(float(padded_output("LayerNorm", most)[at]), f"{most}, LayerNorm"),
        "most": most,
    }


# 5. The contrast of a picture.


def pictures_figure() -> Pictures:
    contrast = StoryControl(_("contrast of the first picture"), tuple(map(_percent, CONTRASTS)))
    return Pictures((contrast,), tuple(map(_pictures, CONTRASTS)), tuple(map(_percent, reversed(CONTRASTS))))


def _percent(share: float) -> str:
    return f"{round(100 * share)} %"


def photographs(contrast: float) -> Tensor:
    """Both pictures, (2, 3, H, W); the colors of the first are nearer to their means if ``contrast`` is below 1."""
    first = lake()
    mean = first.mean(dim=(1, 2), keepdim=True)
    return torch.stack([mean + contrast * (first - mean), town()])


@cache
def normalized_photographs(contrast: float, name: str) -> Tensor:
    layer = {"BatchNorm": nn.BatchNorm2d, "InstanceNorm": nn.InstanceNorm2d}[name](3)
    return layer(photographs(contrast)).detach()


def _pictures(contrast: float) -> tuple[StoryPicture, ...]:
    """Each photograph, and beside it what the layers make of it."""
    before, names = photographs(contrast), (_("a lake at noon"), _("a town at night"))
    found = []
    for i, alt in enumerate(names):
        found.append(StoryPicture(address(before[i]), alt, _("the input"), _spread(before[i])))
        for layer in ("BatchNorm", "InstanceNorm"):
            y = normalized_photographs(contrast, layer)[i]
            after = _("{picture}, after {layer}", picture=alt, layer=layer)
            found.append(StoryPicture(address(MIDDLE + PER_DEVIATION * y), after, layer, _spread(y)))
    return tuple(found)


def _spread(picture: Tensor) -> str:
    """The standard deviation of its red values."""
    spread = float(picture[0].std(correction=0))
    return format_number(spread, 2)


def pictures_numbers() -> Facts:
    low, middle, full = CONTRASTS
    return {
        "middle": Seen(_percent(middle), _percent(middle)),
        "low": Seen(_percent(low), _percent(low)),
        "full": Seen(_percent(full), _percent(full)),
        "batch_change": Seen(format_number(_change("BatchNorm", low), 2), _percent(low)),
        "instance_change": Seen(format_number(_change("InstanceNorm", low), 2), _percent(low)),
    }


def _change(name: str, contrast: float) -> float:
    """How far the lake moves after the layer when its contrast is lowered."""
    return forward.largest_difference(normalized_photographs(1.0, name)[0], normalized_photographs(contrast, name)[0])


# 6. Large images on few examples.


def groups_figure() -> LinkedFigure:
    groups = StoryControl(_("groups of channels"), tuple(map(str, GROUPS)), first=1)
    return LinkedFigure((groups,), tuple(map(_groups, GROUPS)), ("1", str(GROUPS[1]), str(GROUPS[-1])), ("stats1",))


def _groups(groups: int) -> Panels:
    _n, c, h, w = IMAGES
    return _shared(
        (f"LayerNorm([{c}, {h}, {w}])", f"GroupNorm({groups}, {c})", f"InstanceNorm2d({c})"),
        ("params", "cube", "readout"),
    )


def _shared(layers: tuple[str, ...], hidden: tuple[str, ...]) -> Panels:
    """Who shares a mean, and who shares a gamma, on the images. What is hidden is not sent."""
    found = [description.describe(layer, IMAGES) for layer in layers]
    data = compare_payload(found, grid(found[0].shape, found[0].axes), at=(0, 0, 0, 0))
    panels = [
        _card(panel, found[int(panel.key[-1])])
        for panel in data.panels
        if isinstance(panel, PanelData) and panel.row not in hidden
    ]
    return Panels(replace(data, panels=panels, hidden=hidden), ())


def _card(panel: PanelData, e: description.Description) -> PanelData:
    """A small panel: its title is the layer, and it has no pattern."""
    gammas = prod(e.counts.gamma_shape or (0,))
    caption = ngettext("{n:,} gamma", "{n:,} gammas", gammas) if panel.row == "params" else panel.caption
    return replace(panel, title=e.title, pattern="", caption=caption)


def groups_numbers() -> Facts:
    n, c, h, w = IMAGES
    return {
        "shape": IMAGES,
        "channels": Seen(c, str(c)),
        "one": Seen(1, "1"),
        "first": Seen(GROUPS[1], str(GROUPS[1])),
        "means": Seen(n * GROUPS[1], str(GROUPS[1])),
        "elements": prod(IMAGES),
        "size": c // GROUPS[1] * h * w,
    }


# 7. A cheaper transformer.


def rms_figure() -> LinkedFigure:
    shift = StoryControl(_("added to every number"), tuple(map(format_number, SHIFTS)))
    factor = StoryControl(_("every number is multiplied by"), tuple(map(format_number, FACTORS)))
    states = tuple(_rms(*one) for one in product(SHIFTS, FACTORS))
    return LinkedFigure(
        (shift, factor),
        states,
        ("0, 1", f"0, {factor.options[-1]}", f"{shift.options[-1]}, 1"),
        ("LayerNorm", "RMSNorm"),
    )


@cache
def moved_output(name: str, shift: float, factor: float) -> Tensor:
    """The sequences, multiplied and shifted, after a layer."""
    layer = {"LayerNorm": nn.LayerNorm, "RMSNorm": nn.RMSNorm}[name](SEQUENCES[-1])
    return layer(sequences() * factor + shift).detach()


def _rms(shift: float, factor: float) -> Panels:
    x = sequences() * factor + shift
    outputs = [
        PanelValues(name, name, "", moved_output(name, shift, factor), "", MOST) for name in ("LayerNorm", "RMSNorm")
    ]
    return _values(_on_sequences("RMSNorm", x), outputs, (0, *AT))


def rms_numbers() -> Facts:
    shift, factor, features = SHIFTS[-1], FACTORS[-1], SEQUENCES[-1]
    shifted, multiplied = f"{format_number(shift)}, 1", f"0, {format_number(factor)}"
    return {
        "shift": Seen(shift, shifted),
        "factor": Seen(factor, multiplied),
        "layer_change": Seen(format_difference(_moves("LayerNorm", shift, 1.0)), shifted),
        "rms_change": Seen(format_number(_moves("RMSNorm", shift, 1.0), 2), shifted),
        "features": features,
        "layer_parameters": _parameters(nn.LayerNorm(features)),
        "rms_parameters": _parameters(nn.RMSNorm(features)),
    }


def _moves(name: str, shift: float, factor: float) -> float:
    return forward.largest_difference(moved_output(name, 0.0, 1.0), moved_output(name, shift, factor))


def _parameters(layer: nn.Module) -> int:
    return sum(parameter.numel() for parameter in layer.parameters())


# 2. Two questions, and the table of the last section.


def five_layers() -> tuple[str, ...]:
    """The five layers on the images."""
    _n, c, h, w = IMAGES
    sizes = f"[{c}, {h}, {w}]"
    five = (
        f"BatchNorm2d({c})",
        f"LayerNorm({sizes})",
        f"InstanceNorm2d({c}, affine=True)",
        f"GroupNorm({GROUPS[1]}, {c})",
        f"RMSNorm({sizes})",
    )
    return tuple(filter(is_in_torch, five))


def five_figure() -> LinkedFigure:
    shown = StoryControl(_("What each layer shares"), (_("mean"), _("gamma")), "buttons")
    states = tuple(_shared(five_layers(), ("cube", "readout", hidden)) for hidden in ("params", "stats"))
    drawn = tuple(f"{row}{i}" for row in ("stats", "params") for i in range(len(five_layers())))
    return LinkedFigure((shown,), states, shown.options, drawn)


@cache_by_language()
def five_table() -> Table:
    """The counts of the five layers."""
    heads = (_("layer"), _("means"), _("elements per mean"), _("gammas"), _("eval() uses running statistics"))
    found = [description.describe(layer, IMAGES) for layer in five_layers()]
    rows = tuple(
        (
            e.title,
            e.counts.statistics,
            e.counts.elements_per_statistic,
            prod(e.counts.gamma_shape or (0,)),
            bool(e.counts.buffers),
        )
        for e in found
    )
    return Table(heads, rows, code=(0,))


def five_numbers() -> Facts:
    _n, c, h, w = IMAGES
    return {"shape": IMAGES, "channels": Seen(c, _("gamma")), "elements": Seen(c * h * w, _("gamma"))}
