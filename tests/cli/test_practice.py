"""``normviz practice``: the same set as the library, in every format."""

import json
import sqlite3
import sys
import zipfile
from tempfile import gettempdir

import pytest

import normviz as nv
from normviz.cli import arguments, command
from normviz.lessons.practice.bank import choose
from normviz.lessons.practice.formats import qti


def size_of(path):
    """What a command prints after it wrote a file."""
    return f"{path.name}: {path.stat().st_size / 1000:,.0f} kB\n"


def test_json_is_printed_and_is_the_set_of_the_library(run):
    code, out, err = run("practice", "--seed", "7", "--count", "4", "--topics", "statistics,parameters", "--level", "1")
    assert (code, err) == (0, "")
    assert json.loads(out) == json.loads(
        json.dumps([each.json() for each in choose(7, 4, ["statistics", "parameters"], 1)])
    )


def test_json_goes_to_a_file_with_links_to_the_app(run, tmp_path, monkeypatch):
    monkeypatch.setenv("NORMVIZ_URL", "https://example.org/lab/")
    printed = run("practice", "--count", "3", "-o", "set.json")
    assert printed == (0, size_of(tmp_path / "set.json"), "")
    found = json.loads((tmp_path / "set.json").read_text())
    assert [each["link"].startswith("https://example.org/lab/") for each in found] == [True] * 3


def test_kinds_are_named(run):
    code, out, _err = run("practice", "--kinds", "build", "--count", "3")
    assert code == 0
    assert [each["id"] for each in json.loads(out)] == [each.id for each in choose(0, 3, forms=["build"])]
    assert all(each["id"].startswith("build-") for each in json.loads(out))


@pytest.mark.parametrize("arguments", [(), ("--level", "rising")])
def test_a_page_has_a_fixed_set_unless_it_is_to_rise(run, tmp_path, arguments):
    printed = run("practice", *arguments, "--format", "html", "-o", "set.html")
    assert printed == (0, size_of(tmp_path / "set.html"), "")
    page = nv.open(f"/practice?level={arguments[1] if arguments else 'all'}")
    assert (tmp_path / "set.html").read_text() == page.with_(choices=nv.Choices()).to_html()


@pytest.mark.parametrize(("name", "begins"), [("moodle", b"<?xml"), ("qti", b"PK"), ("anki", b"PK")])
def test_a_set_for_a_learning_management_system(run, tmp_path, name, begins):
    assert run("practice", "--count", "3", "--format", name, "-o", "set")[0] == 0
    assert (tmp_path / "set").read_bytes().startswith(begins)
    if begins == b"PK":
        assert zipfile.ZipFile(tmp_path / "set").testzip() is None


def test_a_set_as_a_page_is_the_page_of_its_link(run, tmp_path):
    arguments = ("--seed", "7", "--count", "4", "--topics", "code,numbers", "--level", "1")
    printed = run("practice", *arguments, "--format", "html", "-o", "set.html")
    assert printed == (0, size_of(tmp_path / "set.html"), "")
    page = nv.open("/practice?seed=7&count=4&topics=code,numbers&level=1")
    assert (tmp_path / "set.html").read_text() == page.with_(choices=nv.Choices()).to_html()


@pytest.mark.parametrize(("arguments", "words"), [
    ("--format qti", "--format qti writes a file; name it with -o FILE."),
    ("--topics axes", "topics='axes' is unknown; choose statistics, parameters"),
    ("--level 9", "level='9' is unknown; choose rising, all, 1, 2 or 3."),
    ("--count 0", "count='0' must be a whole number from 1 to 100"),
    ("--level rising", "level=rising is for a page: write it with --format html, or choose another level."),
    ("--kinds drag", "kinds='drag' is unknown; choose number, mark, choice or build."),
    ("--kinds build --topics code", "no exercise is of these topics, of this level and of these kinds"),
    ("--seed x", "seed='x' must be a whole number from 0 to 2,147,483,647."),
])  # fmt: skip
def test_invalid_arguments(run, arguments, words):
    code, out, err = run("practice", *arguments.split())
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(("name", "package"), [("moodle", "lxml"), ("qti", "text2qti"), ("anki", "genanki")])
def test_a_missing_package_is_named_at_once_and_only_where_it_is_needed(run, monkeypatch, name, package):
    monkeypatch.setattr(arguments, "find_spec", lambda asked: None if asked == package else asked)
    monkeypatch.setattr(command, "_loaded", lambda function: lambda args: 0)  # the command itself, with torch
    for each in ("json", "html", "moodle", "qti", "anki"):
        code, _out, err = run("practice", "--format", each, "-o", "set")
        remedy = f'--format {name} needs {package}, which is not installed; run pip install "normviz[practice]".'
        assert (code, err) == ((2, f"normviz: {remedy}\n") if each == name else (0, ""))


@pytest.mark.parametrize("name", ["moodle", "qti", "anki"])
def test_a_format_needs_no_package_of_the_others(run, monkeypatch, name):
    others = [package for each, package in arguments.WRITERS.items() if each != name and each != "moodle"]
    for module in others:  # text2qti needs lxml, too
        monkeypatch.setitem(sys.modules, module, None)
    for each in ("anki", "moodle", "qti"):
        monkeypatch.delitem(sys.modules, f"normviz.lessons.practice.formats.{each}", raising=False)
    assert run("practice", "--count", "2", "--format", name, "-o", "set")[0] == 0


@pytest.mark.parametrize("name", ["json", "html", "moodle"])
def test_the_address_of_the_app_must_be_a_web_address(run, monkeypatch, name):
    monkeypatch.setenv("NORMVIZ_URL", "javascript:alert(1)")
    code, out, err = run("practice", "--format", name, "-o", "set.xml")
    assert (code, out) == (2, "")
    assert "NORMVIZ_URL='javascript:alert(1)' is not a web address; begin it with https:// or http://." in err


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), sqlite3.OperationalError("database or disk is full")])  # fmt: skip
def test_a_full_temporary_folder_is_named(run, monkeypatch, error):
    def full(*_arguments):
        raise error

    monkeypatch.setattr(qti, "TemporaryDirectory", full)
    code, out, err = run("practice", "--format", "qti", "-o", "set.zip")
    assert (code, out) == (2, "")
    assert err.startswith(f"normviz: the temporary folder '{gettempdir()}' cannot be written (")
    assert err.endswith("make room there, or set TMPDIR to another folder.\n")
