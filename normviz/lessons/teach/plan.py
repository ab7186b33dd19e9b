"""Lesson plans: for each page its goal, its time, what to ask first, two questions for the class, and the usual wrong answer.

What to ask, the answers and the wrong answers are those of the questions, with their numbers. The page declares the goal and the minutes.
"""

from collections.abc import Iterable, Iterator
from string import ascii_uppercase

from normviz.lessons.page import Page, Plan, plan_of
from normviz.lessons.questions.page import QUESTIONS, link_to
from normviz.lessons.questions.question import Question, answer, facts_of, prose, reasons
from normviz.lessons.tours import minutes_text
from normviz.parts.part import Heading, Link, Links, Part, Text
from normviz.texts.messages import N_, _, join_sentences

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
