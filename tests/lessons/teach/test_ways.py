"""For teachers: every link leads to a view, every command does what it says, and the answer sheet has torch's answers."""

import json
import re
import shlex
from pathlib import Path

import pytest

from normviz.cli.command import main
from normviz.lessons import share
from normviz.lessons.pages import PAGES, page_view, view_of_link
from normviz.lessons.practice.bank import choose
from normviz.lessons.practice.formats.quiz import item
from normviz.lessons.practice.settings import missing_package
from normviz.lessons.teach.page import (
    FILES,
    FRAME,
    GROWING,
    MOST_ANSWERS,
    PREVIEWS,
    SCHEDULES,
    Schedule,
    Shelf,
    Snippet,
    Way,
)
from normviz.lessons.tours import tours
from normviz.parts.html import Body
from normviz.parts.part import Code, Details, Links, flat

PARTS = page_view(PAGES["teach"], view_of_link(PAGES["teach"], "")).parts
WAYS = [part for part in PARTS if isinstance(part, Way)]
SEED, COUNT, LEVEL = 7, 5, 1  # of the set with which the page opens
COMMANDS = [line for part in flat(PARTS) if isinstance(part, Code) for line in part.text.splitlines()]


def test_each_way_has_a_drawing_of_its_own_and_something_to_press_or_to_copy():
    assert sorted(way.preview for way in WAYS) == sorted(PREVIEWS)
    for way in WAYS:
        assert any(isinstance(part, Links | Snippet | Shelf | Schedule) for part in way.parts), way.title


def test_every_link_leads_to_a_view_without_an_error():
    links = [link for part in flat(PARTS) if isinstance(part, Links) for link in part.links]
    links += [part.link for part in flat(PARTS) if isinstance(part, Snippet)]
    links += [link for part in flat(PARTS) if isinstance(part, Schedule) for _minutes, _text, link in part.steps]
    links += [
        link
        for part in flat(PARTS)
        if isinstance(part, Shelf)
        for *_others, link in part.files
        if link.page != "export"
    ]
    assert len(links) >= 20
    for link in links:
        page = PAGES[link.page]
        assert page.problem(view_of_link(page, link.query.removesuffix("&embed=true"))) is None, link


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_writes_its_file(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program, words = shlex.split(command)[:3], shlex.split(command)[3:]
    assert program == ["python", "-m", "normviz"]
    if "anki" in words:
        pytest.importorskip("genanki")
    assert not main(words)
    (made,) = tmp_path.iterdir()
    assert made.name == words[-1]
    if made.suffix == ".json":
        assert len(json.loads(made.read_text())) == COUNT


def test_the_answers_are_those_of_the_set_that_the_link_opens():
    text = WAYS[0].plain_text()
    for one in choose(SEED, COUNT, (), LEVEL):
        answer, explanation = item(one).answer.replace("`", ""), one.explanation.replace("`", "")
        assert explanation in text
        assert (f"{answer}. {explanation}" in text) != explanation.casefold().startswith(answer.casefold())


def test_the_answers_of_many_exercises_are_in_their_file_alone():
    for count in (MOST_ANSWERS, MOST_ANSWERS + 1):
        parts = page_view(PAGES["teach"], view_of_link(PAGES["teach"], f"count={count}&level=1")).parts
        titles = [part.title for part in flat(parts) if isinstance(part, Details)]
        assert ("Show the answers" in titles) == (count <= MOST_ANSWERS)
        assert "format=answers" in shelves(f"count={count}&level=1")[0]


def test_a_snippet_has_the_address_of_the_app_and_none_without_an_app():
    html = "".join(part.html(Body(app="https://norm.example.org")) for part in WAYS)
    assert f">https://norm.example.org/practice?seed={SEED}&amp;count={COUNT}&amp;level={LEVEL}</span>" in html
    assert '&gt;&lt;iframe src=&quot;<span class="nv-address"' in html
    alone = "".join(part.html(Body()) for part in PARTS)
    assert "nv-address" not in alone
    assert alone.count('class="nv-copy"') == len([part for part in flat(PARTS) if isinstance(part, Code)])


def test_its_commands_are_not_colored_as_python():
    html = "".join(part.html(Body(app="")) for part in WAYS)
    assert set(re.findall(r"<code[^>]*>(?=python|<span|&lt;|http)", html)) == {'<code class="nv-plain">'}


def test_a_frame_grows_by_the_line_that_share_writes():
    script = Path(share.__file__).with_name("links.ts").read_text(encoding="utf-8")
    written = script.partition("const GROWING =")[2].partition(";\n\n")[0].replace("\\x3C", "<")
    assert "".join(json.loads(text) for text in re.findall(r'"(?:[^"\\]|\\.)*"', written)) == GROWING
    text = "".join(way.plain_text() for way in WAYS)
    assert f'width="100%" {FRAME}></iframe></div>\n{GROWING}' in text


def shelves(query="", app="https://norm.example.org"):
    """The HTML of the two shelves, of exercises and of tours."""
    parts = page_view(PAGES["teach"], view_of_link(PAGES["teach"], query)).parts
    return [part.html(Body(app=app)) for part in flat(parts) if isinstance(part, Shelf)]


def test_the_shelf_has_each_format_of_the_chosen_exercises_with_a_preview_and_none_without_an_app():
    exercises, of_tours = shelves("count=3&level=2&topics=statistics")
    names = [name for name, *_others in FILES if not missing_package(name)]
    asked = [
        f"page=practice&amp;format={name}&amp;seed=0&amp;count=3&amp;topics=statistics&amp;level=2" for name in names
    ]
    assert [one.replace("&amp;seed=0", "") in exercises for one in asked] == [True] * len(names)
    assert exercises.count(">Preview</a>") == len(names)
    assert of_tours.count(">Preview</a>") == len(tours())
    assert all(f"page=tour&amp;tour={name}" in of_tours for name in tours())
    assert "5 minutes" in of_tours
    assert shelves(app=None) == ["", ""]


def test_a_rising_set_is_a_page_alone():
    exercises, _tours = shelves("level=rising")
    assert set(re.findall(r"format=(\w+)", exercises)) == {"html"}


def test_the_plans_take_10_and_45_minutes_and_a_tour_its_own():
    assert [sum(minutes for minutes, _text, _target in steps) for steps in SCHEDULES] == [10, 45]
    assert all(
        minutes == tours()[target].minutes
        for steps in SCHEDULES
        for minutes, _text, target in steps
        if target in tours()
    )
