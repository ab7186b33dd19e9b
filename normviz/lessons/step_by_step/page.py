"""Step by step: the forward pass from x to the output, one step at a time, with the numbers of one element."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch

from normviz.analysis.excerpt import sample_note
from normviz.analysis.sentences import sentence
from normviz.figures.payload import steps_payload
from normviz.lessons.alternatives import views_of_one_layer
from normviz.lessons.page import Page, Plan
from normviz.parts.html import Body, escape
from normviz.parts.part import Caption, Details, LayerNote, Panels, Part, Sentence, course_pair, part_or_note
from normviz.parts.titles import LOOK_UP, TITLES
from normviz.scene import controls, scene, setting
from normviz.scene.view import View
from normviz.texts.messages import N_, _, format_count


@dataclass(frozen=True)
class TwoNumbers(Part):
    """E[x²] − E[x]² of two numbers, and of the same ones far from 0. In the app, a script lets a reader move them."""

    numbers: tuple[float, float] = (1.0, 3.0)
    far: float = 10_000.0
    name: ClassVar[str] = "text"

    def html(self, body: Body) -> str:
        lines = "".join(f"<p>{escape(line)}</p>" for line in self._lines())
        return f'<section class="nv-fast"><h2>{escape(self._title)}</h2>{lines}</section>'

    @property
    def _title(self) -> str:
        return _("Two numbers: their variance is E[x²] − E[x]², but not in float32 far from 0")

    def _lines(self) -> Iterator[str]:
        for distance in (0.0, self.far):
            x = torch.tensor(self.numbers) + distance
            squares, square = x.square().mean().item(), x.mean().square().item()
            shown = [format_count(round(value)) for value in (squares, square, squares - square)]
            result = "E[x²] − E[x]² = {} − {} = {}".format(*shown)
            yield _(
                "{numbers}: {result}", numbers=", ".join(format_count(round(one)) for one in x.tolist()), result=result
            )

    def plain_text(self) -> str:
        return "\n".join([self._title, *self._lines()])


def view_parts(view: View) -> Iterator[Part]:
    """The steps starting at the chosen one, the sentence, and the code of a course with the same steps."""
    scene, step = view.scene, view.settings["step"]
    e = scene.description
    yield from map(LayerNote, e.notes)
    chosen = {"step": step, "at": scene.at, "scaled": scene.scaled}
    yield part_or_note(lambda: Panels(steps_payload(e, scene.grid, **chosen), ("select", "step", "scale")))
    yield from map(Caption, filter(None, [sample_note(e)]))
    yield TwoNumbers()
    yield Sentence(sentence(e))
    title = _("As CS231n writes it: {signature}", signature="layernorm_forward(x, gamma, beta, ln_param) -> out, cache")
    yield Details(title, course_pair())


LAST_STEP = 6  # no layer has more than seven steps
SETTINGS = (setting.integer("step", 0, LAST_STEP, 1, widget=None).described("", N_("the step that is shown"), "4"),)
PAGE = Page(
    "step_by_step",
    *TITLES["step_by_step"],
    view_parts,
    SETTINGS,
    other_views=views_of_one_layer,
    call=lambda view: f'nv.steps("{scene.compact(view.scene.layer)}", x)',
    file_choices=controls.FILE_CHOICES,
    group=LOOK_UP,
    plan=Plan(
        N_(
            "Students compute an output by hand, from the mean to beta, and find the group from which each number comes."
        ),
        15,
        ("q13", "s1e", "s3c"),
    ),
)
