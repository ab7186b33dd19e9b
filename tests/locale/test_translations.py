"""What every translation keeps of the English: placeholders, numbers, code, links, keys and structure.

What is not translated yet, or has changed in English since, is shown in English: it is listed, and fails no test.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml
from babel.messages.catalog import Catalog, Message

from normviz.texts.languages import FRONT_MATTER, KNOWN, STAMP
from tools.translations import (
    ENGLISH,
    LOCALE,
    languages,
    read_catalog,
    shown_files,
    status_of_files,
    status_of_messages,
    template,
    translated,
)

pytestmark = pytest.mark.rule(
    "A translation keeps placeholders, numbers, code, links, keys and structure of the English (docs/translating.md): correct it, or delete it to show English"
)
LANGUAGES = languages()
PLACEHOLDER, CODE = re.compile(r"\{\w*(?::[^{}]*)?\}"), re.compile(r"`[^`]+`")
NUMBER, TAG = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w])"), re.compile(r"</?\w[^<>]*>")
LINK, KEY = re.compile(r"\]\(([^)]*)\)|https?://[^\s).]+"), re.compile(r"^- \[(\w+)\]", re.MULTILINE)
HEADING = re.compile(r"^##? .*$", re.MULTILINE)
KEPT_HEADINGS = {"## Predict", "## Answer", "## Do", "## Hint", "## Done", "## Figure"}


def without(text: str, *patterns: re.Pattern[str]) -> str:
    for pattern in patterns:
        text = pattern.sub(" ", text)
    return text


def kept(text: str) -> dict[str, list[str]]:
    """What a translation of the text repeats; each once, because a sentence may be built in another way."""
    text = " ".join(text.split())
    plain = without(text, CODE, PLACEHOLDER, LINK, TAG)
    return {
        "placeholders": sorted({*PLACEHOLDER.findall(text)}),
        "code": sorted({*CODE.findall(text)}),
        "links": sorted({*LINK.findall(text)}),
        "tags": sorted(TAG.findall(text)),
        "numbers": sorted({*NUMBER.findall(plain)}),
    }


def differences(english: str, translation: str) -> dict[str, tuple[list[str], list[str]]]:
    """What the translation does not keep, with both. Where the English has no number it may write one: "the only" as 1."""
    before, after = kept(english), kept(translation)
    if not before["numbers"]:
        after["numbers"] = []
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}


@cache
def messages(language: str) -> tuple[Message, ...]:
    return tuple(
        message for message in read_catalog(language) if message.id and translated(message) and not message.fuzzy
    )


def pairs(message: Message) -> Iterator[tuple[str, str]]:
    """Each form of the message with its English. The form for one may leave the number out, or have it as the other form has it."""
    if isinstance(message.id, str):
        yield message.id, str(message.string)
        return
    one, many = message.id
    *few, last = message.string
    yield many, last
    for form in few:
        yield (one if kept(form)["placeholders"] == kept(one)["placeholders"] else many), form


def test_there_are_three_languages_and_each_has_a_name():
    assert {"es", "pt", "zh"} <= {*LANGUAGES} <= {*KNOWN}


@pytest.mark.parametrize("language", LANGUAGES)
def test_messages_keep_placeholders_numbers_code_links_and_tags(language):
    found = {text: wrong for message in messages(language) for english, text in pairs(message) if (wrong := differences(english, text))}  # fmt: skip
    assert found == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_messages_begin_and_end_with_the_same_space(language):
    """Full-width signs have their own."""
    outer = re.compile(r"^\s*[（]?|[：、，。]?\s*$")
    both = ((outer.findall(english), outer.findall(text)) for message in messages(language) for english, text in pairs(message))  # fmt: skip
    assert [after for before, after in both if before != after and not re.search("[（：、，。]", "".join(after))] == []


@pytest.mark.rule("normviz.mo is compiled from normviz.po: make translations")
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_file_is_that_of_the_po_file(language):
    compiled = gettext.translation("normviz", LOCALE, [language])
    catalog = read_catalog(language)
    for message in catalog:
        if message.id and translated(message) and not message.fuzzy:
            one, many = (message.id, message.id) if isinstance(message.id, str) else message.id
            forms = [message.string] if isinstance(message.string, str) else list(message.string)
            shown = [compiled.gettext(one)] if one is many else [compiled.ngettext(one, many, n) for n in (1, 2)]
            assert set(shown) == set(forms)


@pytest.mark.parametrize("language", LANGUAGES)
def test_files_keep_placeholders_numbers_code_and_links(language):
    texts = {path: (read(ENGLISH / path), read(LOCALE / language / path)) for path in shown_files(language)}
    assert {path: wrong for path, both in texts.items() if (wrong := differences(*both))} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_files_keep_their_headings_and_the_keys_of_their_options(language):
    for path in shown_files(language):
        english, text = read(ENGLISH / path), read(LOCALE / language / path)
        assert (KEY.findall(text), headings(text)) == (KEY.findall(english), headings(english)), path


def read(file: Path) -> str:
    return FRONT_MATTER.sub("", STAMP.sub("", file.read_text(encoding="utf-8")))


def headings(text: str) -> list[str]:
    """The headings, those that are translated as their marks."""
    return [line if line in KEPT_HEADINGS else line.partition(" ")[0] for line in HEADING.findall(text)]


@pytest.fixture(scope="module")
def code() -> Catalog:
    """The messages of the code."""
    return template()


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_shown_in_english_is_listed(language, code):
    """A skipped test, whose reason is the list, so that one who does not write the language can add a text or change one."""
    left = [(each.missing, each.outdated) for each in (status_of_messages(language, code), status_of_files(language))]
    if names := [name for missing, outdated in left for name in (*missing, *outdated)]:
        pytest.skip(f"{language}: shown in English: {'; '.join(names)} (make translations, docs/translating.md)")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_stops_of_a_tour_are_the_same(language):
    for path in shown_files(language):
        if path.endswith(".yaml"):
            english, tour = (yaml.safe_load(read(folder / path)) for folder in (ENGLISH, LOCALE / language))
            assert [stop["link"] for stop in tour["stops"]] == [stop["link"] for stop in english["stops"]]
            assert all(stop.get("caption") for stop in tour["stops"])


@pytest.mark.parametrize("language", [language for language in LANGUAGES if "glossary.md" in shown_files(language)])
def test_a_form_of_a_word_is_in_one_entry_of_the_glossary(language):
    forms = [form for heading in re.findall(r"^## (.+)$", read(LOCALE / language / "glossary.md"), re.MULTILINE) for form in heading.split(", ")]  # fmt: skip
    assert len(forms) == len({*forms})


CHECKED: list[tuple[str, str, str]] = [
    ("{n:,} means", "{n} medias", "placeholders"),
    ("over `x`", "sobre `y`", "code"),
    ("64 channels", "32 canales", "numbers"),
    ("[here](/a)", "[aquí](/b)", "links"),
    ("<b>all</b>", "todo", "tags"),
]


@pytest.mark.parametrize(("english", "text", "name"), CHECKED)
def test_a_changed_part_is_found(english, text, name):
    assert list(differences(english, text)) == [name]
    assert differences(english, english) == {}
