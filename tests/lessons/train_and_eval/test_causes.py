"""Why eval differs: what readers type leads to three networks, each with one of the common causes."""

import pytest

from normviz.lessons.pages import PAGES, leads_to, page_view
from normviz.lessons.train_and_eval.page import NEXT, diagnoses
from normviz.parts.part import Chart, Code, Links, Text, flat
from normviz.texts.messages import in_language


def shown(name, query):
    page = PAGES[name]
    return list(flat(page_view(page, page.view(query)).parts))


def searched(typed):
    """Where the search of the questions leads on Train and eval."""
    links = [link for one in shown("questions", {"search": typed}) if isinstance(one, Links) for link in one.links]
    return [link.query for link in links if link.page == "train_and_eval" and "show=causes" in link.query]


SYMPTOMS = (
    "eval gives other results than train", "model.eval() gives different results", "BatchNorm: eval mode, much worse accuracy",
    "my network performs badly at test time", "the output differs at inference",
    "el modo eval da otros resultados que train", "la evaluación da resultados distintos", "en eval() la precisión es peor",
    "eval dá resultados diferentes de train", "o modo eval dá outros resultados que o treino", "pior na inferência",
    "eval 的结果与 train 不同", "model.eval() 后精度下降", "评估模式与训练模式的结果不一样",
)  # fmt: skip
OTHERS = (
    "nn.BatchNorm2d(64).eval()", "LayerNorm(4)", "eval", "What is the difference between train() and eval()?", "different results",
    "gamma", "train 和 eval 的区别",
)  # fmt: skip


@pytest.mark.parametrize("typed", SYMPTOMS)
def test_the_field_and_the_search_lead_to_the_causes(typed):
    page, query = leads_to("explore", {"typed": typed})
    assert (page.name, query) == ("train_and_eval", {"show": "causes"})
    assert searched(typed) == ["show=causes"]


@pytest.mark.parametrize("typed", OTHERS)
def test_other_texts_lead_where_they_led(typed):
    page, _query = leads_to("explore", {"typed": typed})
    assert page.name in ("explore", "questions")
    assert searched(typed) == []


def test_each_network_has_its_cause():
    found = diagnoses()
    assert [one.findings[0].cause for one in found] == ["never updated", "other data", "small batch"]
    assert [{finding.layer for finding in one.findings} for one in found] == [
        {"bn1", "bn2", "bn3"},
        {"bn1"},
        {"bn1", "bn2", "bn3"},
    ]
    assert all(one.difference > 0.5 for one in found)
    assert found[0].left < found[0].difference / 2
    assert found[1].left < found[1].difference / 10


@pytest.mark.parametrize("lang", ["en", "es", "pt", "zh"])
def test_the_page_shows_them_and_the_next_step(lang):
    with in_language(lang):
        parts = shown("train_and_eval", {"show": "causes"})
    assert len([one for one in parts if isinstance(one, Chart)]) == 3
    assert [one.text for one in parts if isinstance(one, Code)] == [NEXT]
    assert "bn1" in " ".join(one.plain_text() for one in parts if isinstance(one, Text))
