"""Every page as parts: each has its sentence and its figure, whatever the query says."""

import json

import pytest

from normviz.analysis.gradients.closed_form import closed_column
from normviz.lessons.gradients import derivatives
from normviz.lessons.page.pages import PAGES
from normviz.lessons.page.questions_page import question_parts, sources
from normviz.lessons.parts.part import Chart, Note, Panels, Part, Sentence, flat
from normviz.lessons.parts.table import Table
from normviz.lessons.questions.question import prose
from normviz.lessons.questions.registry import QUESTIONS

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
            json.dumps(part.data, allow_nan=False)
            assert not {"plotly", "theme"} & set(part.data)  # the page that shows it adds them


def test_a_view_without_a_figure_says_why():
    (note,) = parts_of("gradients", "shape=512,512&layer=LayerNorm(512)")
    assert note == Note("derivatives are shown for up to 4,096 elements; make the tensor smaller.")
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
    page = PAGES["compare"]
    assert page.problem(page.view("layers=LayerNorm([3,4,4]);nonsense")).startswith("'nonsense' is not a layer;")
    assert page.problem(page.view("shape=2,6&layers=LayerNorm(6);BatchNorm1d(6)")) is None


@pytest.mark.parametrize("key", QUESTIONS)
def test_a_question_has_its_text_its_answer_and_a_figure(key):
    asked = QUESTIONS[key]
    parts = list(flat(question_parts(asked)))
    assert parts[0].text == prose(key).title
    assert any(isinstance(part, Panels | Chart | Table) for part in parts)
    assert parts[-1].text == sources(asked)


def test_the_column_of_one_input_is_computed_once(monkeypatch):
    made = []

    def counted(*given):
        made.append(given)
        return closed_column(*given)

    monkeypatch.setattr(derivatives, "closed_column", counted)
    page = PAGES["gradients"]
    assert list(page.parts(page.view("")))
    assert len(made) == 1
