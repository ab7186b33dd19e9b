"""``make quick`` runs the tests of what a branch changes."""

import subprocess
from pathlib import Path

import pytest

from tools import changed
from tools.changed import CORE, ELSEWHERE, ROOT, own_tests, selected


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("normviz/measuring/reasons.py", "tests/measuring/test_check.py"),
        ("normviz/scene/view.py", "tests/scene/test_view.py"),
        ("normviz/lessons/explore/explore.css", "tests/lessons/explore/test_page.py"),
        ("normviz/figures/browser/common/plotly.ts", "tests/figures/test_palette.py"),
        ("normviz/locale/en/questions/s0.md", "tests/lessons/questions"),
        ("normviz/locale/es/LC_MESSAGES/normviz.po", "tests/locale"),
        ("tools/audit.py", "tests/project/tools/test_audit.py"),
        ("tests/layers/test_norm.py", "tests/layers/test_norm.py"),
        ("README.md", "tests/project/docs/test_blocks.py::test_every_block_of_the_page_runs[README.md]"),
    ],
)
def test_a_file_has_the_tests_of_its_folder(path, test):
    assert test in own_tests(path)


def test_every_test_that_is_named_exists():
    named = [*CORE, *(test for tests in ELSEWHERE.values() for test in tests)]
    assert [test for test in named if not (ROOT / test.partition("::")[0]).exists()] == []


def test_each_test_runs_once_and_the_core_always():
    assert selected([]) == [*CORE]
    found = selected(["normviz/locale/es/glossary.md", "normviz/locale/pt/glossary.md", "LICENSE"])
    assert found == [*(test for test in CORE if not test.startswith("tests/locale/")), "tests/locale"]


def test_what_is_removed_or_belongs_to_everything_has_no_tests_of_its_own():
    assert selected(
        ["tests/gone/test_it.py", "docs/gone.md", "normviz/gone/it.py", "docs/conf.py", "tests/conftest.py"]
    ) == [*CORE]


def test_a_branch_has_its_commits_and_what_is_not_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(changed, "ROOT", tmp_path)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]

    def commit(name: str) -> None:
        (tmp_path / name).touch()
        subprocess.run([*git, "add", name], cwd=tmp_path, check=True)
        subprocess.run([*git, "commit", "--quiet", "--message", name], cwd=tmp_path, check=True)

    subprocess.run([*git, "init", "--quiet", "--initial-branch=main"], cwd=tmp_path, check=True)
    commit("old.py")
    subprocess.run([*git, "switch", "--quiet", "--create", "mine"], cwd=tmp_path, check=True)
    commit("new.py")
    (tmp_path / "old.py").write_text("x = 1\n")
    (tmp_path / "newest.py").touch()
    assert changed.changed() == ["new.py", "old.py", "newest.py"]
