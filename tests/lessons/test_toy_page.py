"""A new page is one value: this adds one, and sees it in the app, in links, in Share, in a file and in the API of events.

A page with a figure and experiments of its own is a folder and its line in the list of pages: this adds one to a copy of the package.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from normviz.export.links import output_of_query, page_and_query
from normviz.export.output import Choices
from normviz.figures.wire import sent
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
    found = sent(share_data(page_view(toy, view_of_link(toy, ""))))
    names = [one["name"] for group in found["groups"] for one in group["names"]]
    assert (found["page"], found["title"], names) == ("toy", "Toy", ["color", "sentence"])


def test_a_file_answers_its_control(toy):
    answers = output_of_query("toy", {}).with_(choices=Choices()).answers()
    assert len(answers["views"]) == 2


def test_the_app_shows_it(toy):
    def script():
        from normviz.ui.page import show
        from normviz.ui.session import session
        from normviz.ui.state import enter

        enter(session(), "toy")
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
    assert len(listed) == len(PAGES) - 2  # the front page and For teachers are made from the list


# A page with a figure and two experiments, one of them with a setting of its own.
PAGE = """
from normviz.figures.charts import chart, line
from normviz.lessons.page import ControlRow, Experiment, Page, in_files, settings_of, shown_by
from normviz.parts.part import Chart, Sentence
from normviz.scene.setting import Number, integer
from normviz.texts.messages import N_


def squares_parts(view):
    numbers, power = list(range(view.settings["count"])), view.settings["power"]
    yield Sentence(f"There are {len(numbers)} squares.")
    yield Chart("squares", chart([line("n²", numbers, [n**power for n in numbers], "accent")], "n", "n²"), "Squares.")


COUNT = integer("count", 2, 256, 3, "2 3 4 256", in_file=("3", "4")).described(N_("Count"), N_("how many"), "4")
POWER = integer("power", 1, 4, 2, widget=Number(1, 4)).described(N_("Power"), N_("the exponent"), "3")  # in no file
EXPERIMENTS = (
    Experiment("nothing", N_("Nothing"), lambda view: [Sentence("Nothing is drawn.")], "q7", needs=""),
    Experiment("squares", N_("Squares"), squares_parts, "q24", (COUNT, POWER), needs="seed"),
)
SETTINGS = settings_of(EXPERIMENTS, example="squares")
PAGE = Page(
    "toy", "Toy", "A page of a test.", shown_by(EXPERIMENTS), SETTINGS, EXPERIMENTS,
    rows=lambda _view: (ControlRow("", (SETTINGS,)),), uses="seed", file_choices=(in_files(SETTINGS),),
)
"""
PROGRAM = """
import normviz as nv
from normviz.lessons.pages import PAGES, controls, page_view, setting_names, view_of_link

page = PAGES["toy"]
print(nv.open("/toy?count=4").figure().data[0].y)
for query in ("", "count=4", "show=nothing&count=4"):
    view = view_of_link(page, query)
    made = page_view(page, view)
    print(view.settings, view.problem, page.query(view), sorted(made.hideable), page.asks(view))
print(*(page.ignored({"show": show, "count": 3, "power": 2}, ["seed", "layer"]) for show in ("nothing", "squares")))
print("toy" in setting_names(), "count" in setting_names(), controls()["experiment"], page.share_title(view), page.file_choices)
print(len(nv.open("/toy").with_(choices=nv.Choices()).answers()["views"]))
"""
PRINTED = """
(0, 1, 4, 9)
{'show': 'nothing', 'count': 3, 'power': 2} None {} ['experiment', 'sentence'] q7
{'show': 'squares', 'count': 4, 'power': 2} None {'show': 'squares', 'count': '4'} ['count', 'experiment', 'panels', 'power', 'sentence'] q24
{'show': 'nothing', 'count': 4, 'power': 2} count=4 has no effect with show='nothing'; it belongs to show='squares'. {} ['experiment', 'sentence'] q7
seed has no effect on toy(show='nothing'); leave it out. layer has no effect on toy(show='squares'); leave it out.
False True Experiment Toy: Nothing (('show', 'set_count'),)
3
"""


def test_a_page_with_a_figure_and_experiments_is_a_folder_and_its_line_in_the_list(tmp_path):
    package, lessons = Path(pages.__file__).parents[1], tmp_path / "normviz" / "lessons"
    lessons.mkdir(parents=True)
    for folder, left_out in ((package, "lessons"), (package / "lessons", "pages.py")):
        for path in folder.iterdir():
            if path.name != left_out:
                (tmp_path / path.relative_to(package.parent)).symlink_to(path)
    (lessons / "toy").mkdir()
    (lessons / "toy" / "page.py").write_text(PAGE)
    listed = (package / "lessons" / "pages.py").read_text()
    imported = listed.replace(
        "from normviz.lessons.tours", "from normviz.lessons.toy import page as toy\nfrom normviz.lessons.tours", 1
    )
    (lessons / "pages.py").write_text(
        imported.replace("    practice.PAGE,\n", "    practice.PAGE,\n    toy.PAGE,\n", 1)
    )
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == PRINTED.removeprefix("\n")
