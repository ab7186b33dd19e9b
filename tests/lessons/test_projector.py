"""What a projector shows: the figure, a whole question, an exercise without its clock; never a list of questions or an article."""

import pytest

from normviz.lessons.pages import PAGES, page_view
from normviz.parts.part import Panels, flat

PRESENT = "present=true"


def shown(page, query=""):
    return page_view(PAGES[page], PAGES[page].view(query))


@pytest.mark.parametrize("page", PAGES)
def test_every_page_but_the_lists_has_something_to_show(page):
    assert shown(page).has_figure == (page not in ("questions", "story", "teach"))
    assert bool(shown(page, PRESENT).parts)


def test_a_question_is_shown_with_its_answer_but_without_links_to_others():
    question, projected = shown("questions", "q=s0"), shown("questions", f"q=s0&{PRESENT}")
    assert projected.has_figure
    kinds = [type(part).__name__ for part in projected.parts]
    assert kinds == ["Heading", "Text", "Prediction"]
    assert set(kinds) < {type(part).__name__ for part in question.parts}
    answer = list(flat(projected.parts[-1].children))
    assert any(isinstance(part, Panels) for part in answer)
    assert not any(type(part).__name__ == "Links" for part in answer)


def test_what_a_link_hides_stays_hidden():
    assert [type(part).__name__ for part in shown("questions", f"q=s0&hide=text&{PRESENT}").parts] == ["Prediction"]


def test_an_exercise_is_shown_without_the_clock_and_the_choice_of_others():
    (practice,) = shown("practice", f"seed=7&{PRESENT}").parts
    assert not practice.timed
    assert not practice.controls
