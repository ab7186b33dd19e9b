"""`make test-oldest` and `make test-newest`: the versions come from pyproject.toml, and the results are in docs/versions.md."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from tools.versions import RESOLUTIONS, pinned_uv, recorded, row

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGE = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if re.match(r"\| 3\.", line)]
REPORT = (
    '<testsuites><testsuite tests="1200" skipped="30" failures="0"/><testsuite tests="5" skipped="1"/></testsuites>'
)


def test_a_row_has_what_the_report_of_pytest_has():
    found = row("oldest", ("3.11.7", "2.2.0+cpu", "1.26.0", "5.24.0"), REPORT, "2026-01-31")
    assert found == "| 3.11 | oldest | 3.11.7 | 2.2.0+cpu | 1.26.0 | 5.24.0 | 1,174 passed, 31 skipped | 2026-01-31 |"


def test_a_row_is_written_in_the_place_of_the_last_one():
    found = "| 3.11 | oldest | a | b | c | d | 1 passed, 0 skipped | today |"
    text = recorded(PAGE, found)
    assert found in text
    assert recorded(text, found.replace("today", "2026-01-31")) == text.replace("today", "2026-01-31")
    assert len(text.splitlines()) == len(PAGE.splitlines())


def test_a_python_that_the_page_does_not_have_is_an_error():
    with pytest.raises(SystemExit, match=re.escape("must have one row that begins with | 2.7 | oldest |")):
        recorded(PAGE, "| 2.7 | oldest | a | b | c | d | 1 passed, 0 skipped | today |")


def test_each_dependency_has_a_lowest_version_and_no_highest_one():
    extras = [one for each in PROJECT["optional-dependencies"].values() for one in each]
    assert all(re.fullmatch(r"[\w-]+(?:\[\w+\])?>=[\d.]+", one) for one in [*PROJECT["dependencies"], *extras])
    assert RESOLUTIONS == {"oldest": "lowest-direct", "newest": "highest"}
    assert re.fullmatch(r"uv==[\d.]+", pinned_uv())


def test_the_oldest_versions_that_were_run_are_those_of_pyproject():
    lowest = dict(one.split(">=") for one in PROJECT["dependencies"])
    rows = [cells for cells in ROWS if cells[1] == "oldest" and cells[2]]
    for _python, _end, _exactly, *versions, result, _date in rows:
        assert "passed" in result
        for name, version in zip(("torch", "numpy", "plotly"), versions, strict=True):
            assert f"{version}.".startswith(f"{lowest[name]}."), name


def test_what_was_not_run_here_is_marked():
    assert ["3.11", "oldest"] in [cells[:2] for cells in ROWS]
    assert {cells[0] for cells in ROWS if cells[1] == "newest"} == {"3.11", "3.12", "3.13", "3.14"}
    assert all("not run" in cells[6] or re.match(r"[\d,]+ passed, [\d,]+ skipped", cells[6]) for cells in ROWS)


def test_what_was_not_run_here_is_run_by_the_workflow():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))["jobs"]
    matrix = jobs["versions"]["strategy"]["matrix"]
    runs = {(python, run) for python in matrix["python"] for run in matrix["run"]}
    runs |= {(one["python"], one["run"]) for one in matrix["include"]}
    assert runs == {(cells[0], f"make test-{cells[1]}") for cells in ROWS}


def test_make_has_both_targets_and_distclean_removes_their_environments():
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for which in RESOLUTIONS:
        assert f"make test-{which} " in listed
        made = subprocess.run(
            ["make", "-n", f"test-{which}"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        assert f"-m tools.versions {which} .venv-{which} " in made
        removed = subprocess.run(
            ["make", "-n", "--no-print-directory", "distclean"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        assert f".venv-{which}" in removed.splitlines()[-1]
        assert f".venv-{which}" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
