"""The address of the repository is one setting: without it no text names one, with it every place has it (`make address`)."""

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from tools.address import BLOCK, BLOCKS, FILES, NOTEBOOK, _changes, elsewhere, main, setting

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "https://github.com/some-one/normviz"
PATHS = [path.relative_to(ROOT) for pattern in FILES for path in sorted(ROOT.glob(pattern))] + [Path(NOTEBOOK)]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that may have the address."""
    for path in PATHS:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def texts(root: Path) -> dict[Path, str]:
    return {path: (root / path).read_text(encoding="utf-8") for path in PATHS}


def write(root: Path, *urls: str) -> int:
    """Set the address, or remove the setting, and write it."""
    project = root / "pyproject.toml"
    setting = "".join(f'Repository = "{url}"\n' for url in urls)
    text = re.sub(r'^Repository = ".*"\n', "", project.read_text(encoding="utf-8"), flags=re.MULTILINE)
    project.write_text(text.replace("[project.urls]\n", f"[project.urls]\n{setting}"), encoding="utf-8")
    return main(root)


@pytest.mark.rule("Every text has the address that pyproject.toml sets: make address")
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
    urls = tomllib.loads((copy / "pyproject.toml").read_text())["project"]["urls"]
    assert set(urls) == {"Repository", "Changelog", "Documentation", "Issues"}
    assert all(one.startswith(f"{ADDRESS}/") for one in urls.values())
    assert f"\n[Unreleased]: {ADDRESS}/compare/v" in (copy / "CHANGELOG.md").read_text()
    assert f"\nrepository-code: {ADDRESS}\n" in (copy / "CITATION.cff").read_text()
    first = json.loads((copy / NOTEBOOK).read_text())["cells"][0]
    assert f"normviz[notebook] @ {ADDRESS}/archive/refs/heads/main.zip" in "".join(first["source"])
    assert write(copy) == 0
    assert texts(copy) == before


def test_an_address_that_is_not_of_github_changes_nothing(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = texts(copy)
    assert write(copy, "https://example.org/normviz") == 2
    setting = Path("pyproject.toml")
    assert texts(copy) | {setting: ""} == before | {setting: ""}
    assert "is not like https://github.com/OWNER/REPOSITORY" in capsys.readouterr().err


def test_each_version_of_the_changelog_leads_to_what_is_new_in_it() -> None:
    links = _changes("## [Unreleased]\n## [0.2.0] - 2026-12-01\n## [0.1.0] - 2026-11-26\n", ADDRESS).splitlines()
    assert links == [
        f"[Unreleased]: {ADDRESS}/compare/v0.2.0...HEAD",
        f"[0.2.0]: {ADDRESS}/compare/v0.1.0...v0.2.0",
        f"[0.1.0]: {ADDRESS}/releases/tag/v0.1.0",
    ]


def test_elsewhere_links_are_absolute_or_their_labels() -> None:
    text = "![A b](docs/a.gif) [Install](docs/install.md#colab), [torch](https://pytorch.org)"
    assert elsewhere(text, "") == " Install, [torch](https://pytorch.org)"
    assert elsewhere(text, ADDRESS) == (
        f"![A b]({ADDRESS}/raw/main/docs/a.gif) [Install]({ADDRESS}/blob/main/docs/install.md#colab), [torch](https://pytorch.org)"
    )
