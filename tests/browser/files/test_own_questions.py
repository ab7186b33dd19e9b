"""A teacher's own questions as a page: reasons of wrong options, and texts as Markdown that runs nothing."""

import pytest
from playwright.sync_api import expect

from normviz.export.sets import PracticeSet, content
from normviz.lessons.practice.own import read_questions

pytestmark = pytest.mark.browser
QUESTIONS = """
questions:
  - text: Which has **running** statistics? <img src=x onerror="document.title='run'">
    options:
      - text: LayerNorm
        why: It normalizes *each* example alone.
      - "`BatchNorm`"
    answer: "`BatchNorm`"
    explanation: It has *buffers*.
"""


def test_a_wrong_option_is_answered_with_its_reason(new_tab, tmp_path):
    own = read_questions(QUESTIONS, "mine.yaml")
    file = tmp_path / "own.html"
    file.write_bytes(content("html", PracticeSet("Week 3", own.exercises)))
    page = new_tab()
    page.goto(file.as_uri())
    expect(page.locator(".nv-exercise-prompt strong")).to_have_text("running")
    page.get_by_label("LayerNorm").check()
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".nv-exercise-hint em")).to_have_text("each")
    page.get_by_label("BatchNorm").check()
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".nv-exercise-feedback em")).to_have_text("buffers")
    page.get_by_role("button", name="Summary").click()
    expect(page.locator(".nv-practice-answers")).to_contain_text("LayerNorm, then BatchNorm")
    assert page.locator("main img").count() == 0
    assert page.title() != "run"
