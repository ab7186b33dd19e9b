"""A new page is one value: this adds one, and sees it in the app, in links, in Share, in a file and in the API of events."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from normviz.export.links import output_of_query, page_and_query
from normviz.export.output import Choices
from normviz.lessons import pages
from normviz.lessons.events import after
from normviz.lessons.page import ControlRow, Page
from normviz.lessons.pages import PAGES, page_view, view_of_link
from normviz.lessons.share.panel import share_data
from normviz.parts.part import Sentence
from normviz.scene.setting import choice
from normviz.texts.messages import N_

# What a new page touches: its folder in lessons/ (page.py has this value), a line in the list of pages, its file in pages/, and its texts.
COLORS = choice("color", {"red": "Red", "blue": "Blue"}, label=N_("Color"), about="the color", example="blue")
TOY = Page(
    "toy",
    N_("Toy"),
    N_("A page of a test."),
    lambda view: [Sentence(f"The color is {view.settings['color']}.")],
    (COLORS,),
    rows=lambda _view: (ControlRow("", ((COLORS,),)),),
    uses="nothing",
    file_choices=(("color",),),
)


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(PAGES, "toy", TOY)
    return TOY


def test_its_links_read_back_and_name_what_is_wrong(toy):
    view = view_of_link(toy, "color=blue&hide=color")
    assert (view.settings, view.problem, toy.query(view)) == (
        {"color": "blue"},
        None,
        {"color": "blue", "hide": "color"},
    )
    assert "choose red or blue" in view_of_link(toy, "color=green").problem
    assert page_and_query("/toy?color=blue") == ("toy", {"color": "blue"})


def test_its_control_is_an_event(toy):
    view = view_of_link(toy, "")
    assert after(toy, view, {"name": "input", "key": "color", "value": 1}).settings == {"color": "blue"}


def test_share_offers_its_control_and_its_parts(toy):
    found = share_data(page_view(toy, view_of_link(toy, "")))
    names = [one["name"] for group in found["groups"] for one in group["names"]]
    assert (found["page"], found["title"], names) == ("toy", "Toy", ["color", "sentence"])


def test_a_file_answers_its_control(toy):
    answers = output_of_query("toy", {}).with_(choices=Choices()).answers()
    assert len(answers["views"]) == 2


def test_the_app_shows_it(toy):
    def script():
        from normviz.ui.page import show
        from normviz.ui.state import enter

        enter("toy")
        show("toy")

    app = AppTest.from_function(script, default_timeout=60).run()
    assert not app.exception
    (control,) = app.get("button_group")
    assert control.options == ["Red", "Blue"]


def test_every_page_has_one_file_and_one_line_in_the_list():
    root = Path(pages.__file__).parents[2]
    assert [path.stem for path in sorted((root / "pages").glob("*.py"))] == sorted(PAGES)
    assert {path.parent.name for path in (root / "normviz" / "lessons").glob("*/page.py")} == {*PAGES}
    listed = [text for text in Path(pages.__file__).read_text(encoding="utf-8").splitlines() if text.endswith(".PAGE,")]
    assert len(listed) == len(PAGES) - 1  # the front page lists the others
