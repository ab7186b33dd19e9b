"""A search finds a layer and an idea by the words that people use in their language, in Python and in the browser."""

import json
import re
from functools import cache
from html import unescape

import pytest
import torch

from normviz.layers.catalogue import COMPLETE
from normviz.lessons.questions.page import QUESTIONS, question_list
from normviz.lessons.questions.question import prose, search_text
from normviz.parts.html import Body
from normviz.parts.part import search_field
from normviz.scene.view import read, typed_query
from normviz.texts.errors import NormvizError
from normviz.texts.languages import read_text
from normviz.texts.messages import in_language, plain
from normviz.texts.searching import ENTRY, ideas, matches, named, ranking, simplified
from tests.support.javascript import PARTS, evaluate
from tests.support.needs import cases_in_torch, whole

LIST = PARTS / "list.ts"
# What is typed, and a pattern of the texts that it must find, and no others besides those with the typed words themselves.
LAYERS = [
    *(("zh", word, "batchnorm") for word in ("批量规范化", "批标准化", "批归一化", "批量归一化", "批规范化", "批量标准化", "批量规")),
    *(("zh", word, "layernorm") for word in ("层归一化", "层标准化", "层规范化")),
    ("zh", "实例归一化", "instancenorm"), ("zh", "组归一化", "groupnorm"), ("zh", "均方根归一化", "rmsnorm"), ("zh", "batch normalization", "batchnorm"),
    *(("es", word, "batchnorm") for word in ("normalización por lotes", "normalizacion por lotes", "Normalización de lotes", " NORMALIZACIÓN  POR LOTE ")),
    *(("es", word, "layernorm") for word in ("normalización por capas", "normalización de capa", "layer normalization")),
    ("es", "normalización de instancia", "instancenorm"), ("es", "normalización por grupos", "groupnorm"), ("es", "normalización RMS", "rmsnorm"),
    *(("pt", word, "batchnorm") for word in ("normalização em lote", "normalizacao em lote", "normalização por lotes")),
    *(("pt", word, "layernorm") for word in ("normalização de camada", "normalizacao por camadas")),
    ("pt", "normalização de instância", "instancenorm"), ("pt", "normalização em grupos", "groupnorm"), ("pt", "normalização RMS", "rmsnorm"),
    ("en", "batch normalization", "batchnorm"), ("en", "layer norm", "layernorm"), ("en", "Group Normalisation", "groupnorm"), ("en", "BN", "batchnorm"),
]  # fmt: skip
WORDS = [
    *(("zh", word, "滑动|running_(mean|var)") for word in ("移动平均", "运行均值", "滑动平均", "移动方差")),
    *(("es", word, "movil|running_(mean|var)") for word in ("media móvil", "media movil", "promedio móvil", "varianza móvil")),
    *(("pt", word, "movel|moveis|running_(mean|var)") for word in ("média móvel", "media movel", "estatísticas móveis")),
    ("en", "moving average", "running"), ("en", "running_mean", "running_mean"), ("en", "BatchNorm", "batchnorm"), ("es", "varianza", "varianza"), ("es", "variancia", "varianza"), ("pt", "variância", "variancia"),
    ("pt", "varianza", "variancia"), ("zh", "方差", "方差"),
    *(("zh", word, "序列|token") for word in ("自然语言处理", "词元")),
]  # fmt: skip


LANGUAGES = ("en", "es", "pt", "zh")


@cache
def texts(language: str) -> dict[str, str]:
    with in_language(language):
        return {key: search_text(question) for key, question in QUESTIONS.items()}


def found_by(typed: str, language: str) -> set[str]:
    """The keys of the questions that a search finds."""
    with in_language(language):
        is_found = matches(typed, list(texts(language).values()))
    return {key for key, one in zip(texts(language), is_found, strict=True) if one}


@pytest.mark.parametrize(("language", "typed", "about"), [*LAYERS, *WORDS])
def test_questions_are_found_by_the_words_of_the_language(language, typed, about):
    found = found_by(typed, language)
    meant = {key for key, text in texts(language).items() if re.search(about, text)}
    literal = {key for key, text in texts(language).items() if simplified(typed) in text}
    assert meant
    assert meant <= found <= meant | literal


# What is typed, and questions that it must find, among at most a third of all.
PHRASES = [
    ("en", "layernorm vs batchnorm", {"s1b", "s3a"}), ("en", "difference between layernorm and batchnorm", {"s1b", "s3a"}), ("es", "diferencia entre LayerNorm y BatchNorm", {"s1b", "s3a"}),
    ("pt", "diferença entre LayerNorm e BatchNorm", {"s1b", "s3a"}), ("zh", "层归一化 与 批归一化 区别", {"s1b", "s3a"}), ("en", "CNN", {"s3a", "q8"}), ("zh", "卷积", {"s3a"}), ("en", "NLP", {"s3a", "q4"}),
    ("en", "HW parameters", {"s0c", "s0d", "s0f"}), ("en", "pseudo code", {"s3", "s3c"}), ("es", "pseudocódigo", {"s3", "s3c"}), ("en", "why gamma per feature", {"s1"}),
    ("en", "model.eval() gives different results", {"q16"}), ("en", "fine-tuning with frozen bn", {"q18", "q35"}), ("en", "DDP", {"q27"}), ("en", "how many parameters does layernorm have", {"s0"}),
]  # fmt: skip


@pytest.mark.parametrize(("language", "typed", "asked"), PHRASES)
def test_a_phrase_finds_what_it_asks_without_the_very_words(language, typed, asked):
    found = found_by(typed, language)
    assert asked <= found
    assert len(found) <= len(QUESTIONS) / 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_that_no_question_has_find_nothing_and_change_nothing(language):
    assert found_by("zzzz", language) == set()
    assert found_by("batchnorm zzzz", language) == found_by("batchnorm", language)
    assert found_by("the batchnorm", language) == found_by("batchnorm", language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_browser_finds_the_same(language):
    searches = [typed for name, typed, _about in [*LAYERS, *WORDS] if name == language]
    searches += [
        "", "zzzz", "gamma", "media", "normalización por c", "batch normalization running", "批归一化 eval", "why gamma per feature",
        "diferencia entre layernorm y batchnorm", "CNN", "why", "layernorm zzzz",
    ]  # fmt: skip
    with in_language(language):
        expected = [matches(typed, list(texts(language).values())) for typed in searches]
        known = [[idea.names, idea.words] for idea in ideas()]
    script = "args[0].map((typed) => matches(typed, args[1], args[2]))"
    assert evaluate(script, searches, known, list(texts(language).values()), entry=LIST, language=language) == expected


def test_the_field_of_a_search_carries_the_words_for_the_browser():
    with in_language("zh"):
        found = re.search('data-ideas="([^"]*)"', search_field("search", 80, 400))
        assert found
        assert json.loads(unescape(found[1])) == [[list(idea.names), list(idea.words)] for idea in ideas()]


@whole
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_a_list_finds_something(language):
    with in_language(language):
        text = re.sub("<!--.*?-->", "", read_text("search.md"), flags=re.DOTALL)
        assert ENTRY.sub("", text).strip() == ""
        nothing = {
            word for idea in ideas() for word in idea.words if not idea.says_nothing and not found_by(word, language)
        }
    assert nothing == set()


@cases_in_torch
@pytest.mark.parametrize(("language", "typed", "name"), LAYERS)
def test_the_field_for_a_layer_takes_the_words_of_the_language(language, typed, name):
    with in_language(language):
        if named(typed) is None:  # the beginning of a word
            with pytest.raises(NormvizError):
                typed_query(typed)
        else:
            layer = read(typed_query(typed)).scene.layer
            assert layer.kind.family.lower() == name


def test_words_for_an_idea_are_no_layer():
    with in_language("es"), pytest.raises(NormvizError, match="media móvil"):
        typed_query("media móvil")


# What students type, and the questions of which one must come first.
FIRST = [
    ("en", "layernorm vs batchnorm", "s3a s1b"), ("en", "difference between layernorm and batchnorm", "s3a s1b"), ("en", "CNN", "q3 s3a s0h"), ("en", "NLP", "q4 s3a"),
    ("en", "why gamma per feature", "s1"), ("en", "HW parameters", "s0c s0d"), ("en", "pseudo code", "s3c s3"), ("en", "model.eval() gives different results", "q16"),
    ("en", "batch size 1", "s2r q14"), ("en", "how many gammas", "s0b s0g s0"), ("en", "E[x^2] - E[x]^2", "q24 s2o"), ("en", "layernorm transformer", "q4"), ("en", "momentum keras", "q11"),
    ("en", "freeze batchnorm", "q18 q35"), ("en", "groupnorm vs layernorm", "q6"), ("en", "weight decay", "q41 q40"), ("en", "what does eps do", "q22"), ("en", "rmsnorm vs layernorm", "q23"),
    ("en", "fp16", "q48 q46"), ("en", "layernorm over channels only", "q1 q3 s0h"), ("en", "small batch", "s2c s2r s2s q37"), ("en", "padding", "q21"), ("en", "DDP", "q27 q49"),
    ("en", "fuse batchnorm into conv", "q38"), ("en", "pre-LN", "q47"), ("en", "is layernorm applied over batch", "s2f"), ("en", "vision transformer norm", "q4"), ("en", "how many parameters", "s0 s1"),
    ("es", "fusionar batchnorm", "q38"), ("es", "por qué gamma no depende del lote", "s0b"), ("pt", "fusão de batchnorm", "q38"), ("zh", "融合 BatchNorm", "q38"), ("zh", "参数个数", "s0 s1"),
    ("es", "diferencia entre layernorm y batchnorm", "s3a s1b"), ("es", "lote pequeño", "s2c s2r s2s q37"), ("es", "media móvil", "s3k s3l s2a"), ("es", "cuántas gammas", "s0b s0g s0"),
    ("es", "modo eval resultados distintos", "q16"), ("es", "épsilon", "q22"), ("es", "imagen o texto", "s3a"),
    ("pt", "diferença entre layernorm e batchnorm", "s3a s1b"), ("pt", "lote de 1", "s2r q14"), ("pt", "imagem e texto", "s3a"), ("pt", "decaimento de peso", "q40 q41"), ("pt", "parâmetros HW", "s0c s0d"),
    ("en", "loss becomes nan", "q22 q24 q48"), ("en", "why does my loss become nan after batchnorm", "q22 q24 q48"), ("es", "la pérdida es nan", "q22 q24 q48"), ("pt", "a perda é nan", "q22 q24 q48"),
    ("pt", "loss nan", "q22 q24 q48"), ("zh", "损失变成 nan", "q22 q24 q48"), ("zh", "偏置", "q26"), ("zh", "卷积偏置", "q26"), ("en", "bias", "q26"), ("es", "sesgo", "q26"), ("pt", "viés", "q26"), ("en", "bias=False", "q45"),
    ("es", "cuántos parámetros tiene layernorm", "s0"), ("en", "how many parameters has layernorm", "s0"), ("pt", "quantos parâmetros tem layernorm", "s0"), ("zh", "layernorm 有多少参数", "s0"),
    ("zh", "layernorm和batchnorm的区别", "s3a s1b"), ("zh", "小批量", "s2c s2r s2s q37"), ("zh", "滑动平均", "s3k s3l"), ("zh", "多少个 gamma", "s0 s0b s0g s1 s1b"), ("zh", "eval 结果不同", "q16 s1c"),
    ("en", "which dims to average in pytorch", "s1a s3d s3e"), ("en", "negative variance", "q24"), ("en", "variance numerically unstable", "q24"), ("en", "batch norm in rnn", "s2b"),
    ("en", "learnable parameters of batchnorm", "s0e s1b"), ("en", "number of gammas in instance norm", "s0f q9"), ("en", "my numpy layernorm does not match torch", "q13"), ("en", "layernorm on feature maps", "s3a s0h q3"),
    ("en", "normalizer free networks", "q52"), ("en", "convert batchnorm to groupnorm small batch", "s2c s2r q37"), ("en", "track_running_stats", "q17 q10"), ("en", "unbiased variance", "q12 q13"),
    ("es", "qué ejes se promedian", "s1a"), ("es", "varianza negativa", "q24"), ("es", "inestabilidad numérica de la varianza", "q24"), ("es", "por qué gamma por característica", "s1"), ("es", "congelar batchnorm", "q18 q35"),
    ("pt", "quais eixos entram na média", "s1a"), ("pt", "variância negativa", "q24"), ("pt", "por que gamma por coluna", "s1"), ("pt", "preenchimento", "q21"),
    ("zh", "方差 负数", "q24"), ("zh", "数值不稳定", "q24"), ("zh", "在哪些轴上求均值", "s1a"), ("zh", "每个特征一个 gamma", "s1"), ("zh", "填充", "q21"), ("zh", "冻结", "q18 q35"),
]  # fmt: skip


def shown_first(typed: str, language: str) -> str:
    with in_language(language):
        html = question_list(QUESTIONS, typed).html(Body(app=""))
    best = re.search(r'<section class="nv-best".*?</section>', html, re.DOTALL)
    assert best
    items = re.findall(r'<li data-question="(\w+)"', best[0]) or re.findall(
        r'<li data-question="(\w+)" data-words="[^"]*">', html
    )
    return items[0]


@pytest.mark.parametrize(("language", "typed", "asked"), FIRST)
def test_what_a_student_means_comes_first(language, typed, asked):
    if not COMPLETE and not QUESTIONS.keys() >= {*asked.split()}:
        pytest.skip(f"torch {torch.__version__} cannot answer {asked}")
    assert shown_first(typed, language) in asked.split()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_browser_ranks_in_the_same_order(language):
    searches = [typed for name, typed, _asked in FIRST if name == language]
    with in_language(language):
        titles = [simplified(plain(prose(key).title)) for key in QUESTIONS]
        given = [list(texts(language).values()), titles]
        expected = [ranking(typed, titles, given[0]) for typed in searches]
        known = [[idea.names, idea.words] for idea in ideas()]
    script = "args[0].map((typed) => ranking(typed, args[1], args[3], args[2]))"
    assert evaluate(script, searches, known, *given, entry=LIST, language=language) == expected
