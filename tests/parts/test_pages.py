"""Every page as parts: each has its sentence and its figure, whatever the query says."""

import json
import re
from urllib.parse import parse_qsl

import pytest

from normviz.analysis import closed_form
from normviz.analysis.closed_form import closed_column
from normviz.figures.wire import sent
from normviz.lessons.pages import PAGES, page_view
from normviz.lessons.questions.page import QUESTIONS, core_place, prediction, sources
from normviz.lessons.questions.question import answer, prose
from normviz.parts.html import Body, block
from normviz.parts.part import (
    BareTensor,
    Caption,
    Chart,
    Heading,
    Links,
    Note,
    Panels,
    Part,
    Prediction,
    Problem,
    Sentence,
    Table,
    Text,
    flat,
)
from tests.support.cases import case

QUERIES = {
    "explore": ["", "shape=2,6&layer=BatchNorm1d(6)", "shape=4,3,5&layer=Norm('n l c -> l c','l c')", "shape=4096,4096&layer=LayerNorm(4096)"],
    "compare": ["", "shape=2,6&layers=LayerNorm(6);BatchNorm1d(6)", "shape=3,5,2,4&layout=NHWC"],
    "step_by_step": ["", "layer=RMSNorm(4)&step=6", "layer=BatchNorm2d(3).eval()"],
    "train_and_eval": [f"show={show}" for show in ("stream", "modes", "batches", "sequences", "devices")],
    "gradients": [f"show={show}" for show in ("column", "matrix", "parameters", "backward")],
    "numerics": [f"show={show}" for show in ("variance", "eps", "constant", "single", "placement")],
}  # fmt: skip
CASES = [(page, query) for page, queries in QUERIES.items() for query in queries]


def parts_of(page: str, query: str) -> list[Part]:
    return list(PAGES[page].parts(PAGES[page].view(query)))


@pytest.mark.parametrize(("page", "query"), CASES)
def test_a_page_has_a_sentence_and_something_to_see(page, query):
    parts = list(flat(parts_of(page, query)))
    assert any(isinstance(part, Sentence) for part in parts)
    assert any(isinstance(part, Panels | Chart | Table) for part in parts)


@pytest.mark.parametrize(("page", "query"), CASES)
def test_the_data_of_a_figure_is_strict_json(page, query):
    for part in flat(parts_of(page, query)):
        if isinstance(part, Panels):
            data = sent(part.data)
            json.dumps(data, allow_nan=False)
            assert not {"plotly", "theme"} & set(data)  # the page that shows it adds them


def test_a_view_without_a_figure_says_why():
    (note,) = parts_of("gradients", "shape=1024,512&layer=LayerNorm([1024,512])")
    assert note == Note(
        "derivatives are shown where the groups that are drawn have up to 262,144 elements; make the tensor smaller."
    )
    said = parts_of("train_and_eval", "show=modes&layer=Norm('n c h w -> n','c')")
    assert said == [Note("a pattern has neither train() nor eval(); choose a layer of torch.nn.")]


def test_other_layers_are_compared_up_to_a_limit():
    link = "show=modes&layer=LayerNorm(512)&shape="
    (*_, asked), (*_, left_out) = (parts_of("train_and_eval", f"{link}{size},512") for size in (256, 257))
    assert isinstance(asked, Table)
    assert left_out == Note(
        "other layers are compared on an x of up to 131,072 elements, and this one has 131,584; make it smaller."
    )


def test_the_problem_of_a_page_is_its_first_error():
    compare = PAGES["compare"]
    assert compare.problem(compare.view("layers=LayerNorm([3,4,4]);nonsense")).startswith("'nonsense' is not a layer;")
    assert compare.problem(compare.view("shape=2,6&layers=LayerNorm(6);BatchNorm1d(6)")) is None


@pytest.mark.parametrize("key", QUESTIONS)
def test_a_question_has_its_answer_and_a_figure_in_a_closed_section(key):
    asked = QUESTIONS[key]
    shown = page_view(PAGES["questions"], PAGES["questions"].view(f"q={key}"))
    assert not any(isinstance(part, Problem) for part in shown.parts)
    parts = list(flat(shown.parts))
    texts = [part.text for part in parts if isinstance(part, Heading | Caption)]
    assert texts[0 if core_place(key) is None else 1] == prose(key).title
    assert sources(asked) in texts
    claim = next(part for part in parts if isinstance(part, Text))
    assert claim.text == f"> Someone writes: “{prose(key).claim}” Is that true?"
    assert any(isinstance(part, Panels | Chart | Table) for part in parts)
    before, closed = Body(app="").html(shown.parts).split('<details class="nv-answer">')
    assert block(answer(asked)) in closed
    assert block(answer(asked)) not in before
    assert "nv-figure" not in before
    (link, *_) = (link for part in parts if isinstance(part, Links) and part.kind == "next" for link in part.links)
    assert (link.page, dict(parse_qsl(link.query))) == (asked.page.name, dict(parse_qsl(asked.query)))
    (asking,) = (part for part in parts if isinstance(part, Prediction))
    assert Links((link,), kind="next") in asking.figure


SHAPES = re.compile(r"\((?:\d+, ){2,}\d+\)|shape \((?:\d+, )+\d+\)")


def test_the_tensor_beside_a_question_has_a_shape_of_the_prompt():
    for key, question in QUESTIONS.items():
        with case(key):
            about, text = prediction(question).about, prose(key)
            assert isinstance(about, BareTensor)
            shapes = [tuple(map(int, re.findall(r"\d+", found))) for found in SHAPES.findall(text.predict)]
            assert not shapes or about.shape in shapes
            named = [tuple(map(int, found.split(", "))) for found in re.findall(r"x\[([\d, ]+)\]", text.predict)]
            assert [about.at] == (named or [None])


def test_the_column_of_one_input_is_computed_once(monkeypatch):
    made = []

    def counted(*given):
        made.append(given)
        return closed_column(*given)

    monkeypatch.setattr(closed_form, "closed_column", counted)
    shown = PAGES["gradients"]
    assert list(shown.parts(shown.view("")))
    assert len(made) == 1
