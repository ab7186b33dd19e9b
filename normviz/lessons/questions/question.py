"""A question as data: the facts of its answer, the view that shows it, and its sources. Its prose is a Markdown file.

The prose of question ``s0`` is ``normviz/locale/<language>/questions/s0.md``. Numbers in an answer, and in the
reason below a wrong option, are placeholders filled from the facts: no number that torch can compute is typed by hand.

The options come in a random order, which ``lessons/random.py`` draws with the seed ``options of <key>``: it is the same in
every language, in the app, in files, on the site and in JSON, and the order in the prose does not matter.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from normviz.analysis.rounding import DTYPES
from normviz.layers.layer import is_in_torch
from normviz.lessons.page import Page
from normviz.lessons.questions.facts import Facts
from normviz.lessons.questions.sources import Source
from normviz.lessons.random import Random
from normviz.texts import messages
from normviz.texts.errors import NormvizError, listed
from normviz.texts.languages import read_text
from normviz.texts.messages import N_, _
from normviz.texts.searching import simplified

TINY = 1e-3  # smaller facts are mostly rounding
CODE_SPAN = re.compile(r"`[^`]*`")
DTYPE = re.compile(r"\bb?float\d+")
ERROR, PLACEHOLDER = "{words}", re.compile(r"\{\w+\}")  # torch's message in an answer, and any fact
YES_OR_NO = re.compile(r"(Yes|No)\b")  # with which the English answer to a yes-or-no question begins
OPTION = re.compile(r"^- \[(\w+)\] (.+)((?:\n  .+)*)$", re.MULTILINE)  # an option, and its reason in indented lines
PROSE = re.compile(r"# (.+?)\n+> (.+?)\n+## Predict\n+(.+?)\n+## Answer\n+(.+?)\n*", re.DOTALL)


@dataclass(frozen=True)
class Topic:
    """A topic of questions: its identifier, and its English title, which is a message."""

    key: str
    english: str

    @property
    def title(self) -> str:
        """The heading above the topic's questions."""
        return _(self.english)


@dataclass(frozen=True)
class Question:
    """One question.

    key      its identifier in links: ``?q=s0``
    topic    the topic under which it is listed
    facts    computes the placeholders of the answer, and ``"right"``: the key of the right option, or the right number
    page     the page that shows the answer
    query    the query of that page, without the "?"
    sources  where it was asked, and references
    x        the query of the tensor that the prompt is about, if the page shows another tensor: "shape=4,1&layout=ND"
    needs    what its facts use, an older torch does not have, and the query does not name: "RMSNorm(4)", "float16"
    """

    key: str
    topic: Topic
    facts: Callable[[], Facts]
    page: Page
    query: str
    sources: tuple[Source, ...]
    x: str = ""
    needs: str = ""

    @property
    def is_in_torch(self) -> bool:
        """Whether the installed torch has its layers and dtypes."""
        needed = f"{self.query} {self.needs}"
        return is_in_torch(needed) and {*DTYPE.findall(needed)} <= {*DTYPES}


@dataclass(frozen=True)
class Prose:
    """The text of a question.

    title    the question, in a learner's words
    claim    a common claim
    predict  what to predict
    options  the key and the text of each option, in the order in which they are shown; empty if the answer is a number
    reasons  by the key of each wrong option: why it tempts, a sentence with placeholders
    answer   two to five sentences with placeholders
    """

    title: str
    claim: str
    predict: str
    options: Mapping[str, str]
    reasons: Mapping[str, str]
    answer: str


def prose(key: str) -> Prose:
    """The text of the question in the reader's language, or in English if there is no translation."""
    return _read_prose(key, messages.language.get())


@cache
def _read_prose(key: str, name: str) -> Prose:
    parts = PROSE.fullmatch(read_text(f"questions/{key}.md"))
    if not parts:
        raise NormvizError(
            f"{name}/questions/{key}.md must have a title (#), a claim (>), '## Predict' and '## Answer'."
        )
    title, claim, predict, answer = (part.strip() for part in parts.groups())
    prompt, found = OPTION.sub("", predict), Random(f"options of {key}").shuffled(sorted(OPTION.findall(predict)))
    options = {option: text for option, text, _reason in found}
    reasons = {option: _one_line(reason) for option, _text, reason in found if reason}
    return Prose(title, _one_line(claim), _one_line(prompt), options, reasons, _one_line(answer))


def _one_line(text: str) -> str:
    """The paragraph on one line: a wrapped line that starts with a number and a point would become a list."""
    return " ".join(line.removeprefix(">").strip() for line in text.strip().splitlines())


def answer(question: Question) -> str:
    """The answer with its numbers. It begins with what was asked. Raises NormvizError if a placeholder has no fact."""
    text = _filled(question, "answer", prose(question.key).answer)
    title = _closed(question)
    return f"**{_right(question)}**\n\n{messages.join_sentences([title, text])}" if title else text


def _closed(question: Question) -> str:
    """The yes-or-no question of the title, if the answer begins with Yes or No and the prediction asks something else; else ""."""
    with messages.in_language(messages.OWN_LANGUAGE):
        text = prose(question.key)
    if not YES_OR_NO.match(text.answer) or re.match(
        r"(yes|no)(?![\w ])", text.options.get(str(facts_of(question)["right"]), "")
    ):
        return ""
    return "".join(re.findall(r"[^?？]*[?？]", prose(question.key).title))


def _right(question: Question) -> str:
    right = facts_of(question)["right"]
    option = prose(question.key).options.get(str(right))
    return format_fact(right) if option is None else option[:1].upper() + option[1:]


def reasons(question: Question) -> dict[str, str]:
    """Why each wrong option tempts, by its key, with numbers. Raises NormvizError if a placeholder has no fact."""
    found = prose(question.key).reasons
    return {option: _filled(question, f"reason of {option}", reason) for option, reason in found.items()}


def _filled(question: Question, name: str, text: str) -> str:
    facts = facts_of(question)
    try:
        texts = {fact: format_fact(value) for fact, value in facts.items()}
        if "words" in texts:  # torch's own
            texts["words"] = messages.english(texts["words"])
        filled = text.format_map(texts)
    except KeyError as error:
        raise NormvizError(
            f"{question.key}: the {name} has the placeholder {error}, but the facts are {listed(facts, 'and')}."
        ) from None
    return CODE_SPAN.sub(lambda code: code[0].replace("−", "-"), filled)


def format_fact(value: object) -> str:
    """A fact as the answer prints it: floats with three digits, tiny floats with two, booleans as yes or no.

    >>> format_fact(-131072), format_fact(1.234567), format_fact(1.7166e-05), format_fact(True)
    ('−131,072', '1.23', '1.7e−5', 'yes')
    """
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, int):
        return messages.format_count(value)
    return messages.format_number(value, 2 if abs(value) < TINY else 3) if isinstance(value, float) else str(value)


_FACTS: dict[tuple[str, str], Facts] = {}  # the keys include the language: a fact may be a message


def facts_of(question: Question) -> Facts:
    """The question's facts, computed once for each language."""
    place = question.key, messages.language.get()
    if place not in _FACTS:
        _FACTS[place] = dict(question.facts())
    return _FACTS[place]


def search_text(question: Question) -> str:
    """The words that a search looks through, in lower case and without accents: of the title, the prompt, the options and the answer, with torch's errors."""
    text = prose(question.key)
    quoted = str(facts_of(question)["words"]) if ERROR in text.answer else ""  # the other facts take long to compute
    parts = (text.title, text.claim, text.predict, *text.options.values(), PLACEHOLDER.sub("", text.answer), quoted)
    words = simplified(re.sub(r"[`*]", "", f"{question.key} {question.topic.title} {' '.join(parts)}")).split()
    return " ".join(dict.fromkeys(words))


# In the order of the list of questions.
TOPICS = (
    Topic("statistics", N_("Shared means and variances")),
    Topic("parameters", N_("Gamma and beta")),
    Topic("dependence", N_("What an output depends on")),
    Topic("shapes", N_("Axes and shapes")),
    Topic("train_and_eval", N_("Train and eval")),
    Topic("running_statistics", N_("Running statistics")),
    Topic("small_batches", N_("Small batches and several devices")),
    Topic("numbers", N_("Numbers and rounding")),
    Topic("code", N_("Layers written by hand")),
    Topic("frameworks", N_("Other frameworks")),
    Topic("bugs", N_("Bugs in real models")),
)
