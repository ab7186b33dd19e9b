"""Lesson plans: for each page its goal, its time, what to ask first, two questions for the class, and the usual wrong answer.

What to ask, the answers and the wrong answers are those of the questions, with their numbers. A plan adds the goal and the minutes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_uppercase

from normviz.lessons.page import plan_of
from normviz.lessons.questions.page import QUESTIONS, link_to
from normviz.lessons.questions.question import Question, answer, facts_of, prose, reasons
from normviz.parts.part import Heading, Link, Links, Part, Text
from normviz.parts.titles import TITLES
from normviz.texts.messages import N_, _, join_sentences, ngettext

FIRST, EACH = 3, 4  # minutes for the prediction, and for a question of the class


@dataclass(frozen=True)
class Plan:
    """The plan of a page.

    goal     what students can do afterwards, as a message
    minutes  for the page
    keys     of the question to ask first, which has options, and of two for the class; after "|", of one for a torch that cannot answer the first
    """

    goal: str
    minutes: int
    keys: tuple[str, str, str]

    @property
    def asked(self) -> list[Question]:
        return [next(QUESTIONS[key] for key in keys.split("|") if key in QUESTIONS) for keys in self.keys]


PLANS = {
    "start": Plan(N_("Students compute a mean and a variance by hand, and name the numbers of a table, a sequence or an image that share them."), 10, ("s1a", "s2e", "s3i")),
    "story": Plan(N_("Students say which problem each of the five layers solves, and what it leaves open."), 20, ("s3a", "s0a", "q23|s2r")),
    "explore": Plan(N_("Students find the elements that share a mean, and those that share a gamma, and see that these are two questions."), 10, ("s0", "q8", "s0e")),
    "compare": Plan(N_("Students tell layers apart that look alike: the same means with other gammas, or the same sizes on other axes."), 10, ("q6", "s0g|s1b", "q1")),
    "step_by_step": Plan(N_("Students compute an output by hand, from the mean to beta, and find the group from which each number comes."), 15, ("q13", "s1e", "s3c")),
    "gradients": Plan(N_("Students say which outputs change with one input, and over which elements a gradient is summed."), 10, ("q26|s3i", "q51", "s1g")),
    "all_layers": Plan(N_("Students place each layer by two choices: the axes of its means, and the axes of its gammas."), 10, ("s0h", "s2f", "q5")),
    "train_and_eval": Plan(N_("Students say which mean and variance BatchNorm uses in each mode, and why results change with eval()."), 15, ("s3k", "q16", "q14")),
    "numerics": Plan(N_("Students name the cases in which rounding or eps, and not the formula, decides the output."), 10, ("q24", "q22|s2g", "q15|q37")),
    "models": Plan(N_("Students take a model that they know, and find where it normalizes and over which axes."), 10, ("s3i", "q4", "q28|q3")),
    "questions": Plan(N_("Students predict before they look, and give a reason for their prediction."), 10, ("s1", "s0c", "q13")),
    "practice": Plan(N_("Students find the confusion behind each of their wrong answers, and explain it to a neighbor."), 15, ("s0d", "s3f", "s1b")),
}  # fmt: skip


def plan_links() -> Links:
    """The plans of all pages."""
    return Links(tuple(plan_of(name, _(TITLES[name][0])) for name in PLANS))


def plan_parts(page: str) -> Iterator[Part]:
    """The plan of a page, with the answers: for the teacher, and to print."""
    plan = PLANS[page]
    first, *others = plan.asked
    title = _(TITLES[page][0])
    yield Heading(_("Lesson plan: {page}", page=title))
    yield Text(_("{title}: {caption}", title=f"**{_('Goal')}**", caption=_(plan.goal)))
    minutes = ngettext("{n} minute", "{n} minutes", plan.minutes + FIRST + EACH * len(others))
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
    yield Links((Link(title, page), settles), N_("Then show:"), kind="choices")
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
