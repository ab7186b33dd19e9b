"""For teachers: what can be done with the app in a course, each with its command or its link."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from normviz.lessons.page import Page
from normviz.lessons.practice.bank import choose
from normviz.lessons.practice.formats.quiz import item
from normviz.lessons.practice.own import content_names
from normviz.lessons.teach.plan import PLANS, plan_links, plan_parts
from normviz.lessons.tours import tours
from normviz.parts.html import Body, block, escape, line
from normviz.parts.part import Caption, Code, Details, Link, Links, Part, Text
from normviz.parts.titles import TEACH, TITLES
from normviz.scene.scene import compact
from normviz.scene.setting import word
from normviz.scene.view import View, link, read
from normviz.texts.messages import N_, _, plain

SEED, COUNT, LEVEL = 7, 5, 1  # of the set that the page shows
SET = f"seed={SEED}&count={COUNT}&level={LEVEL}"
NORMVIZ = "python -m normviz"
PRACTICE = f"{NORMVIZ} practice --seed {SEED} --count {COUNT} --level {LEVEL}"
FORMATS = {
    "Moodle": "--format moodle -o set.xml",
    "Canvas": "--format qti -o set.zip",
    "Anki": "--format anki -o set.apkg",
}


class Command(Code):
    """A command of a shell, or another text that is not Python."""

    def html(self, body: Body) -> str:
        return super().html(body).replace("<code>", '<code class="nv-plain">')


@dataclass(frozen=True)
class Snippet(Part):
    """A text to copy that contains the address of a view. The app writes its own address; a file without an app has none, and no snippet."""

    link: Link
    before: str = ""
    after: str = ""
    name: ClassVar[str] = "code"

    def html(self, body: Body) -> str:
        address = body.address(self.link.address) if body.app is not None else None
        if address is None:
            return ""
        span = f'<span class="nv-address" data-page="{escape(self.link.page)}" data-query="?{escape(self.link.query)}">{escape(address)}</span>'
        text = f"{escape(self.before)}{span}{escape(self.after)}"
        return Command("").html(body).replace("></code>", f">{text}</code>")

    def plain_text(self) -> str:
        return f"{self.before}{self.link.address}{self.after}"


# The frame becomes as high as its content, which depends on its width; Share writes the same line (share/links.ts).
GROWING = (
    '<script>addEventListener("message", ({ source, data }) => document.querySelectorAll("iframe").forEach((frame) => '
    '{ if (frame.contentWindow === source && data?.normvizHeight > 0) frame.style.height = data.normvizHeight + "px"; }));</script>'
)


@dataclass(frozen=True)
class Way(Part):
    """Something that a teacher can do: what it is, a small preview of it, and the parts that do it.

    title, text  as messages
    preview      the key of its drawing
    """

    title: str
    text: str
    preview: str
    parts: tuple[Part, ...]

    @property
    def children(self) -> tuple[Part, ...]:
        return self.parts

    def html(self, body: Body) -> str:
        body.exercises = True
        drawing = f'<svg class="nv-way-preview" viewBox="0 0 120 76" aria-hidden="true">{PREVIEWS[self.preview]}</svg>'
        about = f"<h2>{line(_(self.title))}</h2>{block(_(self.text))}"
        return f'<section class="nv-way">{drawing}<div>{about}{body.html(self.parts)}</div></section>'

    def plain_text(self) -> str:
        parts = [plain(_(self.title)), plain(_(self.text)), *(part.plain_text() for part in self.parts)]
        return "\n\n".join(filter(None, parts))


# The drawings: rectangles and lines in the colors of the text and of the accent.


def _tensor(x: int, y: int, size: int, rows: int = 3, columns: int = 5) -> str:
    """A small tensor with one group filled."""
    step, square = size + 1, f"h{size}v{size}h-{size}z"
    lines = ["".join(f"M{x + j * step} {y + i * step}{square}" for j in range(columns)) for i in range(rows)]
    return f'<path d="{lines.pop(1)}" class="nv-on"/><path d="{"".join(lines)}" class="nv-off"/>'


def _frame(x: int, y: int, width: int, height: int) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" class="nv-frame"/>'


def _lines(x: int, *places: int, width: int = 60) -> str:
    return "".join(f'<path d="M{x} {y}h{width}" class="nv-line"/>' for y in places)


def _ticks(*places: int) -> str:
    return "".join(f'<path d="M24 {y}l3 3 6-7" class="nv-tick"/>' for y in places)


PREVIEWS = {
    "project": _frame(8, 4, 104, 62) + _tensor(28, 14, 12) + '<path d="M60 66v8M44 74h32" class="nv-line"/>',
    "tours": "".join(_frame(x, 22, 30, 32) + _tensor(x + 5, 32, 3) for x in (4, 45, 86))
    + '<path d="M36 38h6m-2-2 2 2-2 2M77 38h6m-2-2 2 2-2 2" class="nv-tick"/>',
    "plans": _frame(24, 4, 72, 68) + _lines(34, 16, 28, width=52) + _tensor(34, 38, 6, 2, 3) + _lines(62, 42, 50, width=24) + _lines(34, 62, width=52),
    "set": _frame(14, 4, 92, 68) + _tensor(24, 14, 6) + _lines(66, 18, 26, width=28)
    + "".join(f'<circle cx="{x}" cy="58" r="4" class="{"nv-on" if x == 30 else "nv-off"}"/>' for x in (30, 45, 60, 75, 90)),
    "embed": _frame(14, 4, 92, 68) + _lines(24, 14, 21, width=72) + _frame(24, 28, 72, 28) + _tensor(44, 32, 6) + _lines(24, 64, width=50),
    "course": _frame(14, 4, 92, 68) + "".join(f'<rect x="24" y="{y}" width="8" height="8" rx="2" class="nv-off"/>' for y in (14, 33, 52))
    + _lines(40, 18, 37, 56, width=54),
    "answers": _frame(14, 4, 92, 68) + _ticks(18, 37, 56) + _lines(40, 18, 37, 56, width=54),
}  # fmt: skip


def view_parts(view: View) -> Iterator[Part]:
    """The page, or the lesson plan of another page."""
    if view.settings["plan"]:
        yield Links((Link(_("All lesson plans"), "teach"),), kind="back")
        yield from plan_parts(view.settings["plan"])
    else:
        yield from _ways()


def _ways() -> Iterator[Part]:
    """What a teacher can do."""
    scene = read({}).scene
    explore = Link("", "explore", f"shape={','.join(map(str, scene.shape))}&layer={compact(scene.layer)}&embed=true")
    practice = Link(_("Open the five exercises"), "practice", SET)
    yield Way(
        N_("Project it"), N_("*Project*, at the top of each page with a figure, shows it in the whole window. Escape ends that."), "project",
        (Links((Link(_("Explore, for a projector"), "explore", "present=true"),), kind="choices"),),
    )  # fmt: skip
    yield Way(
        N_("Tours"), N_("A tour is a series of views, each with a sentence. The arrow keys or a clicker show the next one. As a file, a tour needs no network."), "tours",
        (
            Links(tuple(Link(tour.title, tour.stops[0].page, f"tour={tour.name}") for tour in tours().values()), kind="choices"),
            Command(f"{NORMVIZ} export --tour {next(iter(tours()))} -o tour.html"),
        ),
    )  # fmt: skip
    yield Way(
        N_("Lesson plans"), N_("One for each page: its goal, its time, what to ask first, the usual wrong answer, and two questions for the class. Print it for the lecture."), "plans",
        (plan_links(),),
    )  # fmt: skip
    yield Way(
        N_("Five exercises by a link"),
        N_("Everyone who opens the link gets the same exercises. Another `seed` is another set; `level` is 1, 2 or 3."), "set",
        (Snippet(practice), Links((practice,), kind="choices")),
    )  # fmt: skip
    yield Way(
        N_("In your own pages"),
        N_("*Share*, at the top of each page, writes a frame, a link or Markdown for what you see. A file needs no server."), "embed",
        (
            Snippet(explore, '<iframe src="', '" title="normviz" loading="lazy" width="100%" height="640" style="border: 0"></iframe>\n' + GROWING),
            Command(f'{NORMVIZ} export "{compact(scene.layer)}" --shape {",".join(map(str, scene.shape))} -o layer.html'),
        ),
    )  # fmt: skip
    yield Way(
        N_("Moodle, Canvas, Anki"),
        N_('The same set as a quiz, with pictures, and feedback for each wrong answer. In the folder of the source code, `pip install ".[practice]"` installs what it needs.'), "course",
        (Command("\n".join(f"{PRACTICE} {options}" for options in FORMATS.values())),),
    )  # fmt: skip
    yield Way(
        N_("Answer sheet"), N_("The answers to these five exercises, with reasons. The command writes the answers to any set."), "answers",
        (Details(_("Show the answers"), (_answers(),)), Command(f"{PRACTICE} -o answers.json")),
    )  # fmt: skip
    if names := content_names():
        own = tuple(Link(name, "practice", link({"content": name}).removeprefix("?")) for name in names)
        yield Details(_("Questions of this course"), (Links(own, kind="choices"),))
    yield Caption(_("More: `docs/teaching.md`, `docs/tours.md` and `docs/embedding.md` in the source code."))


def _answers() -> Text:
    """The exercises of the set, each with its answer."""
    exercises = choose(SEED, COUNT, (), LEVEL)
    return Text(
        "\n".join(
            f"{n}. {one.whole_prompt}\n\n   {_answer(item(one).answer, one.explanation)}"
            for n, one in enumerate(exercises, 1)
        )
    )


def _answer(answer: str, explanation: str) -> str:
    """The answer before its explanation, which may begin with it."""
    if explanation.casefold().startswith(answer.casefold()):
        return f"**{explanation[: len(answer)]}**{explanation[len(answer) :]}"
    return _("{answer}. {reason}", answer=f"**{answer}**", reason=explanation)


PLAN = word("plan", PLANS, "").described("", N_("the page whose lesson plan is shown"), "explore")
PAGE = Page("teach", *TITLES["teach"], view_parts, (PLAN,), rows=lambda _view: (), uses="nothing", group=TEACH)
