"""Picture files: their names, how they are written, and what is refused. Their contents: tests/browser/pictures/test_images.py."""

import os
import re
import runpy
import sys

import pytest

import normviz as nv
from normviz.export import pictures
from normviz.export.pictures import NO_BROWSER, Picture, save
from normviz.parts.part import Chart, Panels, Text, flat
from normviz.texts.errors import NormvizError

TWO_CHARTS = nv.open("/train_and_eval?show=stream").parts
ONE_VIEW = nv.open("/?shape=2,3").parts


@pytest.fixture
def fake_images(monkeypatch):
    """Replace each picture by a text: the requested size, and a word about the page."""

    def images(page, kind, scale, width):
        return [
            f"{kind} {number} scale={scale} width={width}".encode() for number in range(page.count('data-figure="'))
        ]

    monkeypatch.setattr(pictures, "_images", images)


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_one_figure_is_one_file(fake_images, tmp_path):
    assert save(ONE_VIEW, tmp_path / "a.png") == [tmp_path / "a.png"]
    assert contents(tmp_path) == {"a.png": "png 0 scale=2 width=None"}


def test_several_figures_are_several_files(fake_images, tmp_path):
    written = save(TWO_CHARTS, str(tmp_path / "page.SVG"), width=500)
    assert written == [tmp_path / "page-1.SVG", tmp_path / "page-2.SVG"]
    assert contents(tmp_path) == {"page-1.SVG": "svg 0 scale=2 width=500", "page-2.SVG": "svg 1 scale=2 width=500"}


def test_a_single_part_can_be_saved(fake_images, tmp_path):
    part = next(part for part in flat(TWO_CHARTS) if isinstance(part, Chart | Panels))
    assert save(part, tmp_path / "a.pdf") == [tmp_path / "a.pdf"]


def test_a_figure_in_a_closed_box_is_saved_too(fake_images, tmp_path):
    assert save(nv.questions("s0").parts, tmp_path / "a.svg") == [tmp_path / "a.svg"]


@pytest.mark.parametrize(
    ("name", "options", "factor"),
    [("a.png", {}, 2), ("a.png", {"scale": 3}, 3), ("a.svg", {}, 1), ("a.png", {"width": 400}, 0.5), ("a.pdf", {"width": 400}, 0.5)],
)  # fmt: skip
def test_a_png_is_twice_as_large_as_the_view_unless_another_size_is_requested(
    tmp_path, monkeypatch, name, options, factor
):
    factors = []

    def draw(page, kind, scale_of, *_):
        factors.append(scale_of(Picture("", 800, 600)))
        return [b""]

    monkeypatch.setattr(pictures, "_browser", lambda: "chromium")
    monkeypatch.setattr(pictures, "draw", draw)
    save(ONE_VIEW, tmp_path / name, **options)
    assert factors == [factor]


def test_an_existing_file_is_replaced(fake_images, tmp_path):
    (tmp_path / "a.pdf").write_text("old")
    save(ONE_VIEW, tmp_path / "a.pdf")
    assert contents(tmp_path) == {"a.pdf": "pdf 0 scale=2 width=None"}


def test_a_failed_write_leaves_no_new_files_and_keeps_the_old_file(fake_images, tmp_path, monkeypatch):
    (tmp_path / "a-1.png").write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(NormvizError, match=r"cannot be written \(No space left on device\)"):
        save(TWO_CHARTS, tmp_path / "a.png")
    assert contents(tmp_path) == {"a-1.png": "old"}


def test_an_interrupted_drawing_leaves_no_file(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(pictures, "_images", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(ONE_VIEW, tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


REFUSED = [
    ("a.jpg", {}, "'.*a.jpg' must end in .png, .svg or .pdf."),
    ("a", {}, "must end in .png, .svg or .pdf."),
    ("not/there/a.png", {}, "there is no directory '.*not/there'"),
    ("a.png", {"theme": "sepia"}, "'sepia' is not a theme; choose light or dark."),
    ("a.png", {"scale": 0}, "scale=0 must be above 0 and at most 8."),
    ("a.png", {"scale": float("nan")}, "scale=nan must be above 0 and at most 8."),
    ("a.png", {"scale": 9}, "scale=9 must be above 0 and at most 8."),
    ("a.png", {"width": 0}, "width=0 must be from 1 to 16,384 pixels."),
    ("a.png", {"width": 10**9}, "width=1000000000 must be from 1 to 16,384 pixels."),
]


@pytest.mark.parametrize(("name", "options", "message"), REFUSED)
def test_invalid_arguments_are_refused_before_anything_is_drawn(tmp_path, monkeypatch, name, options, message):
    monkeypatch.setattr(pictures, "_images", None)
    with pytest.raises(NormvizError, match=message):
        save(ONE_VIEW, tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_is_not_a_file(tmp_path):
    (tmp_path / "a.png").mkdir()
    with pytest.raises(NormvizError, match="is a directory; name a file in it"):
        save(ONE_VIEW, tmp_path / "a.png")


def test_a_page_without_figures_has_no_picture(tmp_path):
    with pytest.raises(NormvizError, match="There is no figure here: this view has only text and tables"):
        save([Text("only words")], tmp_path / "a.png")


def test_a_missing_browser_path_gives_one_line_that_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "no-such-browser"))
    with pytest.raises(NormvizError, match=re.escape(NO_BROWSER)) as caught:
        save(ONE_VIEW, tmp_path / "a.png")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_no_browser_gives_one_line_that_says_what_to_install(tmp_path, monkeypatch):
    from choreographer.browsers.chromium import Chromium

    monkeypatch.delenv("BROWSER_PATH", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(Chromium, "find_browser", lambda **_: None)
    with pytest.raises(NormvizError, match=re.escape(NO_BROWSER)):
        save(ONE_VIEW, tmp_path / "a.png")


@pytest.mark.skipif(os.name == "nt", reason="a shell script is not a program there")
def test_a_browser_that_does_not_start_gives_one_line_that_says_what_to_install(tmp_path, monkeypatch):
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("BROWSER_PATH", str(broken))
    with pytest.raises(NormvizError, match=r"did not start\. Install Chromium or Chrome"):
        save(ONE_VIEW, tmp_path / "a.png")
    assert [path.name for path in tmp_path.iterdir()] == ["chromium"]


def test_without_choreographer_one_line_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "choreographer", None)  # importing it raises ImportError
    monkeypatch.delitem(sys.modules, "normviz.export.pictures", raising=False)
    save_without = runpy.run_path(pictures.__file__)["save"]
    with pytest.raises(NormvizError, match=re.escape('Pictures need choreographer: pip install "normviz[images]".')):
        save_without(ONE_VIEW, tmp_path / "a.png")
