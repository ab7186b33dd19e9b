"""Every text on a page passes through the messages, so that a translation needs no change of code."""

import json
import re

import pytest

from normviz.figures.wire import sent
from normviz.lessons.compare.page import READY_SETS
from normviz.lessons.pages import PAGES, page_data
from normviz.lessons.pages import page_view as page_of
from normviz.lessons.practice.bank import choose
from normviz.parts.html import Body
from normviz.parts.part import Caption, Chart, Details, Note, Panels, Sentence, Table, Text, flat
from normviz.texts import languages, messages
from normviz.texts.messages import in_language
from tests.support.languages import Bracketed
from tests.support.languages import brackets as brackets

QUERIES = {
    "explore": ["", "layer=BatchNorm2d(3).eval()", "layer=InstanceNorm2d(3)", "shape=4096,4096&layer=LayerNorm(4096)"],
    "compare": ["", *(" &".join(f"{name}={value}" for name, value in ready.query.items()).replace(" ", "") for ready in READY_SETS.values())],
    "step_by_step": ["", "shape=4096,4096&layer=LayerNorm(4096)"],
    "train_and_eval": [*(f"show={show}" for show in ("stream", "modes", "batches", "sequences", "devices")), "momentum=none", "show=modes&layer=BatchNorm2d(3)"],
    "gradients": [f"show={show}" for show in ("column", "matrix", "parameters", "backward")],
    "numerics": [f"show={show}" for show in ("variance", "eps", "constant", "single", "placement")],
}  # fmt: skip
CASES = [(page, query) for page, queries in QUERIES.items() for query in queries]
SYMBOLS = {
    "δᵢⱼ",
    "− 1 / m",
    "− x̂ᵢ x̂ⱼ / m",
    "d output i / d x j",
    "train()",
    "eval()",
    "train() − eval()",
    "dout",
    "x",
    "",
}
NAMES = {"dgamma", "dbeta"}
LAYER = re.compile(r"[A-Z]\w*Norm\w*(\(.*\))?(\.eval\(\))?")
CODE_LABELS = {"", "eps", "dx", "dgamma", "dbeta", "< 0", "torch", "Keras", "Flax"}


@pytest.fixture
def marked(monkeypatch):
    monkeypatch.setattr(messages, "_read_catalogue", lambda folder, name: Bracketed())
    read = languages.read_text
    monkeypatch.setattr(languages, "read_text", lambda path: f"⟦{read(path).strip()}⟧")  # a text of several sentences


def texts(part):
    """The texts that a part displays, without those of the parts in it."""
    match part:
        case Sentence(text) | Text(text) | Caption(text) | Note(text):
            return [text]
        case Details(title):
            return [title]
        case Chart():
            names = [trace["name"] for trace in part.lines.data]
            return [part.alt, *(text for text in [*names, *axis_titles(part.lines.layout)] if not is_code(text))]
        case Table():
            return [head for head in part.heads if head not in CODE_LABELS and not is_code(head)]
        case Panels():
            data = part.data
            captions = [panel.caption for panel in data.panels] if data.kind == "values" else []
            return [text for text in captions if text not in SYMBOLS]
    return []


def words_outside_messages(text):
    while "⟦" in text:
        text = re.sub("⟦[^⟦⟧]*⟧", "", text)
    return re.findall("[A-Za-z]{2,}", text)


def is_code(label):
    return (
        not label or label.startswith(("torch ", "eps=", "running_", "sigma /")) or LAYER.fullmatch(label) is not None
    )


def axis_titles(layout):
    titles = [value.get("title", "") for name, value in layout.items() if "axis" in name]
    return [title["text"] if isinstance(title, dict) else title for title in titles]


def written(name, query, lang):
    """A page as the browser gets it, in a language."""
    with in_language(lang):
        return json.dumps(
            sent(page_data(PAGES[name], Body(), page_of(PAGES[name], PAGES[name].view(query)).parts)),
            ensure_ascii=False,
        )


@pytest.mark.parametrize(
    ("page", "query"), [*CASES, ("start", ""), ("questions", "q=s0"), ("practice", "seed=3&count=30")]
)
def test_pages_of_one_process_do_not_mix_languages(brackets, page, query):
    first, english, again = (written(page, query, lang) for lang in (brackets, "en", brackets))
    assert "⟦" in first
    assert "⟦" not in english
    assert again == first


# After a full-width sign, or between two Chinese characters.
SPACE_IN_CHINESE = re.compile(r".{,20}(?:(?<=[、。，！？；：）」]) +|(?<=[一-鿿]) (?=[一-鿿])).{,20}")


@pytest.mark.parametrize(
    ("page", "query"),
    [
        *CASES,
        *(("questions", f"q={key}") for key in ("s0", "q10")),
        ("explore", "layer=LayerNorm(4)&layout=NHWC"),
        ("compare", "shape=2,3&layout=ND&layers=RMSNorm(3);BatchNorm1d(3).eval()&at=0,1"),
    ],
)
def test_chinese_sentences_have_no_space_between_them(page, query):
    assert SPACE_IN_CHINESE.findall(written(page, query, "zh")) == []


def test_chinese_prompts_of_exercises_have_no_space_between_sentences():
    exercises = choose(7, 100)
    with in_language("zh"):
        prompts = [exercise.whole_prompt for exercise in exercises]
    assert any(prompt.startswith("x = ") for prompt in prompts)
    assert not [prompt for prompt in prompts if ". " in prompt]
    assert [found for prompt in prompts for found in SPACE_IN_CHINESE.findall(prompt)] == []


@pytest.mark.parametrize(("page", "query"), CASES)
def test_every_text_of_a_page_is_a_message(marked, page, query):
    shown = [text for part in flat(PAGES[page].parts(PAGES[page].view(query))) for text in texts(part)]
    assert shown
    assert {word for text in shown for word in words_outside_messages(text)} <= NAMES


def test_titles_are_messages(marked):
    for titled in (*PAGES.values(), *READY_SETS.values()):
        assert titled.title.startswith("⟦")
