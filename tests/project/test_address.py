"""The address of the repository is one setting: without it no text names one, with it every place has it (`make address`)."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tools.address import BLOCK, BLOCKS, FILES, NOTEBOOK, main, setting

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "https://github.com/some-one/normviz"
PATHS = [path.relative_to(ROOT) for pattern in FILES for path in sorted(ROOT.glob(pattern))] + [Path(NOTEBOOK)]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that may have the address, and pyproject.toml."""
    for path in (*PATHS, Path("pyproject.toml")):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def texts(root: Path) -> dict[Path, str]:
    return {path: (root / path).read_text(encoding="utf-8") for path in PATHS}


def write(root: Path, *urls: str) -> int:
    """Set the address, or remove the setting, and write it."""
    project = root / "pyproject.toml"
    text = re.sub(r"\[project\.urls\]\n(.+\n)*\n?", "", project.read_text(encoding="utf-8"))
    tables = [f'[project.urls]\nRepository = "{url}"\n\n' for url in urls]
    project.write_text(text.replace("[project.scripts]", f"{''.join(tables)}[project.scripts]"), encoding="utf-8")
    return main(root)


def test_every_text_has_the_address_of_the_setting(copy: Path) -> None:
    before = texts(copy)
    assert main(copy) == 0
    assert texts(copy) == before


def test_every_block_has_its_place() -> None:
    found = [block["name"] for text in texts(ROOT).values() for block in BLOCK.finditer(text)]
    assert set(found) == set(BLOCKS)
    markers = sum(len(re.findall(r"^ *(?:<!--|#) address:", text, re.MULTILINE)) for text in texts(ROOT).values())
    assert len(found) == markers


def test_without_an_address_no_text_names_one(copy: Path) -> None:
    assert write(copy) == 0
    for path, text in texts(copy).items():
        blocks = "".join(block["text"] for block in BLOCK.finditer(text))
        assert "github.com" not in blocks, path
        assert "badge.svg" not in text, path
    assert "install" not in [cell["id"] for cell in json.loads((copy / NOTEBOOK).read_text())["cells"]]
    assert "In a clone of the repository:\n" in (copy / "README.md").read_text()


def test_with_an_address_every_place_has_it_and_removing_it_leaves_nothing(copy: Path) -> None:
    write(copy)
    before = texts(copy)
    assert write(copy, f"{ADDRESS}/") == 0
    assert setting(copy) == ADDRESS
    for text in texts(copy).values():
        assert all(block["name"] == "wheel" or "some-one/normviz" in block["text"] for block in BLOCK.finditer(text))
        assert "{" not in "".join(block["text"] for block in BLOCK.finditer(text))
    readme = (copy / "README.md").read_text()
    assert f"git clone {ADDRESS}\ncd normviz\n" in readme
    assert f"({ADDRESS}/issues/new/choose)" in readme
    assert f"{ADDRESS}/actions/workflows/tests.yml/badge.svg" in readme
    assert (ROOT / ".github" / "workflows" / "tests.yml").exists()
    assert f"colab.research.google.com/github/some-one/normviz/blob/main/{NOTEBOOK})" in readme
    assert f"\nrepository-code: {ADDRESS}\n" in (copy / "CITATION.cff").read_text()
    first = json.loads((copy / NOTEBOOK).read_text())["cells"][0]
    assert f"normviz[notebook] @ {ADDRESS}/archive/refs/heads/main.zip" in "".join(first["source"])
    assert write(copy) == 0
    assert texts(copy) == before


def test_an_address_that_is_not_of_github_changes_nothing(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = texts(copy)
    assert write(copy, "https://example.org/normviz") == 2
    assert texts(copy) == before
    assert "is not like https://github.com/OWNER/REPOSITORY" in capsys.readouterr().err
