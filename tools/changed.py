"""Run the tests of what a branch changes (``make quick``): ``python -m tools.changed ARGUMENTS OF PYTEST``.

They are those of the folders of ``tests/`` that belong to the changed files (a folder within has files of its own), and a small core, whatever was
changed. A branch begins where it left main, that of the remote ``origin`` if there is one; what is not committed belongs to it, too.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = (
    "tests/layers/test_norm.py",
    "tests/analysis/test_forward.py",
    "tests/scene/test_old_links.py",
    "tests/api/test_arguments.py",
    "tests/measuring/test_mistakes.py",
    "tests/locale/test_translations.py",
    "tests/project/docs/test_pages.py",
    "tests/project/test_types.py::test_the_types_are_up_to_date",
    "tests/project/tools/test_payload_types.py",
)
# What has no folder of its own in tests/, by the beginning of its path
ELSEWHERE = {
    "normviz/locale/en/questions/": ("tests/lessons/questions", "tests/claims"),
    "normviz/locale/en/": ("tests/claims", "tests/texts"),
    "normviz/locale/": ("tests/locale",),
    "normviz/bundles/": ("tests/scripts",),
    "app.py": ("tests/ui",),
    "pages/": ("tests/ui",),
    "bench/": ("tests/project/bench",),
    "deploy/": ("tests/deploy/test_files.py",),
    "compose.yaml": ("tests/deploy/test_files.py",),
    "Dockerfile": ("tests/deploy/test_files.py", "tests/deploy/test_image.py"),
    ".github/": ("tests/project/test_publishing.py", "tests/project/test_versions.py"),
    "pyproject.toml": ("tests/project/test_versions.py", "tests/project/test_address.py"),
    "MANIFEST.in": ("tests/export/test_wheel.py",),
    "setup.py": ("tests/export/test_wheel.py",),
}


def changed() -> list[str]:
    """The files that the branch adds or changes."""
    main = next((name for name in ("origin/main", "main") if _git("rev-parse", "--verify", "--quiet", name)), "HEAD")
    (start,) = _git("merge-base", "HEAD", main)
    return [*_git("diff", "--name-only", start), *_git("ls-files", "--others", "--exclude-standard")]


def _git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()


def own_tests(path: str) -> list[str]:
    """The tests of a file.

    >>> own_tests("normviz/export/files.py")[:3], own_tests("normviz/locale/es/glossary.md"), own_tests("LICENSE")
    (['tests/export/test_document.py', 'tests/export/test_escaping.py', 'tests/export/test_files.py'], ['tests/locale'], [])
    """
    if path.startswith("tests/"):
        own = path if Path(path).name.startswith("test_") else Path(path).parent.as_posix()
        return [own] if own not in ("tests", "tests/support") else []
    if re.fullmatch(r"docs/[\w-]+\.md|README\.md|CONTRIBUTING\.md", path):
        return [f"tests/project/docs/test_blocks.py::test_every_block_of_the_page_runs[{path}]"]
    found = next((tests for begin, tests in ELSEWHERE.items() if path.startswith(begin)), None)
    if found is not None:
        return [*found]
    folder = {"normviz": "tests", "tools": "tests/project/tools"}.get(path.partition("/")[0])
    if folder is None or "/" not in path:
        return []
    place, own = Path(folder, *Path(path).parts[1:-1]), Path(folder, *Path(path).parts[1:]).with_suffix("")
    while not (ROOT / place).is_dir():  # a script in browser/, say, has the tests of the folder above
        place = place.parent
    beside = sorted(each.relative_to(ROOT).as_posix() for each in (ROOT / place).glob("test_*.py"))
    return [*beside, *([own.as_posix()] if (ROOT / own).is_dir() else [])]


def selected(paths: Iterable[str]) -> list[str]:
    """The core and the tests of these files, each once: none is within a folder that is also there."""
    found = list(
        dict.fromkeys([*CORE, *(test for path in paths if (ROOT / path).exists() for test in own_tests(path))])
    )
    folders = tuple(f"{test}/" for test in found)
    return [test for test in found if not test.startswith(folders)]


if __name__ == "__main__":
    tests = selected(changed())
    print("Tests of what has changed, and the core:", *tests, sep="\n  ", flush=True)
    sys.exit(subprocess.call([sys.executable, "-m", "pytest", *sys.argv[1:], *tests], cwd=ROOT))
