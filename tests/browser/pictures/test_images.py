"""Picture files from Python: an exported page in a real browser draws them, so they show what the page shows."""

import asyncio
import re
import signal
import struct
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from choreographer import Browser
from PIL import Image

import normviz as nv
from normviz.export import pictures as drawing
from normviz.export.pictures import save
from normviz.figures.palette import theme
from normviz.figures.wire import sent
from normviz.parts.part import Chart, Panels, Part, flat
from normviz.texts.errors import NormvizError
from tests.support.asgi import run_async
from tests.support.needs import browser_path

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"
VIEWS = {
    # a link, texts of its picture, and how many grids of cells and cubes it has
    "explore": ("/explore?shape=2,3,4,4&layer=GroupNorm(3,3)&at=1,2,0,3&open=values,worked", ["GroupNorm(3, 3) on x of shape (2, 3, 4, 4)", "c = 0", "n = 1", "w →"], 5, 0),
    "compare": ("/compare?shape=2,3,4,4&layers=BatchNorm2d(3);LayerNorm([3,4,4])&at=1,2,0,3", ["BatchNorm2d(3)", "47", "same mean"], 2, 0),
    "cube": ("/compare?shape=2,3,4,4&layers=BatchNorm2d(3);LayerNorm([3,4,4])&at=1,2,0,3&cards=cube", ["BatchNorm2d(3)", "H·W"], 0, 2),
    "steps": ("/step_by_step?step=3", ["squared", "(x − mean)²"], 2, 0),
    "gradients": ("/gradients", ["d output / d x, by autograd", "− 1 / m"], 3, 0),
    "mean": ("/train_and_eval?show=stream", ["running_mean", "true mean", "step"], 0, 0),
    "variance": ("/train_and_eval?show=stream", ["running_var", "step"], 0, 0),
}  # fmt: skip
HOSTILE = "</text><script>alert(1)</script>"
LINKS = list(dict.fromkeys(link for link, *_ in VIEWS.values()))


@pytest.fixture(autouse=True)
def path_of_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER_PATH", browser_path())


def figures(link: str) -> list[Part]:
    return [part for part in flat(nv.open(link).parts) if isinstance(part, Panels | Chart)]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ET.Element]:
    """An SVG of every view, and of one with a hostile title, by its name; one browser draws them all."""
    parts = [part for link in LINKS for part in figures(link)]
    (part,) = figures("/explore?shape=2,3&open=values")
    panels = [replace(panel, title=HOSTILE) for panel in part.data.panels]
    parts.append(Panels(replace(part.data, panels=panels), part.events))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BROWSER_PATH", browser_path())
        files = save(parts, tmp_path_factory.mktemp("pictures") / "a.svg")
    roots = [ET.fromstring(path.read_text(encoding="utf-8")) for path in files]
    return dict(zip([*VIEWS, "hostile"], roots, strict=True))


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


def test_a_picture_has_the_texts_cells_and_cubes_of_its_view_and_a_chart_is_narrower(pictures, subtests):
    for name, (link, words, grids, cubes) in VIEWS.items():
        with subtests.test(name):
            root = pictures[name]
            assert root.find(f"{SVG}rect").get("fill") == theme("light").background
            shown = " ".join(texts(root))
            for word in words:
                assert word in shown
            groups = [group.get("class") for group in root.iter(f"{SVG}g")]
            assert groups.count("nv-cells") == grids
            assert groups.count("nv-over") == grids + cubes
            selected_bricks = [path for path in root.iter(f"{SVG}path") if "nv-here" in (path.get("class") or "")]
            assert bool(selected_bricks) == bool(cubes)
            (part, *_) = figures(link)
            for panel in sent(part.data)["panels"] if isinstance(part, Panels) and name != "steps" else []:
                if panel.get("row", "") not in ("", "cube" if cubes else "stats"):
                    continue  # other cards
                assert panel["title"] in shown
                assert set(panel.get("caption", "").split()) <= set(shown.split())  # a caption may have line breaks
    widths = {name: svg_size(pictures[name])[0] for name in VIEWS}
    assert widths == dict.fromkeys(["explore", "compare", "cube", "steps", "gradients"], 1164) | {
        "mean": 792,
        "variance": 792,
    }


def test_a_browser_that_does_not_answer_that_it_closes_is_ended(tmp_path, monkeypatch):
    closing: list[Browser] = []

    async def never(browser: Browser) -> None:
        closing.append(browser)
        await asyncio.Event().wait()

    monkeypatch.setattr(Browser, "close", never)
    monkeypatch.setattr(drawing, "TO_CLOSE", 0)
    (path,) = save(figures(VIEWS["steps"][0]), tmp_path / "steps.svg")
    assert path.read_text(encoding="utf-8").startswith("<svg")
    assert [browser.subprocess.wait(60) for browser in closing] == [-signal.SIGKILL]


def test_a_png_has_the_requested_width_and_theme(pictures, tmp_path):
    (path,) = save(figures(VIEWS["steps"][0]), tmp_path / "wide.png", theme="dark", width=1101)
    width, height = svg_size(pictures["steps"])
    assert png_size(path) == (1101, round(height * 1101 / width))
    assert len(path.read_bytes()) > 20_000  # a blank picture is far smaller
    pixels = np.asarray(Image.open(path).convert("RGB"))
    edges = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert np.unique(edges, axis=0).tolist() == [[0x10, 0x14, 0x1F]]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["wide.png"]


def test_a_pdf_has_one_page_of_the_size_of_the_picture_even_from_inside_an_event_loop(tmp_path):
    async def notebook() -> list[Path]:
        return save(figures(VIEWS["mean"][0]), tmp_path / "stream.pdf", width=600)

    for path in run_async(notebook()):
        assert path.read_bytes().startswith(b"%PDF-")
        assert b"/Title (Batch" in path.read_bytes()  # what the chart shows
        assert b"/Subtype /Image" not in path.read_bytes()  # vectors
        ((width, height),) = pdf_pages(path)
        assert width == pytest.approx(600, abs=1.5)
        assert 150 < height < 400


def test_hostile_text_stays_text(pictures):
    root = pictures["hostile"]
    assert texts(root).count(HOSTILE) == 5
    assert not list(root.iter(f"{SVG}script"))


def page(pictures: str) -> str:
    return f"<script>normviz = {{ pictures: async () => {pictures} }}</script>"


def draw(html: str, patience: float = 60) -> list[bytes]:
    return drawing.draw(html, "svg", lambda picture: 1.0, browser_path(), patience)


FAILURES = [
    (page("{ throw new Error('no room'); }"), 60, "could not draw the picture: .*no room"),
    ("<p>a page that never answers", 0.5, r"drew no picture in 0.5 s\. Try a smaller tensor"),
]


def test_a_failed_page_gives_a_one_line_error(subtests):
    for html, patience, message in FAILURES:
        with subtests.test(message):
            with pytest.raises(NormvizError, match=message) as caught:
                draw(html, patience)
            assert "\n" not in str(caught.value)
