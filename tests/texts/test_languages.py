"""The languages of links, browsers and processes."""

import os
import subprocess
import sys

import pytest

from normviz.texts.errors import NormvizError
from normviz.texts.languages import find_language, html_attributes, languages, parse_language
from normviz.texts.messages import in_language
from tests.support.languages import brackets as brackets

OWN = "from normviz.texts.messages import language; print(language.get())"


@pytest.mark.parametrize(
    ("text", "name"), [("es", "es"), ("es-MX", "es"), ("ZH-cn", "zh"), ("pt_BR", "pt"), (" en ", "en")]
)
def test_a_link_names_a_language_by_any_of_its_tags(text, name):
    assert parse_language(text) == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("esp", r"lang='esp' is unknown\. Did you mean es\?"),
        ("Español", r"lang='Español' is unknown\. Did you mean es\?"),
        ("", r"lang='' is unknown; choose en, es, pt or zh\."),
        ("../en", r"lang='\.\./en' is unknown"),
        ("x" * 100, "is unknown; choose"),
    ],
)
def test_an_unknown_language_is_refused(text, message):
    with pytest.raises(NormvizError, match=message):
        parse_language(text)


def test_every_language_has_a_name_of_its_own_and_a_tag(brackets):
    assert {name: (one.name, one.tag) for name, one in languages().items()} == {
        "en": ("English", "en"),
        "es": ("Español", "es"),
        "pt": ("Português do Brasil", "pt-BR"),
        "zh": ("简体中文", "zh-Hans"),
        brackets: (brackets, brackets),
    }
    with in_language("xr"):
        assert html_attributes() == 'lang="xr" dir="rtl"'
    assert find_language("he").direction == "rtl"


@pytest.mark.parametrize(("value", "name"), [("es", "es"), ("", "en"), ("nowhere", "en")])
def test_the_environment_names_the_language_of_a_process(value, name):
    environ = {**os.environ, "NORMVIZ_LANG": value}
    done = subprocess.run([sys.executable, "-c", OWN], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == f"{name}\n"
