"""Pictures of every page, and what happens where none can be written. Real files: tests/browser/test_images.py."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import plotly.graph_objects as go
import pytest

from normviz.export import pictures as images
from normviz.export.pictures import NO_BROWSER, picture, pictures, save
from normviz.figures import Cube, theme
from normviz.figures.labels import plain
from normviz.layers.errors import NormvizError
from normviz.lessons.compare import page as compare
from normviz.lessons.compare.ready_sets import READY_SETS
from normviz.lessons.pages import PAGES
from normviz.lessons.parts.part import Chart, Panels, Text, flat
from normviz.scene.grid import grid

VIEWS = [
    ("explore", ""),
    ("explore", "shape=4,6&layer=BatchNorm1d(6)"),
    ("explore", "shape=3,4,5&layer=RMSNorm([4,5])&at=none"),
    ("compare", "layers=BatchNorm2d(3);LayerNorm([3,4,4]);InstanceNorm2d(3)"),
    ("step_by_step", "step=3"),
    *[("train_and_eval", f"show={show}&layer=BatchNorm2d(3)") for show in ("stream", "modes", "batches", "sequences")],
    *[("gradients", f"show={show}") for show in ("column", "matrix", "parameters")],
    *[("numerics", f"show={show}") for show in ("variance", "eps", "constant", "single", "placement")],
]


def figures_of(page, query):
    return [part for part in flat(PAGES[page].parts(PAGES[page].view(query))) if isinstance(part, Panels | Chart)]


def check(part, name):
    """The picture of a part has its numbers, and the theme's colours."""
    figure, colours = picture(part, name), theme(name)
    assert type(figure) is go.Figure
    assert figure.layout.paper_bgcolor == colours.background
    assert json.loads(figure.to_json())
    if isinstance(part, Chart):
        for made, given in zip(figure.data, part.lines.data, strict=True):
            np.testing.assert_array_equal(made.y, given["y"])
            key, _, at = given["meta"]["colour"].partition(".")
            wanted = getattr(colours, key)[int(at)] if at else getattr(colours, key)
            assert wanted in (made.marker.color, made.line.color if made.type == "scatter" else None)
        return
    cells = [trace for trace in figure.data if trace.type == "heatmap" and trace.name != "veil"]
    panels = [panel for panel in part.panels() if not isinstance(panel, Cube)]
    for trace, panel in zip(cells, panels, strict=True):
        np.testing.assert_array_equal(trace.z, panel.z)
        assert trace.meta == panel.key
        assert (trace.zmin, trace.zmax) == (panel.low, panel.high)
    marks = [shape for shape in figure.layout.shapes if shape.line.color == colours.accent]
    assert len(marks) == (0 if part.data["at"] is None else len(cells))
    cubes = [panel.key for panel in part.panels() if isinstance(panel, Cube)]
    assert list(dict.fromkeys(shape.name for shape in figure.layout.shapes if shape.name)) == cubes


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize(("page", "query"), VIEWS)
def test_every_figure_of_every_page_has_a_picture(page, query, name):
    found = figures_of(page, query)
    assert found
    for part in found:
        check(part, name)


def test_the_views_are_of_all_pages():
    assert {page for page, _ in VIEWS} == set(PAGES)


@pytest.mark.parametrize("key", READY_SETS)
def test_every_ready_made_set_has_a_picture_that_names_its_layers(key):
    ready = READY_SETS[key]
    comparison = ready.comparison
    e = comparison.explanations[0]
    part = compare.panels(comparison, grid(e.shape, e.axes), tuple(size - 1 for size in e.shape))
    check(part, "light")
    said = [annotation.text for annotation in picture(part).layout.annotations]
    assert said[0] == f"<b>x of shape {ready.shape}</b>"
    for one in comparison.explanations:
        assert any(text.replace("<br>", " ").startswith(f"<b>{plain(one.title)}</b>") for text in said)


def test_the_picture_of_a_layer_says_which_on_what():
    (part,) = figures_of("explore", "shape=6&layer=LayerNorm(6)")
    assert picture(part).layout.annotations[0].text == "<b>LayerNorm([6]) on x of shape (6,)</b>"


def test_two_charts_are_two_pictures():
    assert len(pictures(figures_of("train_and_eval", "show=stream"))) == 2


def bytes_of(figures, kind, scales):
    return [f"{kind} {number} at {scale}".encode() for number, scale in enumerate(scales)]


@pytest.fixture
def no_drawing(monkeypatch):
    monkeypatch.setattr(images, "_drawn", bytes_of)


def test_one_figure_is_one_file(no_drawing, tmp_path):
    assert save(go.Figure(), tmp_path / "a.png") == [tmp_path / "a.png"]
    assert (tmp_path / "a.png").read_bytes() == b"png 0 at 2"
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


def test_several_figures_are_several_files(no_drawing, tmp_path):
    written = save(figures_of("train_and_eval", "show=stream"), tmp_path / "page.SVG")
    assert [path.name for path in written] == ["page-1.SVG", "page-2.SVG"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page-1.SVG", "page-2.SVG"]


def test_a_width_in_pixels_sets_the_scale(no_drawing, tmp_path):
    save(go.Figure(layout={"width": 500}), tmp_path / "a.png", width=1500)
    assert (tmp_path / "a.png").read_bytes() == b"png 0 at 3.0"


def test_a_vector_picture_has_no_pixels_to_scale(no_drawing, tmp_path):
    save(go.Figure(), tmp_path / "a.svg", scale=2)
    assert (tmp_path / "a.svg").read_bytes() == b"svg 0 at 1.0"


def test_a_file_that_is_there_is_replaced_and_has_usual_rights(no_drawing, tmp_path):
    (tmp_path / "a.pdf").write_text("old")
    save(go.Figure(), str(tmp_path / "a.pdf"))
    (tmp_path / "b").write_text("")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"pdf")
    assert (tmp_path / "a.pdf").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_where_writing_fails_nothing_is_left_and_the_old_file_stays(no_drawing, tmp_path, monkeypatch):
    (tmp_path / "a-1.png").write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(NormvizError, match=r"cannot be written: No space left on device\."):
        save(figures_of("train_and_eval", "show=stream"), tmp_path / "a.png")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a-1.png", "old")]


def test_where_drawing_is_interrupted_nothing_is_left(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(images, "_drawn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(go.Figure(), tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


REFUSED = [
    ("a.jpg", {}, "path='.*a.jpg' must end in .png, .svg or .pdf."),
    ("a", {}, "must end in .png, .svg or .pdf."),
    ("not/there/a.png", {}, "cannot be written; name a file in a folder that exists"),
    ("a.png", {"scale": 0}, "scale=0 must be above 0 and at most 8."),
    ("a.png", {"scale": float("nan")}, "scale=nan must be above 0 and at most 8."),
    ("a.png", {"scale": 9}, "scale=9 must be above 0 and at most 8."),
    ("a.png", {"width": 0}, "width=0 must be from 1 to 16,384 pixels."),
    ("a.png", {"width": 10**9}, "width=1000000000 must be from 1 to 16,384 pixels."),
]


@pytest.mark.parametrize(("name", "options", "message"), REFUSED)
def test_what_cannot_be_written_is_refused_before_anything_is_drawn(tmp_path, monkeypatch, name, options, message):
    monkeypatch.setattr(images, "_drawn", None)
    with pytest.raises(NormvizError, match=message):
        save(go.Figure(), tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "a.png").mkdir()
    with pytest.raises(NormvizError, match="cannot be written"):
        save(go.Figure(), tmp_path / "a.png")


def test_text_alone_makes_no_picture(tmp_path):
    with pytest.raises(NormvizError, match="there is no figure here; a view of text"):
        save([Text("only words")], tmp_path / "a.png")


def test_without_a_browser_one_line_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "no-such-browser"))
    with pytest.raises(NormvizError, match=re.escape(NO_BROWSER)) as caught:
        save(go.Figure(), tmp_path / "a.png")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_without_any_browser_on_the_path_too(tmp_path, monkeypatch):
    from choreographer.browsers.chromium import Chromium

    monkeypatch.delenv("BROWSER_PATH", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(Chromium, "find_browser", lambda **_: None)
    with pytest.raises(NormvizError, match=r"none was found; install one \(Debian: apt install chromium;"):
        save(go.Figure(), tmp_path / "a.png")


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
def test_a_browser_that_does_not_start_is_one_line_too(tmp_path, monkeypatch):
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("BROWSER_PATH", str(broken))
    with pytest.raises(NormvizError, match="did not start; install Chromium or Chrome"):
        save(go.Figure(), tmp_path / "a.png")
    assert [path.name for path in tmp_path.iterdir()] == ["chromium"]


def test_without_kaleido_one_line_says_what_to_install(tmp_path):
    program = (
        "import sys, importlib.util as u; found = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'kaleido' else found(name, *rest)\n"
        "import plotly.graph_objects as go\n"
        "from normviz.layers.errors import NormvizError\n"
        "from normviz.export.pictures import save\n"
        "try: save(go.Figure(), sys.argv[1])\n"
        "except NormvizError as error: print(error)\n"
        "print('kaleido' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.png")], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["pictures need kaleido: pip install 'normviz[images]'.", "False"]
