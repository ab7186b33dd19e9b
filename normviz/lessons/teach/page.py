"""For teachers, a shelf: the chosen exercises and the tours as files that the server makes, plans of a lesson, a frame, and the commands."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import ClassVar

from normviz.lessons.page import ControlRow, Page, Plan, language_query, plan_of
from normviz.lessons.practice.formats.quiz import item
from normviz.lessons.practice.own import content_names
from normviz.lessons.practice.page import ExerciseSet
from normviz.lessons.practice.settings import COUNT, KINDS, LEVEL, MIXTURE, OF_SET, OF_TOPICS, RISING, missing_package
from normviz.lessons.questions.page import QUESTIONS, link_to
from normviz.lessons.questions.question import Question, answer, facts_of, prose, reasons
from normviz.lessons.tours import minutes_text, tours
from normviz.parts.html import Body, block, escape, line
from normviz.parts.part import Caption, Code, Details, Heading, Link, Links, Part, Text
from normviz.parts.titles import TEACH, TITLES
from normviz.scene.controls import SEED
from normviz.scene.scene import compact
from normviz.scene.setting import word
from normviz.scene.view import View, read
from normviz.scene.view import link as link_text
from normviz.texts.messages import N_, _, join_sentences, plain

NORMVIZ = "python -m normviz"
COMMANDS = ("--format moodle -o set.xml", "--format qti -o set.zip", "--format anki -o set.apkg", "-o answers.json")
# px, measured in a browser: of the view in a frame from 760 px, and in a narrower one; Share writes the same form for what it measures (share/links.ts).
WIDE_FRAME, NARROW_FRAME = 1130, 1750
FRAME = f'height="{NARROW_FRAME}" style="border: 0; height: max({WIDE_FRAME}px, min({NARROW_FRAME}px, (760px - 100cqw) * 9999))"'
MOST_ANSWERS = 20  # of exercises, on the page
ROWS = (ControlRow("controls", ((COUNT,), (LEVEL,)), "medium", more=((OF_TOPICS, KINDS), (SEED, MIXTURE))),)


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
    "plan": _frame(14, 4, 92, 68) + _ticks(18, 37, 56) + _lines(40, 18, 37, 56, width=54),
}  # fmt: skip


FILES = (
    ("moodle", "Moodle XML", N_("into the question bank of Moodle")),
    ("qti", "QTI 1.2", N_("as a quiz into Canvas and others")),
    ("anki", "Anki", N_("as cards to learn with")),
    ("scorm", "SCORM 1.2", N_("as an activity that reports the score")),
    ("html", N_("Page"), N_("as one file that needs no network")),
    ("paper", N_("Paper"), N_("to print as an exam")),
    ("answers", N_("Answers"), N_("with the reason for each wrong answer")),
    ("json", "JSON", N_("for a program of your own")),
)  # fmt: skip


@dataclass(frozen=True)
class Shelf(Part):
    """Files that the server makes; without a server, there is none.

    files  the name of each, what it is for, and what the route of files is asked for; and the link to its preview
    """

    files: tuple[tuple[str, str, str, Link], ...]

    def html(self, body: Body) -> str:
        if body.app is None:
            return ""
        items = "".join(
            f"<li>{_file_link(body, query, title, 'download')}<span>{escape(about)}</span>{_preview(body, link)}</li>"
            for title, about, query, link in self.files
        )
        return f'<ul class="nv-shelf">{items}</ul>'

    def plain_text(self) -> str:
        return ""


def _preview(body: Body, link: Link) -> str:
    """The link to what a file shows; to another file, it leaves the page."""
    if link.page != "export":
        return link.html(body)
    return _file_link(body, link.query, link.text, 'target="_blank"')


def _file_link(body: Body, query: str, text: str, attribute: str) -> str:
    """The link to a file that the server makes."""
    address = f"{escape(body.app or '')}/export?{escape(query)}"
    return f'<a class="nv-file" data-page="export" data-query="?{escape(query)}" href="{address}" {attribute}>{escape(text)}</a>'


def _files(chosen: Mapping[str, str], level: str) -> Shelf:
    """The chosen set in each format that the server can write; a rising set exists only as a page."""
    query = link_text({**chosen, **language_query()}).removeprefix("?")
    practice = Link(_("Preview"), "practice", query)
    found = []
    for name, title, about in FILES:
        if missing_package(name) or (level == RISING and name != "html"):
            continue
        asked = f"page=practice&format={name}&{query}"
        is_sheet = name in ("paper", "answers")
        found.append(
            (_(title), _(about), asked, Link(_("Preview"), "export", f"{asked}&preview=true") if is_sheet else practice)
        )
    return Shelf(tuple(found))


def _tours() -> Shelf:
    language = "".join(f"&lang={name}" for name in language_query().values())
    return Shelf(
        tuple(
            (
                tour.title,
                minutes_text(tour.minutes),
                f"page=tour&tour={tour.name}{language}",
                Link(_("Preview"), tour.stops[0].page, f"tour={tour.name}"),
            )
            for tour in tours().values()
        )
    )


# Each step of a plan: its minutes, what the class does, and the question, the tour or the page that it opens.
PREDICT, TOUR = N_("Each student predicts, then the answer is shown."), N_("A tour, from the front.")
ON_PHONES, EXERCISES = N_("On the phones: change the sizes and the layer."), N_("On the phones: exercises by a link.")
SCHEDULES = (
    ((2, PREDICT, "s2f"), (5, TOUR, "normalized-shape"), (3, EXERCISES, "practice")),
    (
        (3, PREDICT, "s2f"), (8, TOUR, "from-batchnorm-to-layernorm"), (6, ON_PHONES, "explore"), (3, PREDICT, "s0c"), (5, TOUR, "normalized-shape"),
        (7, TOUR, "train-and-eval"), (10, EXERCISES, "practice"), (3, PREDICT, "q16"),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Schedule(Part):
    """A plan of a lesson: the minutes of each step, what it is, and its link."""

    steps: tuple[tuple[int, str, Link], ...]

    @property
    def title(self) -> str:
        return _("A plan of {time}", time=minutes_text(sum(minutes for minutes, _text, _link in self.steps)))

    def html(self, body: Body) -> str:
        rows = "".join(
            f"<li><b>{minutes_text(n)}</b><span>{line(_(text))} {link.html(body)}</span></li>"
            for n, text, link in self.steps
        )
        return f'<h3>{escape(self.title)}</h3><ol class="nv-plan">{rows}</ol>'

    def plain_text(self) -> str:
        steps = (f"- {minutes_text(n)}: {plain(_(text))} {plain(link.text)}" for n, text, link in self.steps)
        return "\n".join([self.title, *steps])


def _schedules(query: str) -> tuple[Schedule, ...]:
    def link(target: str) -> Link:
        if target in tours():
            tour = tours()[target]
            return Link(tour.title, tour.stops[0].page, f"tour={target}")
        if target in TITLES:
            return Link(_(TITLES[target][0]), target, query if target == "practice" else "")
        return Link(prose(target).title, "questions", f"q={target}&present=true")

    return tuple(Schedule(tuple((n, text, link(target)) for n, text, target in steps)) for steps in SCHEDULES)


def _ways(view: View, chosen: Mapping[str, str], planned: Iterable[Page]) -> Iterator[Part]:
    """What a teacher can do. ``chosen``: the query of the exercises; ``planned``: the pages with a lesson plan."""
    scene = read({}).scene
    query = link_text(chosen).removeprefix("?")
    explore = Link("", "explore", f"shape={','.join(map(str, scene.shape))}&layer={compact(scene.layer)}&embed=true")
    practice = Link(_("Open these exercises"), "practice", query)
    yield Way(
        N_("Exercises"),
        N_("Everyone who opens the link gets the same exercises: those that you choose above. The files have them too, with feedback for each wrong answer."), "set",
        (Snippet(practice), Links((practice,), kind="choices"), _files(chosen, view.settings["level"]), *_answers(view)),
    )  # fmt: skip
    yield Way(
        N_("Tours"), N_("A tour is a series of views, each with a sentence. The arrow keys or a clicker show the next one. As a file, a tour needs no network."), "tours",
        (_tours(),),
    )  # fmt: skip
    yield Way(
        N_("Project it"),
        N_("*Project*, at the top of each page with a figure, shows the figure and one sentence in large type. The space key shows the answer, the code in the corner opens the view on a phone, Escape ends it."), "project",
        (Links((Link(_("Explore, for a projector"), "explore", "present=true"),), kind="choices"),),
    )  # fmt: skip
    yield Way(N_("In a lesson"), N_("Two plans; each step opens what the class sees."), "plan", _schedules(query))
    yield Way(
        N_("Lesson plans"), N_("One for each page: its goal, its time, what to ask first, the usual wrong answer, and two questions for the class. Print it for the lecture."), "plans",
        (plan_links(planned),),
    )  # fmt: skip
    yield Way(
        N_("In your own pages"),
        N_("*Share*, at the top of each page, writes a frame, a link or Markdown for what you see. A file needs no server."), "embed",
        (Snippet(explore, '<div style="container-type: inline-size"><iframe src="', f'" title="normviz" loading="lazy" width="100%" {FRAME}></iframe></div>\n' + GROWING),),
    )  # fmt: skip
    options = " ".join(f"--{name} {text}" for name, text in chosen.items())
    commands = (f"{NORMVIZ} practice {options} {each}" for each in COMMANDS)
    tour = f"{NORMVIZ} export --tour {next(iter(tours()))} -o tour.html"
    layer = f'{NORMVIZ} export "{compact(scene.layer)}" --shape {",".join(map(str, scene.shape))} -o layer.html'
    about = Text(_('In the folder of the source code, `pip install ".[practice]"` installs what the formats need.'))
    yield Details(_("The same with commands"), (about, Command("\n".join([*commands, tour, layer]))))
    if names := content_names():
        own = tuple(Link(name, "practice", link_text({"content": name}).removeprefix("?")) for name in names)
        yield Details(_("Questions of this course"), (Links(own, kind="choices"),))
    yield Caption(_("More: `docs/teaching.md`, `docs/tours.md` and `docs/embedding.md` in the source code."))


def _chosen(view: View) -> ExerciseSet:
    """The set of the view; of a rising one, which has none, its first level."""
    chosen = ExerciseSet.of(view)
    return replace(chosen, level=1, is_rising=False) if chosen.is_rising else chosen


def _answers(view: View) -> Iterator[Part]:
    """The exercises of the set, each with its answer. Those of more exercises are in the file of answers, which takes longer."""
    if view.settings["count"] <= MOST_ANSWERS:
        text = "\n".join(
            f"{n}. {one.whole_prompt}\n\n   {_answer(item(one).answer, one.explanation)}"
            for n, one in enumerate(_chosen(view).exercises(), 1)
        )
        yield Details(_("Show the answers"), (Text(text),))


def _answer(answer: str, explanation: str) -> str:
    """The answer before its explanation, which may begin with it."""
    if explanation.casefold().startswith(answer.casefold()):
        return f"**{explanation[: len(answer)]}**{explanation[len(answer) :]}"
    return _("{answer}. {reason}", answer=f"**{answer}**", reason=explanation)


def teach_page(others: Sequence[Page]) -> Page:
    """The page, with the lesson plans of the others."""
    planned = {page.name: page for page in others if page.plan}
    named = word("plan", planned, "").described("", N_("the page whose lesson plan is shown"), "explore")

    def view_parts(view: View) -> Iterator[Part]:
        asked = planned.get(view.settings["plan"])
        if asked and asked.plan:
            yield Links((Link(_("All lesson plans"), "teach"),), kind="back")
            yield from plan_parts(asked, asked.plan)
        else:
            chosen = {name: text for name, text in page.query(view).items() if name != "present"}
            yield from _ways(view, chosen, planned.values())

    page = Page(
        "teach",
        *TITLES["teach"],
        view_parts,
        (named, *OF_SET),
        rows=lambda view: () if view.settings["plan"] else ROWS,
        uses="seed",
        group=TEACH,
        start={"seed": "7", "count": "5", "level": "1"},
    )
    return page


# Lesson plans: for each page its goal, its time, what to ask first, two questions for the class, and the usual wrong answer.
#
# What to ask, the answers and the wrong answers are those of the questions, with their numbers. The page declares the goal and the minutes.


FIRST, EACH = 3, 4  # minutes for the prediction, and for a question of the class


def asked_in(plan: Plan) -> list[Question]:
    """The questions of a plan that the installed torch can answer."""
    return [next(QUESTIONS[key] for key in keys.split("|") if key in QUESTIONS) for keys in plan.keys]


def plan_links(pages: Iterable[Page]) -> Links:
    """The plans of these pages."""
    return Links(tuple(plan_of(page.name, page.title) for page in pages))


def plan_parts(page: Page, plan: Plan) -> Iterator[Part]:
    """The plan of a page, with the answers: for the teacher, and to print."""
    first, *others = asked_in(plan)
    yield Heading(_("Lesson plan: {page}", page=page.title))
    yield Text(_("{title}: {caption}", title=f"**{_('Goal')}**", caption=_(plan.goal)))
    minutes = minutes_text(plan.minutes + FIRST + EACH * len(others))
    split = _(
        "{minutes}: {first} for the prediction, {page} for the page, {each} for each question. Nobody has measured these times in a class.",
        minutes=minutes, first=FIRST, page=plan.minutes, each=EACH,
    )  # fmt: skip
    yield Text(_("{title}: {caption}", title=f"**{_('Time')}**", caption=split))
    yield Heading(_("Ask this first"))
    yield from _asked(first, _("Each student writes down an answer before the page is shown."))
    yield Heading(_("The usual wrong answer"))
    tempting = reasons(first)
    wrong = (
        "- " + _("{title}: {caption}", title=f"**{text}**", caption=tempting[key])
        for key, text in prose(first.key).options.items()
        if key in tempting
    )
    yield Text("\n".join([f"> {prose(first.key).claim}\n", *wrong]))
    settles = Link(_("Open in {page}", page=first.page.title), first.page.name, first.query)
    yield Links((Link(page.title, page.name), settles), N_("Then show:"), kind="choices")
    yield Heading(_("Two questions for the class"))
    for question in others:
        yield from _asked(question)
        yield Links((link_to(question),), kind="choices")


def _asked(question: Question, advice: str = "") -> Iterator[Part]:
    """What to ask, its options, and the answer."""
    text = prose(question.key)
    lettered = dict(zip(text.options, ascii_uppercase, strict=False))
    options = [f"- {lettered[key]}. {option}" for key, option in text.options.items()]
    yield Text("\n\n".join(filter(None, [advice, text.predict, "\n".join(options)])))
    right = [f"**{lettered[str(facts_of(question)['right'])]}.**"] if text.options else []
    yield Text(join_sentences([_("Answer:"), *right, answer(question)]))
