"""Picture files from Python: an exported page in a real browser draws them, so they show what the page shows."""

import asyncio
import re
import struct
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import normviz as nv
from normviz.export import chromium
from normviz.export.pictures import save
from normviz.figures.palette import theme
from normviz.layers.errors import NormvizError
from normviz.lessons.parts.part import Panels, flat
from tests.needs import browser_path

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def path_of_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER_PATH", browser_path())


def svg_size(root: ET.Element) -> tuple[int, int]:
    return int(root.get("width", "")), int(root.get("height", ""))


def png_size(path: Path) -> tuple[int, int]:
    start = path.read_bytes()[:24]
    assert start.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", start[16:])


def pdf_pages(path: Path) -> list[tuple[float, float]]:
    """The width and height of each page, in CSS pixels."""
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", path.read_bytes())
    return [(float(width) * 96 / 72, float(height) * 96 / 72) for width, height in boxes]


def texts(root: ET.Element) -> list[str]:
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


VIEWS = [
    # a link, its theme, texts of it, and how many grids of cells and cubes it has
    ("/?layer=GroupNorm(3,3)&at=1,2,0,3", "dark", ["GroupNorm(3, 3) on x of shape (2, 3, 4, 4)", "c = 0", "n = 1", "w →"], 5, 0),
    ("/compare?layers=BatchNorm2d(3);LayerNorm([3,4,4])&at=1,2,0,3", "light", ["BatchNorm2d(3)", "47", "H·W"], 4, 2),
    ("/step_by_step?step=3", "light", ["squared", "(x − mean)²"], 2, 0),
    ("/gradients", "dark", ["d output / d x, by autograd", "δᵢⱼ"], 4, 0),
]  # fmt: skip


@pytest.mark.parametrize(("link", "scheme", "words", "grids", "cubes"), VIEWS)
def test_an_svg_has_the_texts_cells_and_cubes_of_the_view_in_its_theme(link, scheme, words, grids, cubes, tmp_path):
    (path,) = save(nv.open(link).parts, tmp_path / "a.svg", theme=scheme)
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    assert root.find(f"{SVG}rect").get("fill") == theme(scheme).background
    assert svg_size(root)[0] == 1164  # the page's widest figure, and 16 pixels on each side
    shown = " ".join(texts(root))
    (part,) = [part for part in flat(nv.open(link).parts) if isinstance(part, Panels)][:1]
    titles = [panel["title"] for panel in part.data["panels"]] if part.data["kind"] != "steps" else []
    for word in (*words, *titles):
        assert word in shown
    groups = [group.get("class") for group in root.iter(f"{SVG}g")]
    assert groups.count("nv-cells") == grids
    assert sum("nv-fill nv-top nv-here" in (path.get("class") or "") for path in root.iter(f"{SVG}path")) <= cubes
    assert groups.count("nv-over") == grids + cubes


def test_charts_have_their_lines_and_legends(tmp_path):
    written = save(nv.open("/train_and_eval?show=stream").parts, tmp_path / "stream.svg", theme="dark")
    assert [path.name for path in written] == ["stream-1.svg", "stream-2.svg"]
    roots = [ET.fromstring(path.read_text(encoding="utf-8")) for path in written]
    assert {"running_mean", "true mean", "step"} <= set(texts(roots[0]))
    assert {"running_var", "step"} <= set(texts(roots[1]))
    assert [svg_size(root)[0] for root in roots] == [792, 792]
    assert (
        theme("dark").accent in written[0].read_text(encoding="utf-8") or "rgb(255, 176, 0)" in written[0].read_text()
    )


def test_a_png_has_the_pixels_that_are_asked_for(tmp_path):
    parts = nv.open("/?shape=2,3").parts
    (svg,) = save(parts, tmp_path / "a.svg")
    width, height = svg_size(ET.fromstring(svg.read_text(encoding="utf-8")))
    (twice,) = save(parts, tmp_path / "twice.png")
    assert png_size(twice) == (2 * width, 2 * height)
    assert len(twice.read_bytes()) > 20_000  # a blank picture is far smaller
    (wide,) = save(parts, tmp_path / "wide.png", width=1920)
    assert png_size(wide) == (1920, round(height * 1920 / width))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svg", "twice.png", "wide.png"]


def test_a_pdf_has_one_page_of_the_size_of_the_picture(tmp_path):
    for path in save(nv.open("/train_and_eval?show=stream").parts, tmp_path / "stream.pdf", width=600):
        assert path.read_bytes().startswith(b"%PDF-")
        ((width, height),) = pdf_pages(path)
        assert width == pytest.approx(600, abs=1.5)
        assert 150 < height < 400


def test_a_figure_in_a_closed_box_is_drawn_too(tmp_path):
    (path,) = save(nv.questions("s0").parts, tmp_path / "a.svg")
    assert "nv-cells" in path.read_text(encoding="utf-8")


def test_hostile_text_stays_text(tmp_path):
    hostile = "</text><script>alert(1)</script>"
    (part, *_) = (part for part in flat(nv.open("/?shape=2,3").parts) if isinstance(part, Panels))
    panels = [panel | {"title": hostile} for panel in part.data["panels"]]
    (path,) = save(Panels(part.data | {"panels": panels}, part.events), tmp_path / "a.svg")
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    assert texts(root).count(hostile) == 5
    assert not list(root.iter(f"{SVG}script"))


def test_a_running_event_loop_is_left_alone(tmp_path):
    async def notebook() -> list[Path]:
        return save(nv.open("/?shape=2,3").parts, tmp_path / "a.svg")

    assert asyncio.run(notebook()) == [tmp_path / "a.svg"]


FAILURES = [
    (
        "<script>normviz = { pictures: () => { throw new Error('no room') } }</script>",
        60,
        "could not draw the picture: .*no room",
    ),
    ("<p>a page that never answers", 5, "drew no picture in 5 s. Try a smaller tensor"),
]


@pytest.mark.parametrize(("page", "patience", "message"), FAILURES)
def test_a_page_that_fails_is_one_line(page, patience, message):
    with pytest.raises(NormvizError, match=message):
        chromium.draw(page, "svg", lambda picture: 1.0, browser_path(), patience)
