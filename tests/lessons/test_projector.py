"""What a projector shows: the figure, a whole question, an exercise without its clock; never a list of questions or an article."""

import pytest

from normviz.export.links import output_of_query
from normviz.export.output import Choices
from normviz.export.tour_file import tour_data
from normviz.lessons.pages import PAGES, join_part, page_view
from normviz.lessons.tours import tours
from normviz.parts.html import Body
from normviz.parts.part import Panels, flat, qr_code

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


APP = "https://normviz.example.org"
ADDRESSES = [
    ("explore", "shape=2,4,3,5&layer=GroupNorm(2,4)&at=1,2,0,3", "/explore?layer=GroupNorm(2,4)&at=1,2,0,3"),
    ("compare", "", "/compare"),
    ("questions", "q=s0&guess=one", "/questions?q=s0"),
    ("explore", "tour=normalized-shape&stop=2", "/explore?shape=2,3,4,5&layer=LayerNorm([4,5])&at=1,2,0,3"),
    ("explore", "hide=code&caption=Look", "/explore?hide=code&caption=Look"),
]


@pytest.mark.parametrize(("page", "query", "address"), ADDRESSES)
def test_students_get_the_same_view_by_an_address_without_defaults_the_tour_and_the_answer(page, query, address):
    view = PAGES[page].view(f"{query}&{PRESENT}")
    join = join_part(PAGES[page], view)
    assert join.link.address == address
    opened = PAGES[page].view(join.link.query)
    assert (opened.scene, opened.settings | {"guess": ""}) == (view.scene, view.settings | {"guess": ""})
    html = join.html(Body(app=APP))
    assert f'data-bits="{qr_code(APP + address)}"' in html
    assert f"<p>normviz.example.org{address.replace('&', '&amp;')}</p>" in html
    assert join.html(Body(app="")) == join.html(Body()) == ""


def test_a_qr_code_has_its_three_corners_and_an_address_that_no_phone_could_scan_has_none():
    bits = bin(int(qr_code(f"{APP}/explore"), 16))[2:]
    size = round(len(bits) ** 0.5)
    rows = [bits[n * size : (n + 1) * size] for n in range(size)]
    corner = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
    assert len(bits) == size**2
    assert [row[:7] for row in rows[:7]] == [row[-7:] for row in rows[:7]] == [row[:7] for row in rows[-7:]] == corner
    long = join_part(PAGES["explore"], PAGES["explore"].view({"caption": "n" * 300, "hide": "code," * 80})).html(
        Body(app=APP * 12)
    )
    assert "nv-qr" not in long
    assert "<p>" in long


def test_files_have_the_address_only_if_they_know_the_app():
    tour = tours()["normalized-shape"]
    assert [str(tour_data(tour, app).pool).count("nv-join") for app in (APP, "")] == [len(tour.stops), 0]
    page = output_of_query("numerics", {})
    texts = [str(page.with_(choices=Choices(app=app, few=True)).answers()["pool"]) for app in (APP, "")]
    assert ["nv-join" in text for text in texts] == [True, False]
