"""Rules for all questions: prose, numbers that are computed, options that are checked, views that open, sources, search."""

from __future__ import annotations

import re
from collections import Counter
from time import process_time
from types import FunctionType
from urllib.parse import parse_qsl

import pytest

from normviz.export.links import output_of_query
from normviz.lessons.compare.page import fit_layers
from normviz.lessons.pages import PAGES
from normviz.lessons.questions import facts as building_blocks
from normviz.lessons.questions.facts import Facts, front_matter
from normviz.lessons.questions.page import (
    COMPUTING,
    CORE,
    MERGED,
    QUESTIONS,
    by_topic,
    core_place,
    find_question,
    prediction,
    view_parts,
)
from normviz.lessons.questions.question import TOPICS, Prose, Question, answer, facts_of, format_fact, prose
from normviz.parts.part import Heading
from normviz.scene.scene import SCENE_SETTINGS
from normviz.scene.view import read
from normviz.texts.languages import OWN
from tests.lessons.questions.searching import search
from tests.lessons.questions.test_documents import SETTLED, WITHOUT_STATEMENT
from tests.support.needs import whole

pytestmark = pytest.mark.rule("What a question must have: CONTRIBUTING.md, A new question")
MOST_SECONDS = 10
MOST_WORDS = 90
MOST_WORDS_OF_A_REASON = 20
LONGEST_TITLE = 90
COPIED_WORDS = 8  # consecutive equal words that make a sentence a copy

KEYS = [*(f"s{i}" for i in range(4)), *(f"q{i}" for i in range(1, 47))]  # keys that links in use have

# Digits that are not numbers of an answer: in code, placeholders, torch's words, calls, arguments, names, and m - 1.
NOT_NUMBERS = [
    r"`[^`]*`",
    r"\{\w+\}",
    r'"[^"]*"',
    r"\b\w*Norm\w*\([^)]*\)",
    r"\b\w+=[-\d.e]+",
    r"\b[A-Za-z_]+\d+[A-Za-z]*\b",
    r"\b(?:Keras|Llama|OLMo|Wan) \d(?:\.\d)?\b",
    r"1/√",
    r"\b[mn] [-−] 1\b",
]
QUOTED_NUMBERS = {"q2": {"256"}}  # the learner quotes torch's message


def numbers_in(text: str) -> list[str]:
    for pattern in NOT_NUMBERS:
        text = re.sub(pattern, " ", text)
    return re.findall(r"\S*\d\w*", text)


def explanations(text: Prose) -> str:
    """The texts with placeholders: the answer, and why the wrong options tempt."""
    return " ".join([text.answer, *text.reasons.values()])


def sentences(text: str) -> list[str]:
    plain = re.sub(r"`[^`]*`", "Code", text).replace("\n", " ").strip()
    return re.split(r"(?<=[.!?])[\"”)]*\s+(?=[A-Z0-9{\"])", plain)


@whole
def test_every_question_key_in_use_exists():
    assert set(KEYS) <= set(QUESTIONS)


@whole
def test_an_old_key_opens_the_question_it_was_merged_into():
    assert not set(MERGED) & set(QUESTIONS)
    assert [find_question(key).key for key in MERGED] == list(MERGED.values())
    assert "s3p" in MERGED


@pytest.mark.parametrize("key", MERGED)
@whole
def test_an_old_link_shows_the_question_in_the_app_and_in_files(key):
    view, title = PAGES["questions"].view(f"q={key}"), prose(MERGED[key]).title
    assert Heading(title) in view_parts(view)
    assert PAGES["questions"].share_title(view) == title
    assert output_of_query("questions", {"q": key}).query == {"q": MERGED[key]}


@whole
@pytest.mark.rule(
    "A file in normviz/locale/en/questions is listed in KEYS of normviz/lessons/questions/page.py, and a function in topics/ is named by one `computed:`"
)
def test_each_file_is_one_question_listed_by_topic_and_each_function_computes_one():
    assert sorted(QUESTIONS) == sorted(file.stem for file in (OWN / "questions").glob("*.md"))
    computed = Counter(front_matter(key).get("computed", "") for key in QUESTIONS)
    named = {
        f"{module}.{name}"
        for module, topic in COMPUTING.items()
        for name, value in vars(topic).items()
        if isinstance(value, FunctionType) and value.__annotations__.get("return") in ("Facts", Facts)
    }
    assert {name for name in computed if name} == named
    assert max(times for name, times in computed.items() if name) == 1


@whole
def test_questions_are_listed_topic_by_topic():
    assert list(by_topic(list(QUESTIONS.values()))) == list(TOPICS)
    assert [question.topic for question in QUESTIONS.values()] == sorted(
        (question.topic for question in QUESTIONS.values()), key=TOPICS.index
    )


def test_all_facts_are_computed_in_seconds():
    start = process_time()
    for question in QUESTIONS.values():
        facts = question.facts()
        assert repr(dict(facts)) == repr(dict(facts_of(question)))  # the same each time
    assert process_time() - start < MOST_SECONDS


# The core path.


@whole
def test_the_core_path_has_about_twelve_questions_and_each_layer_is_known_before_it_is_compared():
    assert set(CORE) <= set(QUESTIONS)
    assert len(CORE) == len(set(CORE))
    assert 12 <= len(CORE) <= 14
    place = {key: core_place(key) for key in CORE}
    needs = {"s0": "s1", "s0c": "s0", "q4": "s0", "s3c": "q4", "q6": "q8", "s0g": "s0f", "s3k": "q16"}
    assert {"s1", "s0", "s0c", "q4", "s3c", "s2o"} == set(CORE[:6])  # the confusions of the documents
    assert all(place[earlier] < place[later] for later, earlier in needs.items())
    assert place["q6"] < place["s0g"]


# Prose.


def test_titles_are_short_and_start_like_a_sentence():
    titles = {key: prose(key).title for key in QUESTIONS}
    assert [title for title in titles.values() if len(title) > LONGEST_TITLE] == []
    assert [title for title in titles.values() if not re.match(r"[A-Z`\"]|torch ", title)] == []


YES_OR_NO = re.compile(r"(.*[.:,?] )?(Is|Are|Does|Do|Did|Can|May|Must|Should|Has|Have|Will)\b", re.IGNORECASE)


def test_the_answer_to_a_yes_or_no_question_begins_with_it():
    closed = {key: prose(key).answer for key in QUESTIONS if YES_OR_NO.match(prose(key).title)}
    assert len(closed) > 40
    assert [key for key, text in closed.items() if not re.match(r"(Yes|No|Both|It depends)\b", text)] == []


def test_options_differ_and_are_two_to_five():
    options = {key: list(prose(key).options.values()) for key in QUESTIONS}
    assert {key: found for key, found in options.items() if len(found) not in (0, 2, 3, 4, 5)} == {}
    assert {key: found for key, found in options.items() if len(set(found)) < len(found)} == {}


def test_answers_have_two_to_five_sentences_and_few_words():
    assert {key: n for key in QUESTIONS if not 2 <= (n := len(sentences(prose(key).answer))) <= 5} == {}
    assert {key: n for key in QUESTIONS if (n := len(prose(key).answer.split())) > MOST_WORDS} == {}


def test_the_answer_begins_with_what_was_asked():
    """An answer that begins with yes or no answers its title, so what was asked stands before, and the title again."""
    for key, question in QUESTIONS.items():
        right = facts_of(question)["right"]
        expected = prose(key).options.get(str(right), format_fact(right))
        if not re.match(r"(Yes|No)\b", prose(key).answer) or re.match("(yes|no)[,:]", expected):
            continue
        title, _mark, _rest = prose(key).title.rpartition("?")
        assert answer(question).lower().startswith(f"**{expected}**\n\n{title}? {prose(key).answer[:2]}".lower()), key
    assert answer(QUESTIONS["s0c"]).startswith(
        "**20**\n\nNormalized over H and W only: is there still a gamma for every channel? No: "
    )
    assert answer(QUESTIONS["s3c"]).startswith("12 times, once for each token")


def test_no_number_is_typed_by_hand():
    assert {key: found for key in QUESTIONS if (found := numbers_in(explanations(prose(key))))} == {}
    quoted = {key: set(numbers_in(prose(key).title) + numbers_in(prose(key).claim)) for key in QUESTIONS}
    assert {key: found for key, found in quoted.items() if found} == QUOTED_NUMBERS


@pytest.mark.parametrize("text", ["There are 48 gammas.", "{gammas} gammas, 4 means and `LayerNorm(3)`."])
def test_a_number_typed_by_hand_is_found(text):
    assert numbers_in(text)


def test_digits_in_code_and_names_are_not_numbers():
    text = '{gammas} of BatchNorm2d, `x[0, 1]`, GroupNorm(2, 6) with momentum=0.1 in float32: "got 1", m - 1, Keras 3.'
    assert numbers_in(text) == []


def test_sentences_are_counted():
    assert len(sentences("{n} means. `x[0]` has one, {m}. And x stays.")) == 3


def runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + COPIED_WORDS]) for i in range(len(words) - COPIED_WORDS + 1)}


def test_titles_and_claims_are_not_repeated():
    assert max(Counter(prose(key).title for key in QUESTIONS).values()) == 1
    claims = Counter(run for key in QUESTIONS for run in runs(prose(key).claim))
    assert [run for run, times in claims.items() if times > 1] == []


def test_no_claim_contains_the_right_option():
    right = {key: prose(key).options.get(str(facts_of(one)["right"]), "") for key, one in QUESTIONS.items()}
    assert [key for key, text in right.items() if text and text.lower() in prose(key).claim.lower()] == []


# Facts and options.


def test_every_placeholder_has_a_fact_and_every_fact_a_placeholder():
    placeholders = {key: set(re.findall(r"\{(\w+)\}", explanations(prose(key)))) for key in QUESTIONS}
    assert placeholders == {key: set(facts_of(question)) - {"right"} for key, question in QUESTIONS.items()}


def test_facts_are_plain_values():
    facts = {(key, name): value for key in QUESTIONS for name, value in facts_of(QUESTIONS[key]).items()}
    assert {place: value for place, value in facts.items() if type(value) not in (int, float, str, tuple)} == {}


def test_exactly_one_option_is_right():
    choices = {key: prose(key).options for key in QUESTIONS if prose(key).options}
    right = {key: [option for option in choices[key] if prediction(QUESTIONS[key]).is_right(option)] for key in choices}
    assert right == {key: [facts_of(QUESTIONS[key])["right"]] for key in choices}


def test_the_place_of_the_right_option_says_nothing():
    places: dict[int, list[int]] = {}
    for key, question in QUESTIONS.items():
        if options := list(prose(key).options):
            places.setdefault(len(options), []).append(options.index(str(facts_of(question)["right"])))
    for number, found in places.items():
        if len(found) > 5 * number:
            assert min(Counter(found)[place] for place in range(number)) > len(found) / (3 * number)


def test_each_wrong_option_and_no_right_one_has_a_reason():
    wrong = {key: set(prose(key).options) - {facts_of(question)["right"]} for key, question in QUESTIONS.items()}
    assert {key: set(prose(key).reasons) for key in QUESTIONS} == wrong


def test_each_wrong_option_has_a_short_reason():
    missing = {
        key: set(prose(key).options) - {facts_of(one)["right"], *prose(key).reasons} for key, one in QUESTIONS.items()
    }
    assert {key: found for key, found in missing.items() if found} == {}
    reasons = [reason for key in QUESTIONS for reason in prose(key).reasons.values()]
    assert [reason for reason in reasons if len(reason.split()) > MOST_WORDS_OF_A_REASON] == []


def test_a_number_near_the_right_one_is_wrong():
    for question in QUESTIONS.values():
        if not prose(question.key).options:
            right, is_right = facts_of(question)["right"], prediction(question).is_right
            assert isinstance(right, int | float)
            assert is_right(str(right))
            assert not any(is_right(str(wrong)) for wrong in (right + 1, right - 1, right * 2 + 1, -right - 1))


@pytest.mark.parametrize("key", sorted(SETTLED | WITHOUT_STATEMENT))
@whole
def test_every_option_of_a_document_s_question_is_checked_with_torch(key: str, monkeypatch):
    checked = []

    def record(**options: bool) -> str:
        checked.append(options)
        return next(option for option, is_true in options.items() if is_true)

    question = QUESTIONS[key]
    monkeypatch.setattr(building_blocks, "only", record)
    for module in COMPUTING.values():
        monkeypatch.setattr(module, "only", record, raising=False)
    question.facts()
    options = prose(key).options
    assert [set(one) for one in checked] == ([set(options)] if options else [])
    assert all(list(one.values()).count(True) == 1 and set(map(type, one.values())) == {bool} for one in checked)


# Views, sources and the search.


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=list(QUESTIONS))
def test_the_view_opens_without_a_problem(question: Question):
    pairs = dict(pair.split("=", 1) for pair in question.query.split("&"))
    assert parse_qsl(question.query) == list(pairs.items())  # as a link carries it
    page = question.page
    view = page.view(question.query)
    assert set(pairs) <= set(SCENE_SETTINGS) | {field.name for field in page.settings}
    assert read(pairs).problem is None
    assert view.problem is None
    if layers := view.settings.get("layers", ()):
        kept, problem = fit_layers(layers, view.scene)
        assert problem is None
        assert len(kept) == len(layers)


def test_every_source_has_a_name_and_a_matching_address():
    assert [key for key, question in QUESTIONS.items() if not question.sources] == []
    for source in {source for question in QUESTIONS.values() for source in question.sources}:
        assert source.name.strip()
        assert not source.address or re.fullmatch(r"https://\S+", source.address)
        if numbered := re.fullmatch(r"(\S+) (?:PR )?#(\d+)", source.name):
            assert re.fullmatch(rf"https://github\.com/\S+/(issues|pull)/{numbered[2]}", source.address)


def test_the_search_finds_a_question_by_its_title_and_topic():
    for key, question in QUESTIONS.items():
        longest = max(re.findall(r"[A-Za-z_]+", prose(key).title.replace("`", "")), key=len)
        assert question in search(longest)
        assert question in search(f"  {longest.upper()} {question.topic.title.split()[-1]} ")


@pytest.mark.parametrize(
    "message", ["expected input with shape", "running_mean should contain", "must be divisible by"]
)
def test_the_search_finds_a_question_by_torch_s_error_message(message):
    found = [answer(question) for question in search(message)]
    assert found
    assert any(message in text for text in found)


def test_an_empty_search_finds_all_and_an_unknown_word_nothing():
    assert search("") == search("  ") == list(QUESTIONS.values())
    assert search("zzzz") == []
