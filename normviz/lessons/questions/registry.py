"""All questions, topic by topic, in the order in which they are listed."""

from normviz.lessons.page import Page
from normviz.lessons.questions.question import TOPICS, Question, Topic
from normviz.lessons.questions.topics import frameworks, numbers, parameters, running_statistics, statistics, training
from normviz.texts.errors import NormvizError, echo

BANK = (statistics, parameters, running_statistics, numbers, frameworks, training)
_all = (value for module in BANK for value in vars(module).values() if isinstance(value, Question))
_declared = [question for question in _all if question.is_in_torch]
QUESTIONS = {question.key: question for question in sorted(_declared, key=lambda one: TOPICS.index(one.topic))}

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


# The core path, in an order in which each question needs only what came before: rows and columns, gamma and beta, images, sequences,
# GroupNorm and InstanceNorm, train and eval, numbers.
_core = "s1a", "s1", "s2e", "s0", "s0b", "q4", "q8", "q6", "s0f", "s0g", "q16", "s3k", "s2c", "q13"
CORE = tuple(key for key in _core if key in QUESTIONS)
READING_ORDER = (*CORE, *(key for key in QUESTIONS if key not in CORE))


def core_place(key: str) -> int | None:
    """The place of a question in the core path, from 1 on; None if it is not in the path.

    >>> core_place("s1a"), core_place("q22")
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
