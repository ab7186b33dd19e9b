"""Tours: every shipped tour opens without an error, its captions are true, and a wrong file gets a clear message."""

import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from normviz.analysis.description import describe
from normviz.export.links import output_of_query, tour_output
from normviz.export.tour_file import stop_parts, tour_data, tour_of
from normviz.figures.wire import sent
from normviz.lessons.events import after
from normviz.lessons.pages import PAGES, page_of, page_view, view_of_link
from normviz.lessons.tours import Tour, read_tour, stop_link, tour_bar, tours
from normviz.parts.html import Body
from normviz.parts.part import Panels, Problem, TourBar
from normviz.scene.view import Display
from normviz.texts.errors import NormvizError
from tests.support.needs import whole

STOPS = [(name, number) for name, tour in tours().items() for number in range(1, len(tour.stops) + 1)]


def view_of(name, number):
    stop = tours()[name].stops[number - 1]
    return view_of_link(PAGES[stop.page], stop.query)


@pytest.mark.parametrize(("name", "number"), STOPS)
def test_every_stop_shows_its_view_without_an_error(name, number):
    tour = tours()[name]
    bar, *parts = stop_parts(tour, number)
    assert bar.caption == tour.stops[number - 1].caption
    assert not [part for part in parts if isinstance(part, Problem)]
    link = stop_link(tour, number, "")
    shown = page_view(PAGES[link.page], view_of_link(PAGES[link.page], link.query))
    assert [part for part in shown.parts if isinstance(part, TourBar)]
    assert not [part for part in shown.parts if isinstance(part, Problem)]


def counts(name, number):
    return view_of(name, number).scene.description.counts


# What the captions say, computed by torch: tour, stop, the number of statistics or what holds.
STATISTICS = [
    ("normalized-shape", 1, 2 * 3 * 4),
    ("normalized-shape", 2, 6),
    ("normalized-shape", 3, 2),
    ("normalized-shape", 4, 2 * 3 * 4),
    ("normalized-shape", 5, 2),
    ("from-batchnorm-to-layernorm", 1, 4),
    ("from-batchnorm-to-layernorm", 2, 2 * 4),
    ("from-batchnorm-to-layernorm", 3, 2 * 2),
    ("from-batchnorm-to-layernorm", 4, 2),
    ("from-batchnorm-to-layernorm", 5, 2),
    ("from-batchnorm-to-layernorm", 6, 2 * 4 * 3),
    ("from-batchnorm-to-layernorm", 7, 2 * 4 * 3),
]


@pytest.mark.parametrize(("name", "number", "statistics"), STATISTICS)
@whole
def test_a_view_has_the_groups_of_its_caption(name, number, statistics):
    assert counts(name, number).statistics == statistics


@pytest.mark.parametrize("name", tours())
def test_a_tour_keeps_one_tensor_of_different_sizes_begins_with_a_prediction_and_says_its_minutes(name):
    tour = tours()[name]
    shown = [view_of(name, number) for number in range(1, len(tour.stops) + 1)]
    uses = [view for view, stop in zip(shown, tour.stops, strict=True) if "shape=" in stop.query]
    (shape,) = {view.scene.shape for view in uses}
    assert len(uses) > len(tour.stops) / 2
    assert len(set(shape)) == len(shape)
    asked, told = re.fullmatch(r"Predict: (.+\?) \*\*(.+)\*\*", tour.stops[0].caption).groups()
    assert not any("**" in stop.caption for stop in tour.stops[1:])
    counted = re.findall(r"\d+", told.partition(".")[0])
    assert counted == ([str(counts(name, 1).statistics)] if asked.startswith("how many means") else [])
    (bar,) = [
        part
        for part in page_view(PAGES["explore"], view_of_link(PAGES["explore"], f"tour={name}")).parts
        if isinstance(part, TourBar)
    ]
    assert bar.title == f"{tour.title}: {tour.minutes} minutes"


@pytest.mark.parametrize("minutes", ["0", "many", "-3", "999999", "2.5"])
def test_minutes_are_a_whole_number(minutes):
    text = f"title: t\nminutes: {minutes}\nstops:\n  - link: /explore\n"
    with pytest.raises(
        NormvizError, match=rf"the tour 'a': minutes='{minutes}' must be a whole number from 1 to 240\."
    ):
        read_tour(text, "a")
    assert read_tour(text.replace(minutes, "12"), "a").minutes == 12


def test_layernorm_over_everything_differs_from_one_group_only_in_its_parameters():
    one_group, layernorm = (view_of("from-batchnorm-to-layernorm", number).scene.description for number in (4, 5))
    assert (one_group.stat_ids == layernorm.stat_ids).all()
    assert (one_group.counts.parameters, layernorm.counts.parameters) == (2 * 4, 2 * 4 * 3 * 5)


@whole
def test_rmsnorm_subtracts_no_mean():
    assert not view_of("from-batchnorm-to-layernorm", 7).scene.description.norm.center


def test_gamma_does_not_depend_on_the_batch_size():
    assert {describe("LayerNorm([3, 4, 5])", (n, 3, 4, 5)).counts.parameters for n in (1, 2, 7)} == {2 * 3 * 4 * 5}


def test_a_tour_begins_with_a_link_to_its_first_stop():
    shown = page_view(PAGES["explore"], view_of_link(PAGES["explore"], "tour=normalized-shape"))
    (bar,) = [part for part in shown.parts if isinstance(part, TourBar)]
    assert (bar.number, bar.before) == (0, None)
    assert "stop=1&present=true" in bar.after.query
    assert bar.leave.query == "shape=2,3,4,5&layer=LayerNorm([5])&at=1,2,0,3"
    assert any(row.inputs for row in shown.rows)


def opened(name, query):
    """The page and the view that a link opens, and the bar of its tour."""
    page = page_of(name, query)
    view = view_of_link(page, query)
    (bar,) = [part for part in page_view(page, view).parts if isinstance(part, TourBar)]
    return page.name, view, bar


@pytest.mark.parametrize("name", ["explore", "numerics"])
@pytest.mark.parametrize(("tour", "number"), [*STOPS, *((name, 0) for name in tours())])
@pytest.mark.parametrize("more", [{}, {"present": "true", "hide": "code"}], ids=["", "shown"])
def test_a_link_that_names_only_the_stop_opens_its_view(name, tour, number, more):
    stop = tours()[tour].stops[max(number, 1) - 1]
    page, view, bar = opened(name, {"tour": tour, "stop": str(number)} | more)
    own = view_of_link(PAGES[stop.page], stop.query)
    assert (page, view.scene, view.settings) == (stop.page, own.scene, own.settings)
    assert (bar.number, bar.caption) == (number, stop.caption if number else "")
    assert view.problem is None


def test_a_number_after_the_last_stop_opens_the_last_one():
    tour = tours()["from-batchnorm-to-layernorm"]
    page, view, bar = opened("explore", {"tour": tour.name, "stop": "50"})
    assert (page, view.settings["layers"][0]) == ("compare", "BatchNorm2d(4)")
    assert bar.caption == tour.stops[-1].caption


@pytest.mark.parametrize(
    ("name", "query", "layer"),
    [
        ("explore", "shape=2,3,4,4&layer=GroupNorm(3,3)", "GroupNorm(3, 3)"),
        ("explore", "shape=4,6", "LayerNorm([6])"),
        ("step_by_step", "shape=2,3,4,4&layer=BatchNorm2d(3)", "BatchNorm2d(3)"),
    ],
)
def test_a_view_of_its_own_stays_and_the_caption_of_the_stop_says_nothing_about_it(name, query, layer):
    tour = tours()["from-batchnorm-to-layernorm"]
    page, view, bar = opened(name, dict(parse_qsl(f"tour={tour.name}&stop=1&{query}")))
    assert (page, str(view.scene.layer)) == (name, layer)
    assert (bar.number, bar.caption) == (1, "")
    assert tour.title in bar.html(Body(app=""))


def test_another_element_of_the_stop_keeps_its_caption():
    tour = tours()["from-batchnorm-to-layernorm"]
    _page, view, bar = opened("explore", {"tour": tour.name, "stop": "1", "at": "0,1,2,2"})
    assert (str(view.scene.layer), view.scene.at) == ("BatchNorm2d(4)", (0, 1, 2, 2))
    assert bar.caption == tour.stops[0].caption


@pytest.mark.parametrize("name", ["explore", "train_and_eval"])
def test_the_default_view_within_a_tour_reads_back(name):
    page, tour = PAGES[name], tours()["train-and-eval"]
    number = next(number for number, stop in enumerate(tour.stops, 1) if stop.page == name)
    default = replace(view_of_link(page, ""), display=Display(tour=tour.name, stop=number))
    for view in (default, after(page, default, {"name": "select", "at": (0, 1, 2, 1)})):
        read = view_of_link(page, page.query(view))
        assert (read.scene, read.settings) == (view.scene, view.settings)


def test_back_to_the_start_shows_the_stop():
    page, query = PAGES["explore"], {"tour": "from-batchnorm-to-layernorm", "stop": "2"}
    other = view_of_link(page, query | {"shape": "4,6"})
    assert after(page, other, {"name": "reset"}) == view_of_link(page, query)


@pytest.mark.parametrize("tour", tours().values(), ids=tours())
def test_no_two_stops_show_the_same_view(tour):
    views = []
    for number in range(1, len(tour.stops) + 1):
        view = view_of(tour.name, number)
        views.append((tour.stops[number - 1].page, replace(view.scene, at=None), view.settings))
    assert [views.index(view) for view in views] == list(range(len(views)))


def test_a_link_to_a_stop_opens_as_a_file():
    assert output_of_query("explore", {"tour": "from-batchnorm-to-layernorm", "stop": "8"}).page == "compare"


def test_a_projector_shows_the_figure_without_controls():
    shown = page_view(PAGES["explore"], view_of_link(PAGES["explore"], "tour=normalized-shape&stop=2&present=true"))
    assert not any(row.inputs or row.reset for row in shown.rows)
    assert [type(part).__name__ for part in shown.parts] == ["TourBar", "Sentence", "Panels"]
    (figure,) = [part for part in shown.parts if isinstance(part, Panels)]
    assert {"x", "normalized", "output"} <= set(figure.data.hidden)


def test_an_unknown_tour_is_a_message():
    shown = page_view(PAGES["explore"], view_of_link(PAGES["explore"], "tour=nowhere"))
    assert "tour='nowhere' is unknown; choose from-batchnorm-to-layernorm" in shown.parts[0].text


@pytest.mark.parametrize(("number", "has_back", "has_next"), [(1, False, True), (2, True, True), (9, True, False)])
def test_the_bar_links_to_the_neighbors(number, has_back, has_next):
    bar = tour_bar(tours()["normalized-shape"], number)
    assert (bool(bar.before), bool(bar.after), bar.number <= bar.count) == (has_back, has_next, True)


GOOD = "title: Mine\nstops:\n  - link: /compare?layers=LayerNorm(4);BatchNorm2d(3)\n    caption: Two\n      lines.\n"


def test_a_custom_tour_is_a_file_of_links_with_captions(tmp_path):
    (tmp_path / "mine.yaml").write_text(GOOD)
    tour = tour_of(str(tmp_path / "mine.yaml"))
    assert (tour.name, tour.title, tour.stops[0].page, tour.stops[0].caption) == (
        "mine",
        "Mine",
        "compare",
        "Two lines.",
    )
    data = sent(tour_data(tour))
    assert [view["query"] for view in data["views"]] == [{"stop": "1"}]
    html = tour_output(tour).to_html(plotlyjs="cdn")
    assert "<title>Mine · normviz</title>" in html
    assert re.search(r'class="nv-tour-caption"[^>]*>Two lines\.', html)


@pytest.mark.parametrize("app", ["", "https://example.org/lab"])
def test_a_view_that_is_no_stop_is_a_link_to_the_app_and_without_an_app_it_is_not_offered(app):
    tour = read_tour("title: T\nstops: [{link: '/?shape=2,4,4,4&layer=LayerNorm(4)'}, {link: /compare}]", "mine")
    data = sent(tour_data(tour, app))
    addresses = re.findall(r'href=\\?"([^"\\]*)', json.dumps(data))
    assert {"#stop=1", "#stop=2"} <= set(addresses)
    others = [address for address in addresses if not address.startswith("#stop=")]
    assert bool(others) == bool(app)
    assert all(address.startswith(f"{app}/") for address in others)


def test_a_text_that_yaml_takes_for_something_else_is_a_text():
    text = 'title: 2024-99-99\nstops: [{link: /, caption: 1e5}, {link: /, caption: no}, {link: /, caption: "a\\ud800"}]'
    tour = read_tour(text, "mine", PAGES)
    assert (tour.title, [stop.caption for stop in tour.stops]) == ("2024-99-99", ["1e5", "no", "a\ud800"])
    tour_output(tour).to_html().encode()


WRONG = [
    (f"title: T\nstops: {'[' * 900}", "the tour 'mine' is not YAML"),
    ('title: "\\U00110000"', "the tour 'mine' is not YAML"),
    ('title: "\\U99999999"', "the tour 'mine' is not YAML"),
    ("title: T\nstops: [{link: 'http://[::1/?x'}]", "stop 1: link='http://[::1/?x' is not a web address"),
    (f"title: T\nstops: {'9' * 5000}", "must have a title and 1 to 99 stops"),
    ("title: T\nstops: [{x: 2024-99-99}]", "stop 1 must have a link and a caption"),
    ("a: [", "is not YAML"),
    ("- 1", "must have a title and 1 to 99 stops"),
    ("title: T\nstops: []", "must have a title and 1 to 99 stops"),
    ("title: T\nstops: [3]", "stop 1 must have a link and a caption"),
    ("title: T\nstops: [{link: /x}]", "stop 1: link='/x' does not name a page; choose start, story, explore, compare"),
    ("title: T\nstop: []\nstops: [{link: /}]", "mine, line 2: 'stop' is not a key here. Did you mean stops?"),
    (
        "title: T\nstops:\n- link: /\n- link: /\n  captoin: a",
        "mine, line 5: 'captoin' is not a key here. Did you mean caption?",
    ),
    ("title: T\nstops: [{link: /, 4: a}]", "mine, line 2: '4' is not a key here; choose link or caption."),
    ("title: T\ntitle: T\nstops: [{link: /}]", "mine, line 2: 'title' is given twice; give it once."),
    ("title: T\nstops: &a [{link: /}, *a]", "the tour 'mine' is not YAML"),
    (f"title: T\nstops: [{{link: /, caption: {'x' * 301}}}]", "caption of up to 300 characters"),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=range(len(WRONG)))
def test_a_file_that_is_not_a_tour_says_what_a_tour_is(text, message):
    with pytest.raises(NormvizError, match=re.escape(message)):
        read_tour(text, "mine", PAGES)


def test_a_stop_with_an_invalid_link_says_which_one():
    tour = Tour("mine", "T", read_tour("title: T\nstops: [{link: /, caption: a}, {link: '/?shape=0'}]", "mine").stops)
    with pytest.raises(NormvizError, match=r"stop 2: .*shape"):
        tour_data(tour)


@pytest.mark.parametrize(("name", "message"), [("nowhere", "is unknown; choose"), ("nowhere.yaml", "cannot be read")])
def test_a_tour_that_does_not_exist_is_an_error(name, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NormvizError, match=f"nowhere.*{message}"):
        tour_of(name)


def test_a_tour_that_is_not_utf_8_says_how_to_save_it(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_bytes("title: Qué\nstops: [{link: '/explore', caption: a}]".encode("latin-1"))
    with pytest.raises(NormvizError, match=r"mine\.yaml, line 1 is not UTF-8; save the file as UTF-8\."):
        tour_of(str(file))


def test_a_stop_needs_a_figure():
    tour = read_tour("title: T\nstops: [{link: '/questions', caption: a}]", "mine")
    with pytest.raises(NormvizError, match="stop 1: questions shows no figure"):
        tour_data(tour)


DOCS = Path(__file__).parents[2] / "docs" / "tours.md"


def test_the_guide_lists_every_tour_and_its_example_is_one():
    text = DOCS.read_text(encoding="utf-8")
    assert re.findall(r"^\| `([\w-]+)` \| (.+) \| (\d+) \|$", text, re.MULTILINE) == [
        (tour.name, tour.title, str(tour.minutes)) for tour in tours().values()
    ]
    (example,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert len(tour_data(read_tour(example, "lesson")).views) == 2
