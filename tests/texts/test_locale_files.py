"""Prose comes from the folder of the reader's language, and from the English one where a file is missing."""

import pytest

from normviz.texts import messages
from normviz.texts.languages import FRONT_MATTER, OWN, digest, read_text
from normviz.texts.messages import language


@pytest.fixture
def french(tmp_path, monkeypatch):
    monkeypatch.setattr(messages, "LOCALE", tmp_path)
    for name in ("start", "tours"):
        (tmp_path / "fr" / name).mkdir(parents=True)
    token = language.set("fr")
    yield tmp_path / "fr"
    language.reset(token)


def test_a_file_without_a_translation_is_english_without_its_list_of_claims(french):
    claims, text = (OWN / "start/depth.md").read_text(encoding="utf-8").removeprefix("---\n").split("---\n\n")
    assert claims.startswith("claims:\n")
    assert read_text("start/depth.md") == text


@pytest.mark.parametrize(
    ("path", "stamp"),
    [("start/depth.md", "<!-- English: {} -->\n\n"), ("tours/train-and-eval.yaml", "# English: {}\n")],
)
def test_readers_see_a_translation_of_the_english_of_today_without_the_line_that_says_so(french, path, stamp):
    english, made = OWN / path, "# Pourquoi normaliser ?\n"
    (french / path).write_text(made, encoding="utf-8")
    assert read_text(path) == made
    (french / path).write_text(stamp.format(digest(english)) + made, encoding="utf-8")
    assert read_text(path) == made
    (french / path).write_text(stamp.format("0123abcd") + made, encoding="utf-8")  # of an English that has changed
    assert read_text(path) == FRONT_MATTER.sub("", english.read_text(encoding="utf-8"))
