"""The front page: one figure, the field for a layer or an error, and the pages in their groups."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from normviz.analysis.description import describe
from normviz.analysis.sentences import axis_nouns
from normviz.figures.palette import THEMES
from normviz.figures.wire import Payload, left_out
from normviz.layers.axes import divisors
from normviz.layers.catalogue import families_with_button
from normviz.layers.layer import Layer
from normviz.lessons.page import Page, language_query
from normviz.lessons.start.page import groups_picture
from normviz.parts.html import Body, data, escape, text
from normviz.parts.part import Link, Part, SmallTensor, page_path
from normviz.parts.titles import EXPLORE, HOME, LEARN, LOOK_UP, TEACH, TITLES, VIEWS
from normviz.scene.grid import roles
from normviz.scene.toggles import Standing, layers_of_toggles
from normviz.scene.view import TYPED, View
from normviz.texts.messages import N_, _

EXAMPLE = "LayerNorm(96) on (8, 96, 56, 56)"
DOORS = {LEARN: N_("Predict, then see."), LOOK_UP: N_("Any layer, any tensor."), TEACH: N_("In front of a class.")}
TENSOR = (2, 4, 3, 5), ("n", "c", "h", "w")
FIRST = Standing((0, 0, 1, 1), (0, 0, 1, 1))  # LayerNorm([H, W]): not the first goal


@dataclass(frozen=True)
class ToyLayer(Payload):
    """A layer, and how the toggles stand for it.

    usual   its options are the defaults
    source  of a layer that torch does not have
    """

    name: str
    family: str
    standing: Standing
    usual: bool
    source: str = left_out("")


@dataclass(frozen=True, kw_only=True)
class ToyData(SmallTensor):
    """A tensor, and the layers that toggles find on it.

    labels  the names of the toggles
    steps   how each toggle of the means may stand
    goals   the families that a reader is asked to make
    first   how the toggles stand as the page opens
    """

    labels: list[str]
    steps: list[list[int]]
    layers: list[ToyLayer]
    goals: list[str]
    first: Standing


def toy_data(shape: tuple[int, ...], axes: tuple[str, ...], first: Standing) -> ToyData:
    """The layers that toggles find on a tensor, whose channels may be split into as few groups as divide them."""
    groups = [divisors(size)[1:-1][:1] if axis == "c" else [] for axis, size in zip(axes, shape, strict=True)]
    steps = [[0, 1, *number] for number in groups]
    layers = [
        ToyLayer(
            str(layer), layer.kind.family, one, not layer.changes, "" if layer.kind.in_torch else layer.kind.source
        )
        for one, layer in layers_of_toggles(shape, axes).items()
        if all(number in possible for number, possible in zip(one.means, steps, strict=True))
    ]
    found = {layer.family for layer in layers}
    labels = [_("{first}, {second}", first=axis.upper(), second=axis_nouns(axis, axes)[1]) for axis in axes]
    goals = [family for family in families_with_button() if family in found]
    return ToyData(
        shape=shape, names=axes, **vars(roles(axes)), labels=labels, steps=steps, layers=layers, goals=goals, first=first
    )  # fmt: skip


@dataclass(frozen=True)
class Toy(Part):
    """A tensor whose toggles find the name of a layer. ``home.ts`` draws it and answers; until then, it is a picture of the first layer."""

    data: ToyData

    def html(self, body: Body) -> str:
        body.exercises = True
        e = describe(Layer.parse(self.first), self.data.shape)
        gammas = prod(e.counts.gamma_shape or ())
        pictures = (
            (_("mean over"), groups_picture(e)),
            (_("own gamma for each"), groups_picture(e, e.param_ids, [ramp(i / (gammas - 1)) for i in range(gammas)])),
        )
        panels = "".join(
            f'<div class="nv-shared"><div class="nv-shared-head">{escape(label)}</div>{picture}</div>'
            for label, picture in pictures
        )
        explore = Link(_("Explore it"), EXPLORE).html(body, " nv-toy-explore")
        more = Link(_("More to build"), "practice", "kinds=build").html(body)
        goal = f'<p class="nv-toy-goal">{escape(_("Make {family}.", family=self.data.goals[0]))}</p>'
        said = f'<p class="nv-toy-verdict nv-toy-found">{escape(self.plain_text())}</p>'
        return (
            f'<div class="nv-toy" data-layer="{escape(self.first)}" data-toy="{escape(data(self.data))}"><div class="nv-toy-goals">{goal}</div>'
            f'<div class="nv-toy-panels">{panels}</div>'
            f'<div class="nv-toy-bar">{said}<p class="nv-toy-links">{explore}<span class="nv-toy-more" hidden>{more}</span></p></div></div>'
        )

    @property
    def first(self) -> str:
        """The name of the layer with which it opens."""
        return next(layer.name for layer in self.data.layers if layer.standing == self.data.first)

    def plain_text(self) -> str:
        return _("That is {layer}.", layer=self.first)


def ramp(place: float) -> str:
    """The color of a gamma, the first at 0 and the last at 1."""
    first, last = zip(THEMES["light"].parameters, THEMES["dark"].parameters, strict=True)
    return f"color-mix(in oklab,light-dark({','.join(last)}) {place:.0%},light-dark({','.join(first)}))"


@dataclass(frozen=True)
class Begin(Part):
    """The link to Start here, and a field whose text Explore reads: a plain form, which works before any script has run.

    lang  the language that the address names, or ""
    """

    lang: str = ""

    def html(self, body: Body) -> str:
        """Without an app, nothing would read the field."""
        link = Link(_("Start here"), "start").html(body, " nv-front-go")
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
        """A group; "" if none of its pages is anywhere. The pages of a site have no tabs, so that it lists the views of a tensor."""
        views = VIEWS if body.pages else (EXPLORE,)
        listed = [name for page in self.groups[group] for name in (views if page.name == EXPLORE else (page.name,))]
        links = [Link(_(TITLES[name][0]), name).html(body) for name in listed]
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


class FrontPage(Page):
    """The page: a question in place of a title."""

    @property
    def heading(self) -> tuple[str, str]:
        return _("Who shares a mean, and who shares a gamma?"), ""


def front_page(groups: Mapping[str, Sequence[Page]]) -> Page:
    """The front page, with the pages in their groups."""

    def view_parts(view: View) -> Iterator[Part]:
        yield Front((Toy(toy_data(*TENSOR, FIRST)), Begin(view.display.lang), Doors(groups)))

    return FrontPage(HOME, *TITLES[HOME], view_parts, rows=lambda _view: (), uses="nothing", in_first_html=True)
