"""``normviz practice``: the same set as the library, in every format."""

import csv
import json
import re
import sqlite3
import sys
import zipfile
from html import escape, unescape
from pathlib import Path
from tempfile import gettempdir

import pytest

import normviz as nv
from normviz.cli import arguments, command
from normviz.export.sets import FORMATS, _csv
from normviz.lessons.practice import settings
from normviz.lessons.practice.bank import bank, choose
from normviz.lessons.practice.formats import qti
from normviz.lessons.practice.formats.quiz import item
from normviz.lessons.practice.page import Practice
from normviz.lessons.practice.roster import student_sets
from normviz.lessons.practice.settings import FORMS

QUESTIONS = """\
questions:
  - id: gammas
    text: How many `gammas`?
    layer: BatchNorm2d(3)
    kind: gammas
    answer: 3
  - id: why
    text: Why?
    options: [a, b]
    answer: b
"""


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


@pytest.fixture
def roster(tmp_path):
    (tmp_path / "r.csv").write_bytes('\ufeffname,id\r\n"Lovelace, Ada",1\r\n../李,2\r\n'.encode())
    return ("--roster", "r.csv", "--key", "spring", "--count", "4")


def table(file):
    return list(csv.reader(file.read_text("utf-8-sig").splitlines()))


def test_each_student_of_a_roster_has_a_set_with_a_link_and_answers(run, tmp_path, roster):
    code, out, err = run("practice", *roster, "--app", "https://lab.org", "-o", "sets")
    assert (code, err) == (0, "")
    assert re.fullmatch(r"sets: 2 sets, 0\.0\d+ MB\n", out)
    ada, li = student_sets(["Lovelace, Ada", "../李"], "spring", 4, forms=tuple(FORMS))
    names = {f"lovelace-ada-{ada.key}.json": ada, f"李-{li.key}.json": li}
    assert {file.name for file in (tmp_path / "sets").iterdir()} == {*names, "links.csv", "answers.csv"}
    for name, student in names.items():
        found = json.loads((tmp_path / "sets" / name).read_text())
        expected = [one.json() | {"id": f"{student.key}-{one.id}"} for one in student.exercises]
        assert [one | {"link": ""} for one in found] == [one | {"link": ""} for one in json.loads(json.dumps(expected))]
    links = table(tmp_path / "sets/links.csv")
    assert links[0] == ["name", "set", "file", "link"]
    assert [row[:3] for row in links[1:]] == [[one.name, one.key, name] for name, one in names.items()]
    for (*_cells, link), student in zip(links[1:], (ada, li), strict=True):
        assert link.startswith("https://lab.org/practice?seed=")
        (part,) = (one for one in nv.open(link).parts if isinstance(one, Practice))
        assert part.chosen.exercises() == list(student.exercises)
    answers = table(tmp_path / "sets/answers.csv")
    assert answers[0] == ["name", "set", "1", "2", "3", "4"]
    assert answers[1][2:] == [" / ".join(one.json()["accepted"] or [item(one).answer]) for one in ada.exercises]


def test_a_command_that_prints_many_sheets_says_that_it_takes_long(run, tmp_path, monkeypatch):
    monkeypatch.setattr("normviz.export.pictures.checked_browser", lambda: "")
    monkeypatch.setattr("normviz.export.sets.print_pdfs", lambda pages, size: [b"%PDF"] * len(pages))
    for count, words in ((49, ""), (50, "normviz: the sheets and the key are being printed as PDF;")):
        (tmp_path / "names.csv").write_text("name\n" + "\n".join(f"S{n}" for n in range(count)))
        arguments = (
            "--roster",
            "names.csv",
            "--key",
            "k",
            "--count",
            "1",
            "--topics",
            "numbers",
            "--format",
            "paper",
            "--pdf",
            "a4",
        )
        code, _out, err = run("practice", *arguments, "-o", f"sets{count}")
        assert (code, err[: len(words)]) == (0, words), count
        assert bool(err) == bool(words)


def test_no_cell_of_a_table_is_a_formula(run, tmp_path):
    """The signs that OWASP lists. A spreadsheet shows the apostrophe before them, and the name stays readable; a negative number stays one."""
    names = ["-Ana", '"=HYPERLINK(""https://evil.example"",""Ana"")"', "+1 Ana", "@Ana", "Ana-Lena", "＝1+1"]
    (tmp_path / "odd.csv").write_text("name\n" + "\n".join(names), encoding="utf-8")
    assert run("practice", "--roster", "odd.csv", "--key", "k", "--count", "2", "-o", "sets")[0] == 0
    expected = ["'-Ana", '\'=HYPERLINK("https://evil.example","Ana")', "'+1 Ana", "'@Ana", "Ana-Lena", "'＝1+1"]
    for file in ("links.csv", "answers.csv"):
        assert [row[0] for row in table(tmp_path / "sets" / file)[1:]] == expected
    assert list(csv.reader(_csv([["-0.71", "−0.5", "-1+2", "48"]]).decode("utf-8-sig").splitlines())) == [
        ["-0.71", "−0.5", "'-1+2", "48"]
    ]


@pytest.mark.parametrize(("name", "ending"), [("html", "html"), ("moodle", "xml"), ("qti", "zip"), ("anki", "apkg")])
def test_the_sets_of_a_roster_have_ids_of_their_own_in_each_format(run, tmp_path, roster, name, ending):
    assert run("practice", *roster, "--format", name, "-o", "sets")[0] == 0
    sets = student_sets(["Lovelace, Ada", "../李"], "spring", 4, forms=tuple(FORMS))
    for one, file in zip(sets, sorted((tmp_path / "sets").glob(f"*.{ending}")), strict=True):
        content = file.read_bytes()
        if name in ("html", "moodle"):
            ids = [f"{one.key}-{each.id}" for each in one.exercises]
            assert [content.count(each.encode()) > 0 for each in ids] == [True] * 4
        assert name != "html" or (b'class="nv-bank"' not in content and len(content) < 500_000)


def test_sets_without_a_key_are_said_to_be_from_a_fixed_one_and_another_key_needs_another_directory(run, tmp_path):
    code, _out, err = run("practice", "--versions", "2", "--count", "3", "-o", "sets")
    assert (code, err) == (
        0,
        "normviz: these sets come from the fixed key normviz; with --key WORDS, others cannot make them.\n",
    )
    assert [file.stem[:10] for file in sorted((tmp_path / "sets").glob("*.json"))] == ["version-a-", "version-b-"]
    assert run("practice", "--versions", "2", "--count", "3", "-o", "sets")[0] == 0  # the same again
    code, _out, err = run("practice", "--versions", "2", "--count", "3", "--key", "spring", "-o", "sets")
    assert code == 2
    assert "'sets' has other files, such as 'version-a-" in err
    assert run("practice", "--versions", "2", "-o", "none/sets")[2].startswith("normviz: there is no directory 'none'")


def test_the_whole_bank_is_a_file_for_each_topic_and_level(run, tmp_path):
    assert run("practice", "--all", "--topics", "numbers,code", "-o", "bank")[0] == 0
    found = {file.name: json.loads(file.read_text()) for file in (tmp_path / "bank").iterdir()}
    assert sorted(found) == [f"{topic}-{level}.json" for topic in ("code", "numbers") for level in (1, 2, 3)]
    assert {one["level"] for one in found["code-2.json"]} == {2}
    ids = [one["id"] for each in found.values() for one in each]
    assert sorted(ids) == sorted(one.id for one in bank() if one.about.topic in ("numbers", "code"))


def test_an_exam_is_two_files_for_one_set_and_for_a_roster(run, tmp_path, roster):
    code, out, err = run("practice", "--seed", "7", "--count", "3", "--format", "paper", "-o", "test.html")
    assert (code, err) == (0, "")
    assert out == size_of(tmp_path / "test.html") + size_of(tmp_path / "test-key.html")
    (first, *_others) = choose(7, 3)
    assert first.explanation in (tmp_path / "test-key.html").read_text()
    assert first.explanation not in (tmp_path / "test.html").read_text()
    assert run("practice", *roster, "--format", "paper", "-o", "sets")[0] == 0
    names = {"exam.html", "exam-key.html", "links.csv", "answers.csv"}
    assert {file.name for file in (tmp_path / "sets").iterdir()} == names
    assert (tmp_path / "sets/exam.html").read_text().count("Name: ") == 2
    assert [row[2] for row in table(tmp_path / "sets/links.csv")] == ["file", "exam.html", "exam.html"]
    answers = table(tmp_path / "sets/answers.csv")[1][2:]
    key = (tmp_path / "sets/exam-key.html").read_text()
    assert all(f"<b>{escape(answer)}</b>" in key for answer in answers)


@pytest.fixture
def own(tmp_path):
    (tmp_path / "mine.yaml").write_text(QUESTIONS)
    return ("--add", "mine.yaml")


def test_own_questions_stand_alone_or_before_the_exercises_that_an_option_chooses(run, own):
    assert [one["id"] for one in json.loads(run("practice", *own)[1])] == ["gammas", "why"]
    code, out, _err = run("practice", *own, "--seed", "7", "--count", "3")
    assert code == 0
    assert [one["id"] for one in json.loads(out)] == ["gammas", "why", *(one.id for one in choose(7, 3))]


@pytest.mark.parametrize("name", ["html", "moodle", "qti", "anki", "paper"])
def test_own_questions_are_in_every_format(run, tmp_path, own, name):
    code, _out, err = run("practice", *own, "--app", "https://lab.org", "--format", name, "-o", "set.html")
    assert (code, err) == (0, "")
    content = (tmp_path / "set.html").read_bytes()
    assert (
        content.startswith(b"PK")
        if name in ("qti", "anki")
        else b"How many <code>gammas</code>?" in unescape(content.decode()).encode()
    )


def test_own_questions_are_in_the_set_of_each_student(run, tmp_path, own, roster):
    assert run("practice", *own, *roster, "-o", "sets")[0] == 0
    for file in (tmp_path / "sets").glob("*.json"):
        ids = [one["id"] for one in json.loads(file.read_text())]
        assert [name.split("-", 1)[1] for name in ids[:2]] == ["gammas", "why"]
        assert len(ids) == 2 + 4


def test_an_own_question_whose_answer_torch_contradicts_is_refused_with_its_line(run, tmp_path, own):
    (tmp_path / "mine.yaml").write_text(QUESTIONS.replace("answer: 3", "answer: 6"))
    message = "mine.yaml, line 6: the answer is '6', and torch computes 3; correct the answer or the question."
    assert run("practice", *own, "-o", "set.json") == (2, "", f"normviz: {message}\n")
    assert not (tmp_path / "set.json").exists()


def test_a_preview_opens_the_page_of_own_questions(run, own, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    code, out, err = run("practice", *own, "--preview")
    assert (code, err, opened) == (0, "", [Path(out.strip()).as_uri()])
    assert "Why?" in Path(out.strip()).read_text()


def test_the_table_of_formats_has_those_of_the_help():
    assert [*FORMATS] == [*arguments.QUIZZES]


@pytest.mark.parametrize(("arguments", "words"), [
    ("--format qti", "--format qti writes a file; name it with -o FILE."),
    ("--topics axes", "topics='axes' is unknown; choose statistics, parameters"),
    ("--level 9", "level='9' is unknown; choose rising, all, 1, 2 or 3."),
    ("--count 0", "count='0' must be a whole number from 1 to 100"),
    ("--level rising", "level=rising is for a page: write it with --format html, or choose another level."),
    ("--format paper -o -", "--format paper writes two files; name one for the exam with -o FILE."),
    ("--pdf a4 -o set.json", "--pdf is for --format paper; leave it out."),
    ("--preview", "--preview shows the questions of --add FILE; name a file."),
    ("--add none.yaml", "the file none.yaml cannot be read ("),
    ("--mixture x", "mixture='x' must be a whole number from 0 to 2,147,483,647."),
    ("--roster r.csv --all -o sets", "give only one of --roster, --versions and --all."),
    ("--key spring", "--key is for the sets of --roster or --versions; leave it out."),
    ("--versions 2", "--versions writes many files; name a directory with -o DIRECTORY."),
    ("--versions 0 -o sets", "--versions 0 must be from 1 to 26."),
    ("--versions 2 --seed 7 -o sets", "--seed chooses one set; --key chooses those of a roster or of versions."),
    ("--versions 2 --level rising --format html -o sets", "level=rising is for one page"),
    ("--roster none.csv -o sets", "the roster 'none.csv' cannot be read ("),
    ("--all --count 5 -o sets", "--all takes all exercises; leave --count out."),
    ("--all --topics code --kinds build -o sets", "no exercise is of these topics, of this level and of these kinds"),
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
    monkeypatch.setattr(settings, "find_spec", lambda asked: None if asked == package else asked)
    monkeypatch.setattr(command, "_loaded", lambda function: lambda args: 0)  # the command itself, with torch
    for each in ("json", "html", "moodle", "qti", "anki", "paper"):
        code, _out, err = run("practice", "--format", each, "-o", "set")
        remedy = f'--format {name} needs {package}, which is not installed; run pip install "normviz[practice]".'
        assert (code, err) == ((2, f"normviz: {remedy}\n") if each == name else (0, ""))


@pytest.mark.parametrize("name", ["moodle", "qti", "anki"])
def test_a_format_needs_no_package_of_the_others(run, monkeypatch, name):
    others = [package for each, package in settings.WRITERS.items() if each != name and each != "moodle"]
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
