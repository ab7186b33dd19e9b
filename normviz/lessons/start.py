"""The data of each step's figure. All numbers are torch's; the browser maps them by sliders, and counts marks."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import torch
from torch import nn
from torch.nn import functional as F

from normviz.analysis.description import describe
from normviz.figures.payload import parameters_data, statistics_data
from normviz.layers.layer import Layer
from normviz.lessons.page import Page
from normviz.lessons.parts.html import Body, data, escape, line, plain
from normviz.lessons.parts.links import Link
from normviz.lessons.parts.part import Part
from normviz.lessons.titles import LEARN, TITLES
from normviz.scene.grid import roles
from normviz.scene.setting import integer
from normviz.scene.view import View
from normviz.texts.errors import NormvizError
from normviz.texts.languages import read_text
from normviz.texts.messages import N_, _, cache_by_language, format_number, join_sentences, language, ngettext

Data = dict[str, Any]
Facts = Mapping[str, Any]
Index = tuple[int, ...]

LAYERS, WIDTH, BATCH = 10, 128, 64
# Sizes of the weights, as multiples of the size that keeps the spread.
SIZES = (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.4, 1.6, 1.8, 2)
FIRST_SIZE = 1.6
FOUR = (2.0, 5.0, 6.0, 9.0)
TABLE, FRAMED = ((1.0, 4.0, 10.0), (3.0, 8.0, 13.0)), (0, 1)
IMAGES, PIXEL = (2, 3, 2, 2), (0, 1, 0, 1)
SEQUENCES, TOKEN = (2, 4, 3), (0, 1, 2)


@cache
def depth() -> Data:
    """The standard deviation of what each layer of a network of linear layers with ReLU computes, with and without BatchNorm."""
    plain, normalized = ([_spreads(size, is_normalized) for size in SIZES] for is_normalized in (False, True))
    return {
        "kind": "depth",
        "sizes": list(SIZES),
        "first": SIZES.index(FIRST_SIZE),
        "plain": plain,
        "normalized": normalized,
    }


def _spreads(size: float, is_normalized: bool) -> list[float]:
    generator = torch.Generator().manual_seed(0)
    x, found = torch.randn(BATCH, WIDTH, generator=generator), []
    for _layer in range(LAYERS):
        weight = size * (2 / WIDTH) ** 0.5 * torch.randn(WIDTH, WIDTH, generator=generator)
        x = F.relu(x) @ weight.T
        if is_normalized:
            x = F.batch_norm(x, None, None, training=True)
        found.append(float(x.std(correction=0)))
    return found


def depth_facts() -> Facts:
    spreads = sorted({format_number(spread, 3) for layers in depth()["normalized"] for spread in layers})
    if len(spreads) == 1:
        return {"spread": spreads[0]}
    return {"spread": _("{low} to {high}", low=spreads[0], high=spreads[-1])}


def _moments(values: torch.Tensor) -> Data:
    return {"values": values.tolist(), "mean": float(values.mean()), "std": float(values.std(correction=0))}


@cache
def numbers() -> Data:
    """Four numbers; the sliders subtract and divide."""
    found = _moments(torch.tensor(FOUR))
    return found | {
        "kind": "numbers",
        "sliders": [
            {"name": "subtract", "low": 0, "high": 10, "step": 0.5, "first": 0, "goal": found["mean"]},
            {"name": "divide", "low": 0.5, "high": 5, "step": 0.5, "first": 1, "goal": found["std"]},
        ],
        "goal": {"mean": 0, "std": 1},
        "range": [-6, 10],
    }


def numbers_facts() -> Facts:
    x = torch.tensor(FOUR)
    distances = " + ".join(f"{format_number(abs(value))}²" for value in (x - x.mean()).tolist())
    return {
        "mean": float(x.mean()),
        "distances": distances,
        "n": len(x),
        "variance": float(x.var(correction=0)),
        "std": float(x.std(correction=0)),
        "eps": nn.BatchNorm1d(1).eps,
    }


@cache
def affine() -> Data:
    """The four numbers as BatchNorm normalizes them; the sliders multiply and add."""
    layer, found = nn.BatchNorm1d(1).double(), numbers()
    with torch.no_grad():
        normalized = layer(torch.tensor(FOUR, dtype=torch.float64).reshape(-1, 1)).flatten()
    return _moments(normalized) | {
        "kind": "affine",
        "sliders": [
            {"name": "gamma", "low": 0, "high": 5, "step": 0.5, "first": layer.weight.item(), "goal": found["std"]},
            {"name": "beta", "low": -2, "high": 8, "step": 0.5, "first": layer.bias.item(), "goal": found["mean"]},
        ],
        "goal": {"mean": found["mean"], "std": found["std"]},
        "rings": found["values"],
        "range": [-6, 10],
    }


def affine_facts() -> Facts:
    gamma, beta = affine()["sliders"]
    return {"gamma": gamma["goal"], "beta": beta["goal"], "first_gamma": gamma["first"], "first_beta": beta["first"]}


def _task(layer: str, x: torch.Tensor | Index, at: Index, shared: str = "mean") -> Data:
    """Marking the elements that share a mean, or a gamma, with the framed one; ``texts`` are the values of x, if it has any."""
    e = describe(Layer.parse(layer), x)
    sharing = parameters_data(e) if shared == "gamma" else statistics_data(e)
    axes = sharing["axes"] if sharing else []
    texts = {"texts": [format_number(value) for value in x.flatten().tolist()]} if isinstance(x, torch.Tensor) else {}
    drawn = {"shape": list(e.shape), "names": list(e.axes), **vars(roles(e.axes))}
    return drawn | {"axes": axes, "at": list(at)} | texts


@cache_by_language()
def marks(layer: str, shared: str = "mean") -> Data:
    """The table of the steps on BatchNorm and LayerNorm, and of the step on gamma."""
    is_gamma = shared == "gamma"
    colors = (
        _("Each color shares one gamma and one beta.")
        if is_gamma
        else _("Each color shares one mean and one variance.")
    )
    task = {"label": layer, "task": _task(layer, torch.tensor(TABLE), FRAMED, shared), "colors": colors}
    return {"kind": "marks", "tasks": [task]}


def marks_facts(layer: str) -> Facts:
    x, task = torch.tensor(TABLE), marks(layer)["tasks"][0]["task"]
    kept = [axis["axis"] for axis in task["axes"]]
    group = x[tuple(FRAMED[axis] if axis in kept else slice(None) for axis in range(x.dim()))]
    terms = " + ".join(map(format_number, group.tolist()))
    return {
        "layer": layer,
        "shape": tuple(x.shape),
        "framed": float(x[FRAMED]),
        "terms": terms,
        "n": len(group),
        "means": x.numel() // len(group),
        "mean": float(group.mean()),
    }


def gammas_facts() -> Facts:
    layer = nn.LayerNorm(3)
    gammas, betas = layer.weight.numel(), layer.bias.numel()
    return {"framed": TABLE[0][1], "gammas": gammas, "betas": betas, "parameters": gammas + betas}


@cache_by_language()
def images() -> Data:
    """Layers to choose from, on images and on sequences."""
    asked: list[tuple[str, str, Index, Index]] = [
        ("BatchNorm", "BatchNorm2d(3)", IMAGES, PIXEL),
        ("LayerNorm", "LayerNorm([3, 2, 2])", IMAGES, PIXEL),
        ("InstanceNorm", "InstanceNorm2d(3)", IMAGES, PIXEL),
        (_("Sequences: {layer}", layer="LayerNorm"), "LayerNorm(3)", SEQUENCES, TOKEN),
    ]
    tasks = [
        {"label": label, "task": _task(layer, shape, at), "hint": _rule(layer, shape)}
        for label, layer, shape, at in asked
    ]
    return {"kind": "marks", "tasks": tasks}


def _rule(layer: str, shape: tuple[int, ...]) -> str:
    """The axes that are kept and the axes that are averaged."""
    e = describe(Layer.parse(layer), shape)
    kept, reduced = (", ".join(names).upper() for names in (e.norm.pattern.right, e.norm.pattern.reduced))
    means = ngettext(
        "One mean for each {kept}, over {reduced}: {n} mean.",
        "One mean for each {kept}, over {reduced}: {n} means.",
        e.counts.statistics,
        kept=kept,
        reduced=reduced,
    )
    elements = ngettext(
        "Each is the mean of {n} element.", "Each is the mean of {n} elements.", e.counts.elements_per_statistic
    )
    return join_sentences([means, elements])


# The steps as data: the prose of each, in a Markdown file, and its figure. Numbers in the prose are placeholders filled from torch's.
# The prose of the step ``depth`` is ``normviz/locale/<language>/start/depth.md``.

SECTIONS = {"Do": "act", "Hint": "hint", "Done": "done"}
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class StepProse:
    """The text of a step.

    title  its heading
    text   one or two sentences
    act    what the reader does
    hint   what helps a reader who has marked the wrong elements, or ""
    done   what the reader has seen
    """

    title: str
    text: str
    act: str
    done: str
    hint: str = ""


@dataclass(frozen=True)
class LessonStep:
    """A step: its identifier, the data of its figure, and the placeholders of its prose."""

    key: str
    figure: Callable[[], Data]
    facts: Callable[[], Facts] = dict

    @property
    def prose(self) -> StepProse:
        """The text in the reader's language, or in English if there is no translation."""
        return _prose(self, language.get())


LESSON_STEPS = (
    LessonStep("depth", depth, depth_facts),
    LessonStep("numbers", numbers, numbers_facts),
    LessonStep("batchnorm", lambda: marks("BatchNorm1d(3)"), lambda: marks_facts("BatchNorm1d(3)")),
    LessonStep("layernorm", lambda: marks("LayerNorm(3)"), lambda: marks_facts("LayerNorm(3)")),
    LessonStep("affine", affine, affine_facts),
    LessonStep("gammas", lambda: marks("LayerNorm(3)", "gamma"), gammas_facts),
    LessonStep("images", images),
)


@cache
def _prose(step: LessonStep, name: str) -> StepProse:
    path = f"start/{step.key}.md"
    facts = step.facts().items()
    shown = {key: format_number(value) if isinstance(value, float) else str(value) for key, value in facts}
    return read_prose(read_text(path).format_map(shown), f"{name}/{path}")


def read_prose(text: str, name: str) -> StepProse:
    """The parts of a Markdown file. Raises NormvizError if one is missing.

    >>> read_prose("# Title\\n\\nText.\\n\\n## Do\\n\\nClick.\\n\\n## Done\\n\\nSeen.", "a.md").act
    'Click.'
    """
    begin, *rest = HEADING.split(text)
    title, _newline, first = begin.removeprefix("# ").partition("\n")
    parts = {SECTIONS.get(heading, heading): _line(body) for heading, body in zip(rest[::2], rest[1::2], strict=True)}
    if not begin.startswith("# ") or not {"act", "done"} <= parts.keys() <= set(SECTIONS.values()):
        raise NormvizError(f"{name} must have a title (#), a text, '## Do', '## Done', and perhaps '## Hint'.")
    return StepProse(title.strip(), _line(first), **parts)


def _line(text: str) -> str:
    return " ".join(text.split())


# The steps as one part of a page. The browser shows one step after the other, and judges what the reader does.


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


START_STEPS = len(LESSON_STEPS)
SETTINGS = (
    integer("step", 0, START_STEPS, 0, widget=None, about=N_("the step that is shown first; 0: where the reader left off"), example="3"),
)  # fmt: skip
PAGE = Page("start", *TITLES["start"], view_parts, SETTINGS, rows=lambda _view: (), group=LEARN, uses="nothing")
