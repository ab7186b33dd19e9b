"""The pages of the documentation: what is made from the code is up to date, links lead somewhere, and each fact of a list is there."""

import re
import tomllib
from pathlib import Path

import pytest

import normviz as nv
from tests.project.docs.pages import NAMES, PAGES, ROOT, anchors, blocks
from tools import reference

TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}
DOCS = [page for page in PAGES if page.parent == ROOT / "docs"]
SOURCES = (
    "normviz",
    "app.py",
    "pages",
    "deploy",
    "compose.yaml",
    "Dockerfile",
    "Makefile",
    ".streamlit",
    "CONTRIBUTING.md",
)
OTHER_NAMES = {"STREAMLIT_LOGGER", "STREAMLIT_INTERNAL_KEY_"}  # of modules


def links(text: str) -> list[str]:
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"\]\(([^)\s]+)\)", outside)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_relative_link_of_the_page_leads_to_a_file_and_a_heading(page: Path):
    for link in links(TEXTS[page]):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.rule(
    "Each file of the repository that a page names exists: correct the name; one in capitals, such as PAGE, stands for any"
)
@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_file_that_the_page_names_exists(page: Path):
    named = re.findall(r"`((?:normviz|tests|tools|bench|docs|deploy|examples|pages)/[\w./-]+)`", TEXTS[page])
    assert [path for path in named if not any(ROOT.glob(re.sub(r"\b[A-Z]{3,}\b", "*", path.rstrip("/"))))] == []


@pytest.mark.rule("Each page of docs/ is in the index: add a line to docs/README.md")
def test_every_page_is_in_the_index():
    index = ROOT / "docs" / "README.md"
    assert {f"{page.name}" for page in DOCS} - {index.name} == {link for link in links(TEXTS[index]) if "/" not in link}


@pytest.mark.rule("The parts of docs/ between `made:` and `end` come from the code: make made")
@pytest.mark.parametrize("page", reference.pages(), ids=lambda page: page.name)
def test_what_is_made_from_the_code_is_up_to_date(page: Path):
    text = page.read_text(encoding="utf-8")
    assert reference.updated(text) == text


@pytest.mark.rule("The schema of a check's JSON comes from the code: make made")
def test_the_schema_is_up_to_date():
    assert reference.SCHEMA.read_text(encoding="utf-8") == reference.schema()


@pytest.mark.rule("The reference has every public name: add it to API in tools/reference.py, then make made")
def test_the_api_has_every_public_name():
    named = [name for _title, names in reference.API.values() for name in names]
    assert sorted(named) == sorted([*nv.__all__, "open"])


def test_what_was_on_one_page_of_the_api_has_its_anchor_there():
    """Links to ``api.md#norm`` lead to a line with the link to the entry."""
    there, index = anchors(TEXTS[ROOT / "docs" / "api.md"]), TEXTS[ROOT / "docs" / "api.md"]
    for page, (title, _names) in reference.API.items():
        entries = anchors(TEXTS[ROOT / "docs" / f"{page}.md"]) - {title.lower().replace(" ", "-")}
        assert entries <= there
        assert all(f"]({page}.md#{entry})" in index for entry in entries)
        assert f"## {title}\n" in index


@pytest.mark.rule("docs/settings.md lists every environment variable that the code reads, and no other")
def test_every_variable_of_the_code_is_in_the_settings():
    files = [
        path
        for name in SOURCES
        for path in [ROOT / name, *(ROOT / name).rglob("*")]
        if path.suffix != ".pyc" and path.is_file()
    ]
    code = "".join(path.read_text(encoding="utf-8", errors="ignore") for path in files)
    used = set(re.findall(r"\b(?:NORMVIZ|STREAMLIT)_[A-Z_]+\b", code)) - OTHER_NAMES
    listed = set(
        re.findall(r"`(\w+)`", "".join(re.findall(r"^\| .*$", TEXTS[ROOT / "docs" / "settings.md"], re.MULTILINE)))
    )
    assert {"NORMVIZ_URL", "STREAMLIT_SERVER_PORT"} <= used <= listed
    assert {name for name in listed if name.startswith("NORMVIZ_")} <= used


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_code_stands_in_fences(page: Path):
    """So that a test runs it; an indented line that is no list is a block without a language."""
    text = re.sub(r"^ *```.*?^ *```$", "", TEXTS[page], flags=re.MULTILINE | re.DOTALL)
    assert not re.findall(r"(?:^|\n)\n {4}(?! *[-\d]).*", text)


@pytest.mark.rule("The tree in CONTRIBUTING lists each package in the order of the layers in pyproject.toml")
def test_the_map_of_the_code_lists_the_package_in_the_order_of_its_imports():
    (tree,) = [block.text for block in blocks(TEXTS[ROOT / "CONTRIBUTING.md"]) if block.text.startswith("app.py")]
    listed = re.findall(r"^  (\w+)(?:/|\.py) ", tree, re.MULTILINE)
    entries = {path.stem for path in (ROOT / "normviz").iterdir() if not path.name.startswith("__")} - {"py"}
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    order = re.findall(r"\w+", " ".join(contract["layers"]))
    assert set(listed) == entries == {*order, "bundles", "locale"}  # which have no Python
    level = {name: number for number, names in enumerate(contract["layers"]) for name in re.findall(r"\w+", names)}
    assert [level[name] for name in listed if name in level] == sorted(level.values(), reverse=True)


@pytest.mark.rule("requirements.txt and the group dev pin versions that the ranges in pyproject.toml allow")
def test_the_exact_versions_of_the_repository_are_in_the_ranges_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pinned = [one for one in project["dependency-groups"]["dev"] if isinstance(one, str)]
    pinned += re.findall(r"^[\w\[\]-]+==\S+", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    exact = dict(one.partition(";")[0].split("==") for one in pinned)
    extras = project["project"]["optional-dependencies"].values()
    for one in (*project["project"]["dependencies"], *(each for extra in extras for each in extra)):
        name, lowest = one.split(">=")
        assert _numbers(lowest) <= _numbers(exact[name]), one


def _numbers(version: str) -> list[int]:
    return list(map(int, version.split(".")))


def test_the_first_screen_of_the_readme_has_a_picture_an_install_and_a_result():
    lines = TEXTS[ROOT / "README.md"].splitlines()
    assert len(lines) < 100
    first = "\n".join(lines[:30])
    assert "![" in first
    assert "\nnormviz app\n" in first
    picture = ROOT / re.findall(r"!\[[^\]]+\]\(([^)]+)\)", first)[0]
    assert picture.stat().st_size < 500_000


@pytest.mark.rule("normviz/__version__.py, CHANGELOG.md and CITATION.cff name the same version and date")
def test_the_version_is_that_of_the_changelog_and_of_the_citation():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", changes, re.MULTILINE)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [released[0][0]] == [nv.__version__]
    assert re.findall(r"^date-released: \"?([\d-]+)\"?$", citation, re.MULTILINE) == [released[0][1]]
    assert changes.index("## [Unreleased]") < changes.index(f"## [{released[0][0]}]")
