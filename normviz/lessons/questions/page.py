"""All questions, and their page as parts: the list, and one question with its answer and the figure that shows it."""

from collections.abc import Collection, Iterator

from normviz.lessons.alternatives import pasted_parts
from normviz.lessons.compare import page as compare
from normviz.lessons.explore import page as explore
from normviz.lessons.gradients import page as gradients
from normviz.lessons.models import page as models
from normviz.lessons.numerics import page as numerics
from normviz.lessons.page import Page, Plan
from normviz.lessons.questions.facts import Declared, Facts, front_matter, scene_of
from normviz.lessons.questions.question import TOPICS, Question, Topic, answer, facts_of, prose, reasons, search_text
from normviz.lessons.questions.sources import read_source
from normviz.lessons.questions.topics import frameworks, numbers, parameters, running_statistics, statistics, training
from normviz.lessons.step_by_step import page as step_by_step
from normviz.lessons.train_and_eval import page as train_and_eval
from normviz.lessons.train_and_eval.page import CAUSES, is_symptom
from normviz.parts import part, titles
from normviz.scene.setting import Where, text, word
from normviz.scene.view import View
from normviz.texts.errors import NormvizError, echo
from normviz.texts.languages import paragraphs
from normviz.texts.messages import N_, _, english

# All questions, topic by topic, in the order in which they are listed.


KEYS = [
    "s1a", "s0a", "s2e", "s2f", "q4", "q3", "q8", "s3a", "s1f", "s1e",
    "s1", "s0", "s0b", "s0e", "s1b", "s0c", "s0d", "s0f", "s0g", "q5", "q6", "q9", "s2l", "q39", "q45", "q41",
    "q50",
    "s3i", "q7", "s0h", "q26", "q21", "q40", "q51", "q47", "q52",
    "s2", "s2h", "q1", "q2", "q20", "s2j", "s3f", "s3b",
    "s1c", "q16", "s3k", "s1d", "q17", "q10", "q38",
    "s2a", "q12", "s3l", "q43", "q42", "q44",
    "s2c", "q14", "q37", "s2r", "s3j", "s2s", "s2b", "q27", "q49",
    "s2g", "q36", "q22", "q13", "s2o", "q24", "q23", "q15", "q46", "q48", "s1g",
    "s3c", "s3", "s3d", "s3e", "s3g", "s2p", "s2m", "s2q",
    "q11", "q18", "q19", "q25",
    "q28", "q29", "q30", "q31", "q32", "q33", "q34", "q35",
]  # fmt: skip
ANSWERING = (compare.PAGE, explore.PAGE, gradients.PAGE, numerics.PAGE, step_by_step.PAGE, train_and_eval.PAGE)
COMPUTING = {
    module.__name__.rpartition(".")[2]: module
    for module in (statistics, parameters, running_statistics, numbers, frameworks, training)
}


def read_question(key: str) -> Question:
    """The question in the file with this name: what its front matter declares, and the function that computes the rest of its facts."""
    front = front_matter(key)
    name, _mark, query = front["view"].removeprefix("/").partition("?")
    page = next(page for page in ANSWERING if page.name == name)
    topic = next(topic for topic in TOPICS if topic.key == front["topic"])
    module, _dot, function = front.get("computed", "").partition(".")
    computed = getattr(COMPUTING[module], function) if module else dict
    x = front.get("x", "")

    def facts() -> Facts:
        return {**Declared.read(front, x or query).values(), **computed()}

    return Question(
        key, topic, facts, page, query, tuple(map(read_source, front["sources"])), x, front.get("needs", "")
    )


QUESTIONS = {key: question for key in KEYS if (question := read_question(key)).is_in_torch}

MERGED = {
    "s1h": "q22",
    "s2d": "q27",
    "s2i": "q1",
    "s2k": "s2",
    "s2n": "q24",
    "s3h": "q22",
    "s3m": "s3l",
    "s3n": "q11",
    "s3o": "q11",
    "s3p": "q12",
    "s3q": "q4",
}  # old keys, and the questions they were merged into


# The core path follows Start here, in an order in which each question needs only what came before: who shares a gamma of a table and of images,
# sequences, the loops, the variance as E[x^2] - E[x]^2; then BatchNorm, GroupNorm and InstanceNorm, train and eval, numbers.
_core = "s1", "s0", "s0c", "q4", "s3c", "s2o", "s2e", "q8", "q6", "s0f", "s0g", "q16", "s3k", "q13"
CORE = tuple(key for key in _core if key in QUESTIONS)
READING_ORDER = (*CORE, *(key for key in QUESTIONS if key not in CORE))


def core_place(key: str) -> int | None:
    """The place of a question in the core path, from 1 on; None if it is not in the path.

    >>> core_place("s1"), core_place("q22")
    (1, None)
    """
    return CORE.index(key) + 1 if key in CORE else None


def current_key(key: str) -> str:
    """The current key of a question. The key in an old link may belong to a question that was merged into another one.

    >>> current_key("s3p"), current_key("q12")
    ('q12', 'q12')
    """
    return MERGED.get(key, key)


def find_question(key: str) -> Question:
    """The question with this key. Raises NormvizError for an unknown key."""
    if not isinstance(key, str) or (current := current_key(key)) not in QUESTIONS:
        raise NormvizError("q={key} is not a question; leave q out to see all questions.", key=echo(key))
    return QUESTIONS[current]


def questions_of_page(page: Page) -> list[Question]:
    """The questions that a view of this page answers."""
    return [question for key, question in QUESTIONS.items() if question.page is page or key in page.answers]


def by_topic(questions: list[Question]) -> dict[Topic, list[Question]]:
    """The questions of each topic, in the order of the list."""
    topics = dict.fromkeys(question.topic for question in questions)
    return {topic: [question for question in questions if question.topic is topic] for topic in topics}


SUMMARY = "shape=2,4,3,3&layers=BatchNorm2d(4);LayerNorm([4,3,3]);InstanceNorm2d(4);GroupNorm(2,4)&at=0,1,0,2"


def view_parts(view: View) -> Iterator[part.Part]:
    """The question of the link, or the list of questions."""
    asked = current_key(view.settings["q"])
    if asked in QUESTIONS:
        question = QUESTIONS[asked]
        yield part.Links((part.Link(_("All questions"), "questions"),), kind="back")
        place = core_place(asked)
        if place is not None:
            yield part.Caption(
                _("Core path, question {place} of {all}", place=place, all=len(CORE)), of=part.Links.name
            )
        yield from question_parts(question)
        yield part.Links((_next(question),), kind="next")
    elif view.settings["of"]:
        page = ASKING[view.settings["of"]]
        yield part.Links((part.Link(_("All questions"), "questions"),), kind="back")
        yield part.Heading(page.title)
        yield part.Links(tuple(map(link_to, questions_of_page(page))))
    else:
        yield from list_parts(view.settings["search"])


def question_parts(question: Question) -> Iterator[part.Part]:
    """The question, and a prediction whose answer has the figure that shows it."""
    text = prose(question.key)
    yield part.Heading(text.title)
    yield part.Text(f"> {_('Someone writes: “{claim}” Is that true?', claim=text.claim)}")
    to_page = part.Link(_("Open in {page}", page=question.page.title), question.page.name, question.query)
    figure = _without_next_answer(question)
    yield prediction(
        question,
        (part.Text(answer(question)),),
        (*figure, part.Links((to_page,), kind="next"), part.Caption(sources(question))),
    )
    if question.key == CORE[-1]:
        yield part.AfterAnswer(tuple(summary_parts()))


def _without_next_answer(question: Question) -> Iterator[part.Part]:
    """The figure of the answer. A question on the mean does not show who shares a gamma: later questions ask that."""
    hidden = {"params"} if question.topic.key == "statistics" else set[str]()
    for one in question.page.answer_parts(question.query):
        yield from one.without_hidden(lambda _part, name: name in hidden)


def summary_parts() -> Iterator[part.Part]:
    """What the core path was about, with its picture: four layers on one tensor."""
    yield part.Heading(_("The core path in one picture"))
    yield part.Text(paragraphs("core_path"))
    yield from compare.PAGE.answer_parts(SUMMARY)


def prediction(
    question: Question, answer: tuple[part.Part, ...] = (), figure: tuple[part.Part, ...] = ()
) -> part.Prediction:
    """What to predict, and the parts of the answer and of its figure, which it opens."""
    text = prose(question.key)
    right = facts_of(question)["right"]
    return part.Prediction(
        text.predict, text.options, right, answer, question.key, reasons(question), _tensor(question), figure
    )


def _tensor(question: Question) -> part.BareTensor:
    """The tensor that the prompt is about; an element that the prompt names is framed."""
    scene = scene_of(question.x or question.query)
    named = scene.at is not None and f"x[{', '.join(map(str, scene.at))}]" in prose(question.key).predict
    return part.BareTensor(scene.shape, scene.axes, scene.at if named else None, scene.values)


def sources(question: Question) -> str:
    """The sources of the question, with links."""
    return _("Sources: {sources}", sources="; ".join(english(source.markdown) for source in question.sources))


def list_parts(typed: str = "") -> Iterator[part.Part]:
    """The core path and the questions by topic, the questions that a search finds, or the view that a pasted error message is about."""
    yield question_list(list(QUESTIONS), typed, (*symptom_parts(typed), *pasted_parts(typed)))


def symptom_parts(typed: str) -> Iterator[part.Part]:
    """The link to the causes, if a reader says that eval mode gives other results."""
    if is_symptom(typed):
        yield part.Links(
            (
                part.Link(
                    _("Why eval differs: three causes, and what finds yours"), "train_and_eval", f"show={CAUSES.name}"
                ),
            ),
            kind="next",
        )


def question_list(
    keys: Collection[str], typed: str = "", found: tuple[part.Part, ...] = (), has_field: bool = True
) -> part.QuestionList:
    """The list of these questions."""
    listed = {key: question for key, question in QUESTIONS.items() if key in keys}
    entries = {key: part.QuestionEntry(link_to(one), key, search_text(one)) for key, one in listed.items()}
    topics = by_topic(list(listed.values()))
    return part.QuestionList(
        tuple(entries[key] for key in CORE if key in entries),
        tuple((topic.key, topic.title, tuple(entries[one.key] for one in topics[topic])) for topic in topics),
        typed,
        LONGEST_SEARCH,
        found,
        has_field,
    )


def link_to(question: Question) -> part.Link:
    """The link to a question."""
    return part.Link(prose(question.key).title, "questions", f"q={question.key}")


def _next(question: Question) -> part.Link:
    """The link to the next question; after the core path to Practice, and after the last one to the list."""
    if question.key == CORE[-1]:
        return part.Link(_("Next: {title}", title=_(titles.TITLES["practice"][0])), "practice")
    following = READING_ORDER[READING_ORDER.index(question.key) + 1 :]
    if not following:
        return part.Link(_("Next: all questions"), "questions")
    return part.Link(_("Next: {title}", title=prose(following[0]).title), "questions", f"q={following[0]}")


LONGEST_GUESS, LONGEST_SEARCH = 40, 400  # characters; a search may be an error message of torch
SEARCH = text("search", LONGEST_SEARCH).described(N_("Search"), N_("words that the listed questions contain"), "gamma")
ASKING = {page.name: page for page in (*dict.fromkeys(question.page for question in QUESTIONS.values()), models.PAGE)}
OF = word("of", ASKING, "").described("", N_("the page whose questions are listed"), "compare")
SETTINGS = (
    text("q", 20).described("", N_("the question"), "s0"),
    text("guess", LONGEST_GUESS, keyword=False, applies=Where("q")).described(
        N_("Prediction"), N_("the prediction: the name of an option, or a number"), "48"
    ),
    SEARCH,
    OF,
)


class QuestionsPage(Page):
    """The page: a question, or the list of questions."""

    def problem(self, view: View) -> str | None:
        asked, guess = view.settings["q"], view.settings["guess"]
        try:
            if asked and guess:
                prediction(find_question(asked)).is_right(guess)
            elif asked:
                find_question(asked)
        except NormvizError as error:
            return view.problem or str(error)
        return view.problem

    def is_exercise(self, view: View) -> bool:
        return current_key(view.settings["q"]) in QUESTIONS

    def share_title(self, view: View) -> str:
        if self.is_exercise(view):
            return prose(current_key(view.settings["q"])).title
        return _("Questions on normalization layers")

    def data(self, view: View) -> dict[str, str]:
        return {"guess": "" if self.problem(view) else view.settings["guess"], "search": view.settings["search"]}


PAGE = QuestionsPage(
    "questions",
    *titles.TITLES["questions"],
    view_parts,
    SETTINGS,
    rows=lambda _view: (),
    uses="nothing",
    group=titles.LEARN,
    plan=Plan(
        N_("Students predict before they look, and give a reason for their prediction."), 10, ("s1", "s0c", "q13")
    ),
)
