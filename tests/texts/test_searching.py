"""A search finds a layer and an idea by the words that people use in their language, in Python and in the browser."""

import json
import re
from functools import cache
from html import unescape

import pytest

from normviz.lessons.questions.page import QUESTIONS
from normviz.lessons.questions.question import search_text
from normviz.parts.part import search_field
from normviz.scene.view import read, typed_query
from normviz.texts.errors import NormvizError
from normviz.texts.languages import read_text
from normviz.texts.messages import in_language
from normviz.texts.searching import ENTRY, finds, ideas, named, simplified
from tests.support.javascript import PARTS, evaluate
from tests.support.needs import cases_in_torch

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
]  # fmt: skip


LANGUAGES = ("en", "es", "pt", "zh")


@cache
def texts(language: str) -> dict[str, str]:
    with in_language(language):
        return {key: search_text(question) for key, question in QUESTIONS.items()}


@pytest.mark.parametrize(("language", "typed", "about"), [*LAYERS, *WORDS])
def test_questions_are_found_by_the_words_of_the_language(language, typed, about):
    with in_language(language):
        found = {key for key, text in texts(language).items() if finds(typed, text)}
    meant = {key for key, text in texts(language).items() if re.search(about, text)}
    literal = {key for key, text in texts(language).items() if simplified(typed) in text}
    assert meant
    assert meant <= found <= meant | literal


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_browser_finds_the_same(language):
    searches = [typed for name, typed, _about in [*LAYERS, *WORDS] if name == language]
    searches += ["", "zzzz", "gamma", "media", "normalización por c", "batch normalization running", "批归一化 eval"]
    with in_language(language):
        expected = [[finds(typed, text) for text in texts(language).values()] for typed in searches]
        known = [[idea.names, idea.words] for idea in ideas()]
    script = "args[0].map((typed) => { const isFound = matcher(typed, args[1]); return args[2].map(isFound); })"
    assert evaluate(script, searches, known, list(texts(language).values()), entry=LIST, language=language) == expected


def test_the_field_of_a_search_carries_the_words_for_the_browser():
    with in_language("zh"):
        found = re.search('data-ideas="([^"]*)"', search_field("search", 80, 400))
        assert found
        assert json.loads(unescape(found[1])) == [[list(idea.names), list(idea.words)] for idea in ideas()]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_a_list_finds_something(language):
    with in_language(language):
        text = re.sub("<!--.*?-->", "", read_text("search.md"), flags=re.DOTALL)
        assert ENTRY.sub("", text).strip() == ""
        nothing = {
            word
            for idea in ideas()
            for word in idea.words
            if not any(finds(word, text) for text in texts(language).values())
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
