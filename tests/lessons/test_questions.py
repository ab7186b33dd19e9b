"""All questions: prose that reads, answers whose every number is computed, views that open, and nothing that was asked left out."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from math import isfinite
from time import process_time
from urllib.parse import parse_qsl

import pytest

from normviz.lessons.pages import PAGES
from normviz.lessons.questions.bank import seed_questions
from normviz.lessons.questions.page import prediction
from normviz.lessons.questions.question import Question, answer, computed, prose
from normviz.lessons.questions.registry import GROUPS, QUESTIONS, found
from normviz.scene.fit_layers import chosen
from normviz.scene.query import READERS, read

EVERY = list(QUESTIONS.values())
every_question = pytest.mark.parametrize("question", EVERY, ids=list(QUESTIONS))

MOST_SECONDS = 10
MOST_WORDS = 90
LONGEST_TITLE = 90
COPIED_WORDS = 8  # more than a few quoted words, one after another, would be a copied sentence

# What people get wrong: the four documents, and the numbered list.
ROWS = [*(f"s{i}" for i in range(4)), *(f"q{i}" for i in range(1, 28))]

# What is no number of an answer: code, placeholders, torch's words, calls, arguments, names, and m - 1.
NO_NUMBERS = [
    r"`[^`]*`",
    r"\{\w+\}",
    r'"[^"]*"',
    r"\b\w*Norm\w*\([^)]*\)",
    r"\b\w+=[-\d.e]+",
    r"\b[A-Za-z_]+\d+[A-Za-z]*\b",
    r"\b[mn] [-−] 1\b",
]
NUMBER_OF_THE_MESSAGE = {"q2": "256"}  # the learner quotes torch's message, whose number it is


def without_code(text: str) -> str:
    for pattern in NO_NUMBERS:
        text = re.sub(pattern, " ", text)
    return text


def sentences(text: str) -> list[str]:
    plain = re.sub(r"`[^`]*`", "Code", text).replace("\n", " ").strip()
    return re.split(r"(?<=[.!?])[\"”)]*\s+(?=[A-Z0-9{\"])", plain)


def placeholders(text: str) -> list[str]:
    return re.findall(r"\{(\w+)\}", text)


# Is everything there?


def test_no_row_of_the_confusions_is_without_its_question():
    missing = set(ROWS) - set(QUESTIONS)
    assert not missing, f"questions still to be written: {sorted(missing)}"


def test_every_group_says_what_it_has_and_keys_are_unique():
    keys = Counter(one.key for group in GROUPS for one in import_module(f"normviz.lessons.{group}").QUESTIONS)
    assert set(keys.values()) == {1}
    assert set(keys) == set(QUESTIONS)


def test_all_facts_compute_in_seconds():
    start = process_time()
    for one in EVERY:
        one.facts()
    assert process_time() - start < MOST_SECONDS


# Prose.


@every_question
def test_the_prose_is_in_order(question: Question):
    words = prose(question.key)
    assert words.title[0].isupper() or words.title[0] in '`"' or words.title.startswith("torch")
    assert len(words.title) <= LONGEST_TITLE
    assert "\n" not in words.title
    assert words.claim
    assert words.predict
    assert not words.options or 2 <= len(words.options) <= 5
    assert len(set(words.options.values())) == len(words.options)
    assert question.topic


@every_question
def test_an_answer_is_short(question: Question):
    assert 2 <= len(sentences(prose(question.key).answer)) <= 5
    assert len(answer(question).split()) <= MOST_WORDS


@every_question
def test_no_number_is_typed_in(question: Question):
    words = prose(question.key)
    for text in (words.title, words.claim, words.answer):
        plain = without_code(text)
        if text != words.answer:
            plain = plain.replace(NUMBER_OF_THE_MESSAGE.get(question.key, "none"), " ")
        assert not re.findall(r"\S*\d\S*", plain)


def test_a_typed_number_is_found():
    assert re.search(r"\d", without_code("There are 48 gammas."))
    assert re.search(r"\d", without_code("{gammas} gammas, 4 means and `LayerNorm(3)`."))
    legal = '{gammas} of BatchNorm2d, `x[0, 1]`, GroupNorm(2, 6) with momentum=0.1 in float32: "got 1", m - 1.'
    assert not re.search(r"\d", without_code(legal))


def test_sentences_are_counted():
    assert len(sentences("{n} means. `x[0]` has one, {m}. And x stays.")) == 3


def runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + COPIED_WORDS]) for i in range(len(words) - COPIED_WORDS + 1)}


def test_no_two_questions_say_the_same():
    titles = Counter(prose(one.key).title for one in EVERY)
    assert max(titles.values()) == 1
    seen = Counter(run for one in EVERY for run in runs(prose(one.key).claim))
    assert [run for run, times in seen.items() if times > 1] == []


# Facts.


@every_question
def test_every_placeholder_has_its_fact_and_every_fact_its_placeholder(question: Question):
    assert set(placeholders(prose(question.key).answer)) == set(computed(question)) - {"right", "holds"}


@every_question
def test_what_the_answer_says_holds(question: Question):
    holds = computed(question)["holds"]
    assert holds
    assert {statement: value for statement, value in holds.items() if value is not True} == {}


@every_question
def test_facts_are_plain_values(question: Question):
    facts = {name: value for name, value in computed(question).items() if name != "holds"}
    assert {name: type(value) for name, value in facts.items() if type(value) not in (int, float, str, tuple)} == {}


@every_question
def test_one_guess_is_right_and_all_others_are_wrong(question: Question):
    right, options = computed(question)["right"], prose(question.key).options
    if options:
        assert [key for key in options if prediction(question).is_right(key)] == [right]
        return
    assert isinstance(right, int | float)
    assert isfinite(right)
    assert prediction(question).is_right(str(right))
    assert not any(
        prediction(question).is_right(str(wrong)) for wrong in (right + 1, right - 1, right * 2 + 1, -right - 1)
    )


@every_question
def test_facts_are_the_same_each_time(question: Question):
    assert repr(question.facts()) == repr(dict(computed(question)))


@pytest.mark.parametrize("question", seed_questions.QUESTIONS, ids=lambda question: question.key)
def test_every_option_was_asked_of_torch(question: Question, monkeypatch):
    """In the questions of the documents each option is a statement that is computed, the wrong ones too."""
    module, asked = import_module(question.facts.__module__), []
    monkeypatch.setattr(
        module, "only", lambda **options: asked.append(options) or next(k for k, v in options.items() if v)
    )
    question.facts()
    options = prose(question.key).options
    assert [set(one) for one in asked] == ([set(options)] if options else [])
    assert all(list(one.values()).count(True) == 1 and set(map(type, one.values())) == {bool} for one in asked)


# Views.


@every_question
def test_the_view_opens_without_a_problem(question: Question):
    assert question.page in PAGES
    pairs = [pair.split("=", 1) for pair in question.query.split("&")]
    assert [list(pair) for pair in parse_qsl(question.query)] == pairs  # as a link carries it
    assert len(dict(pairs)) == len(pairs)
    known = set(READERS) | {field.name for field in PAGES[question.page].fields}
    assert set(dict(pairs)) <= known
    assert read(dict(pairs)).problem is None
    assert PAGES[question.page].view(question.query).problem is None


@every_question
def test_the_layers_of_a_comparison_are_taken_as_they_are(question: Question):
    layers = PAGES[question.page].view(question.query).settings.get("layers", ())
    if layers:
        kept, problem = chosen(layers, PAGES[question.page].view(question.query).scene)
        assert problem is None
        assert len(kept) == len(layers)


# Sources and the search.


@every_question
def test_every_source_has_a_name(question: Question):
    assert question.asked
    for source in question.asked:
        assert source.name.strip()
        assert not source.address or re.fullmatch(r"https://\S+", source.address)
        numbered = re.fullmatch(r"(\S+) (?:PR )?#(\d+)", source.name)
        if numbered:
            assert re.fullmatch(rf"https://github\.com/\S+/(issues|pull)/{numbered[2]}", source.address)


@every_question
def test_the_search_finds_a_question_by_its_title(question: Question):
    title = re.sub(r"[`]", "", prose(question.key).title)
    longest = max(re.findall(r"[A-Za-z_]+", title), key=len)
    assert question in found(longest)
    assert question in found(f"  {longest.upper()} {question.topic.split()[-1]} ")


def test_a_search_for_nothing_finds_all_and_nonsense_nothing():
    assert found("") == EVERY
    assert found("  ") == EVERY
    assert found("xyzzy") == []


# The four documents, statement by statement: what each says, in our words, and the question that confirms or corrects it.

FORUM = {
    "LayerNorm normalizes over the elements of one example": "s0a",
    "all elements of an example share one mean and one variance": "s0a",
    "all elements of an example share one gamma and one beta (wrong)": "s0",
    "the note in torch's reference on per-element scale and bias is a mistake (wrong)": "s0",
    "batch norm has a scalar scale and bias for each whole channel": "s0e",
    "instance norm has a scalar scale and bias for each plane, if affine (for each channel)": "s0f",
    "there is a gain and a bias for each neuron": "s1",
    "the channels' elements all enter an example's mean": "s0a",
    "there are N*C*H*W scales and biases (wrong)": "s0b",
    "there are C*H*W scales and biases, as N is the batch": "s0b",
    "it is unclear whether channels are to be normalized over": "s0h",
    "without C there are N*C means and variances": "s0c",
    "without C there are C*H*W scales and biases (wrong)": "s0c",
    "without C there are H*W scales and biases": "s0c",
    "as many parameters as elements normalized over (LayerNorm and RMSNorm alone)": "s0g",
    "the same place in different channels shares a scale and a bias": "s0d",
    "different channels of batch norm have different scales and biases": "s0e",
    "both over C and not over C are possible, the layer is flexible": "s0h",
    "there is a scale and a bias for each normalized element": "s0",
}
COURSE = {
    "layer norm normalizes each data point": "s1a",
    "it does so in training and at test time": "s1c",
    "gamma and beta are identical to those of batch norm (in shape)": "s1b",
    "training and test time are identical, unlike batch norm's": "s1c",
    "no running averages are kept": "s1d",
    "x is (N, D), gamma and beta are (D,)": "s1",
    "gamma should have length N, as rows are normalized (wrong)": "s1",
    "eps is for numeric stability": "s1h",
    "out is (N, D), and the cache is what backward needs": "s1g",
    "a row is normalized by its own mean and variance": "s1a",
    "N is the batch size, and the vector of D features is normalized": "s1a",
    "batch norm makes all columns distribute alike (before gamma)": "s1f",
    "one parameter for each column fits that": "s1f",
    "layer norm makes all rows distribute alike (before gamma)": "s1e",
    "different rows meet different parameters (wrong: different columns do)": "s1e",
}
ANNOTATED = {
    "batch norm needs running means": "s2a",
    "recurrent nets may need statistics for each step": "s2b",
    "batch norm fails with small batches": "s2c",
    "batch norm needs statistics across devices": "s2d",
    "layer norm is simpler and works in more settings": "s2r",
    "layer norm gives zero mean and unit variance across the features": "s2g",
    "batch norm gives each element zero mean and unit variance (each channel)": "s2e",
    "layer norm does so for each batch (wrong: for each example)": "s2f",
    "layer norm is for language, and in most transformers": "s3a",
    "a batch of embeddings [B, C]: mean over C, gamma (C,)": "s1a",
    "a batch of sequences [L, B, C]: mean over C, gamma (C,)": "s2h",
    "batch, channels, length, in that order": "s2i",
    "a batch of images [B, C, H, W]: mean over C, H, W, gamma (C, H, W)": "s2j",
    "this is seldom used": "s2j",
    "normalized_shape is the shape but for the batch (but for all leading axes)": "s2",
    "eps is added to the variance for stability": "s1h",
    "elementwise_affine says whether to scale and shift": "s2l",
    "the arguments have torch's names": "s2q",
    "eps is 1e-5 where nothing is said": "s2g",
    "an int or a list is converted, all else must be a torch.Size": "s2q",
    "gain starts as ones and bias as zeros, of normalized_shape": "s2l",
    "x is [*, S[0], ..., S[n]] (one too many)": "s2k",
    "any number of axes may come first": "s2",
    "in language x is [seq_len, batch_size, features]": "s2h",
    "comparing x's last sizes makes sure that the shapes match": "s2i",
    "the averaged axes are the last, as many as normalized_shape has": "s2p",
    "mean holds the means for each element (for each group)": "s2p",
    "mean_x2 holds the squared mean (the mean of the squares)": "s2o",
    "the variance is E[x^2] - E[x]^2": "s2n",
    "x - mean over the root of var + eps": "s2g",
    "the test feeds zeros": "s2m",
    "the test looks at the shapes of output and gain": "s2m",
}
ARTICLE = {
    "batch norm is for vision, layer norm for language": "s3a",
    "in vision the channels are RGB (of the image alone)": "s3b",
    "in language the channels are the features": "s3b",
    "layer norm normalizes the features of each input": "s3c",
    "that removes the dependence on the batch": "s3i",
    "so it suits sequence models": "s3q",
    "the loops of batch norm (another batch norm)": "s3",
    "the loops of layer norm": "s3c",
    "dim=0 on (B, H, W, C) is batch norm (wrong)": "s3d",
    "dim=-1 on (B, L, D) is layer norm": "s3e",
    "gamma and beta have num_features numbers, for either dim": "s3g",
    "the variance epsilon is 1e-12": "s3h",
    "u is [bz, seq_len, 1]": "s3f",
    "x_norm has u's shape (wrong)": "s3f",
    "the variance is the mean of the squared deviations": "s3p",
    "there may be no batch dimension at inference (it stays, with size one)": "s3j",
    "in training a moving average is kept": "s3k",
    "at inference the moving averages are used": "s3k",
    "moving = moving * momentum + batch * (1 - momentum) (not torch's momentum)": "s3n",
    "momentum is close to one (not torch's)": "s3o",
    "a lower momentum forgets sooner (not torch's)": "s3n",
    "moving -= (moving - batch) * (1 - momentum) is the same": "s3l",
    "it is more efficient": "s3m",
    "the moving variance averages batch_var (torch: the unbiased one)": "s3p",
}
STATEMENTS = [
    (number, statement, key)
    for number, document in enumerate((FORUM, COURSE, ANNOTATED, ARTICLE))
    for statement, key in document.items()
]


@pytest.mark.parametrize(("document", "statement", "key"), STATEMENTS)
def test_each_statement_of_the_documents_has_its_question(document: int, statement: str, key: str):
    assert key in QUESTIONS, statement


def test_each_question_of_the_documents_settles_a_statement():
    assert {one.key for one in seed_questions.QUESTIONS} == {key for _, _, key in STATEMENTS} | {"s2"}


def test_a_question_names_its_document():
    for i in range(4):
        names = {source.name for one in seed_questions.QUESTIONS if one.key[1] == str(i) for source in one.asked}
        assert len(names) == 1
