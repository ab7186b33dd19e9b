"""A site in a language, and sites in all languages beside each other."""

import json
import os

import pytest

from normviz.cli import main
from normviz.export.site import build, build_all
from normviz.texts import languages as module
from normviz.texts.errors import NormvizError
from tests.support.languages import brackets as brackets
from tests.support.structure import Structure


@pytest.fixture
def two(brackets, monkeypatch):
    """English and a language in brackets, without the others."""
    monkeypatch.setattr(module, "_names", lambda folder: ("en", brackets))


def test_a_site_has_one_language(two, tmp_path, monkeypatch):
    monkeypatch.setenv("NORMVIZ_URL", "https://example.org/lab")
    assert main(["site", str(tmp_path / "site"), "--only", "s0", "--lang", "xb"]) == 0
    page = (tmp_path / "site" / "question-s0.html").read_text()
    assert '<html lang="xb" dir="ltr"' in page
    assert "⟦Open in ⟦" in page
    assert "&amp;lang=xb" in page
    assert "ns-languages" not in page


def test_all_languages_are_folders_whose_pages_link_to_each_other(two, tmp_path):
    place = tmp_path / "site"
    made = build_all(place, only=["s0"])
    assert json.loads((place / "site.json").read_text())["files"] == made
    assert all((place / file).is_file() for file in made)
    for name, word in (("en", "All questions<"), ("xb", "⟦All questions⟧<")):
        page = place / name / "question-s0.html"
        assert f'<html lang="{name}" dir="ltr"' in page.read_text()
        assert word in page.read_text()
        links = [one for one in Structure(page.read_text()).addresses if one.startswith("../")]
        assert links == ["../en/question-s0.html", "../xb/question-s0.html"]
        assert all((page.parent / link).is_file() for link in links)
    assert "⟦" not in (place / "en" / "index.html").read_text()
    assert build_all(place, only=["s0"]) == made  # again


def test_all_languages_replace_a_site_in_one_language_and_are_replaced_by_it(two, tmp_path):
    place = tmp_path / "site"
    for write in (build, build_all, build):
        made = write(place, only=["s0"])
        assert {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()} == set(made)
    assert os.listdir(tmp_path) == ["site"]


def test_the_folder_of_a_language_that_leads_elsewhere_is_refused(two, tmp_path):
    place, other = tmp_path / "site", tmp_path / "other"
    build(other, only=["s0"])
    before = (other / "index.html").read_bytes()
    place.mkdir()
    (place / "en").symlink_to(other)
    with pytest.raises(NormvizError, match=r"en/lib' is a link to another directory"):
        build_all(place, only=["s0"], force=True)
    assert (other / "index.html").read_bytes() == before


def test_a_directory_with_other_files_is_refused(two, tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(NormvizError, match=r"has other files, such as 'notes\.txt'"):
        build_all(tmp_path, only=["s0"])


def test_the_command_knows_all_languages_only_for_a_site(two, tmp_path, capsys):
    assert main(["site", str(tmp_path / "site"), "--only", "s0", "--lang", "all", "--zip"]) == 0
    assert (tmp_path / "site.zip").is_file()
    assert main(["questions", "--lang", "all"]) == 2
    assert "lang='all' is unknown" in capsys.readouterr().err
