"""An exam on paper: the sheets say nothing of the answers, and the key says why each wrong one tempts."""

import re
from dataclasses import replace
from html import escape

from normviz.lessons.practice.bank import choose
from normviz.lessons.practice.confusions import feedback
from normviz.lessons.practice.formats.paper import Sheet, exam, key
from normviz.lessons.practice.formats.quiz import PRINTED, item
from normviz.lessons.practice.settings import FORMS, MARK

EXERCISES = choose(7, 24, forms=tuple(FORMS))
ITEMS = [item(one, look=PRINTED) for one in EXERCISES]
SHEET = Sheet("Lovelace, Ada", "0000002a", True, ITEMS)


def without_answers(one):
    """The question as if it had another answer."""
    right = [option.right for option in one.options]
    options = [
        replace(option, feedback="", right=was)
        for option, was in zip(one.options, [*right[1:], *right[:1]], strict=True)
    ]
    return replace(
        one, options=tuple(options), number=-1.0, mistakes=(), explanation="", solution="", link="https://x.org"
    )


def test_the_sheet_of_a_student_does_not_depend_on_the_answers():
    assert {one.about.form for one in EXERCISES} == {*FORMS}
    sheet = exam([SHEET])
    assert sheet == exam([replace(SHEET, items=list(map(without_answers, ITEMS)))])
    assert sheet.count("<figure>") == sheet.count("viewBox") == 24
    assert sheet.count("Answer:") == sum(not one.options for one in ITEMS)


def test_a_student_has_a_name_on_the_sheet_and_a_version_has_a_line_for_one():
    versions = exam([Sheet(f"Version {letter}", "0000002a", False, ITEMS[:1]) for letter in "AB"])
    assert "Name: Lovelace, Ada</p>" in exam([SHEET])
    assert versions.count('Name:<span class="line"></span>') == 2
    assert "<p>Version B</p>" in versions
    assert "0000002a / 1" in versions
    assert "&lt;script&gt;" in exam([replace(SHEET, name="<script>")])


def test_pictures_are_black_and_white():
    for one in ITEMS:
        for picture in filter(None, (one.picture, one.solution)):
            assert {*re.findall(r'(?:fill|stroke)="(.*?)"', picture)} <= {"#fff", "#000", "#bbb", "none"}


def test_the_key_has_each_answer_with_reasons_and_the_marked_set():
    answers = key([SHEET])
    for exercise, one in zip(EXERCISES, ITEMS, strict=True):
        assert escape(one.explanation) in answers
        for confusion, _value in exercise.choices if one.options else exercise.wrong:
            assert not confusion or escape(feedback(confusion, exercise.case)) in answers
    assert answers.count("<figure>") == sum(one.about.form == MARK for one in EXERCISES)
    first = next(one for one in ITEMS if one.options)
    letter = "ABCD"[[option.right for option in first.options].index(True)]
    assert f"<b>{letter}. {escape(first.answer)}</b>" in answers
    assert f"{letter}. {escape(first.answer)}</li>" in exam([SHEET])
