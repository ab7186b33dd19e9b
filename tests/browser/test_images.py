"""Picture files from Python, drawn by a real browser."""

import asyncio
import struct
import xml.etree.ElementTree as ET
from pathlib import Path

import plotly.graph_objects as go
import pytest

from normviz import explain
from normviz.export.pictures import save
from tests.browser.alone import parts_of
from tests.needs import browser_path

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", autouse=True)
def chromium() -> None:
    """Without a browser there is nothing to test, and that is said aloud."""
    browser_path()


@pytest.fixture(autouse=True)
def path_of_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER_PATH", browser_path())


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])


def test_a_figure_becomes_a_png_of_its_size_twice(tmp_path: Path) -> None:
    figure = explain("LayerNorm([3, 4, 4])", (2, 3, 4, 4)).figure()
    (path,) = save(figure, tmp_path / "a.png")
    assert size(path.read_bytes()) == (2 * figure.layout.width, 2 * figure.layout.height)
    assert len(path.read_bytes()) > 20_000  # a blank one is far smaller
    assert [file.name for file in tmp_path.iterdir()] == ["a.png"]


def test_a_width_is_the_width_of_the_file(tmp_path: Path) -> None:
    (path,) = save(explain("LayerNorm(3)", (2, 3)).figure("dark"), tmp_path / "a.png", width=1920)
    assert size(path.read_bytes())[0] == 1920


def test_an_svg_has_the_words_of_the_view(tmp_path: Path) -> None:
    (part,) = parts_of("compare", "layers=BatchNorm2d(3);LayerNorm([3,4,4])&at=1,2,0,3")
    (path,) = save(part, tmp_path / "a.svg")
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    said = {"".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"c = 0", "n = 1", "w →", "47"} <= said
    assert any(text.startswith("BatchNorm2d(3)") for text in said)
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))


def test_two_charts_become_two_pdfs(tmp_path: Path) -> None:
    written = save(parts_of("train_and_eval", "show=stream"), tmp_path / "stream.pdf", theme="dark")
    assert [path.name for path in written] == ["stream-1.pdf", "stream-2.pdf"]
    for path in written:
        assert path.read_bytes().startswith(b"%PDF-")


def test_hostile_words_stay_words(tmp_path: Path) -> None:
    figure = explain("LayerNorm(3)", (2, 3)).figure()
    figure.layout.annotations[0].text = "&lt;script&gt;alert(1)&lt;/script&gt;"
    (path,) = save(figure, tmp_path / "a.svg")
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    assert "<script>alert(1)</script>" in {"".join(node.itertext()) for node in root.iter()}
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))


def test_an_event_loop_that_runs_is_left_alone(tmp_path: Path) -> None:
    async def notebook() -> list[Path]:
        return save(go.Figure(go.Bar(y=[1, 2])), tmp_path / "a.png")

    assert asyncio.run(notebook()) == [tmp_path / "a.png"]
