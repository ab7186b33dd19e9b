"""The core tests with other versions: `python -m tools.versions oldest .venv-oldest TESTS`, or `newest`, in an environment of its own.

``oldest`` installs the lowest versions that pyproject.toml allows, extras included, ``newest`` the highest that there are, both from the default index; torch is large.
If all tests pass, the result is printed as a row of the table in docs/versions.md, and with ``--record`` it is written there.
It needs nothing but Python: uv is installed in the environment, in the version that pyproject.toml names.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "versions.md"
RESOLUTIONS = {"oldest": "lowest-direct", "newest": "highest"}
INSTALLED = (
    "import json, platform; from importlib.metadata import version; "
    "print(json.dumps([platform.python_version(), *map(version, ('torch', 'numpy', 'plotly'))]))"
)


def main(which: str, place: str, *arguments: str) -> int:
    """Install, test, and print the row; return the exit code of pytest."""
    tests = [each for each in arguments if each != "--record"]
    python, report = install(which, Path(place)), Path(place, "report.xml").resolve()
    command = [python, "-m", "pytest", "-q", "-m", "not browser", f"--junitxml={report}", *tests]
    code = subprocess.run(command, cwd=ROOT, env=os.environ | {"HYPOTHESIS_PROFILE": "quick"}, check=False).returncode
    if code == 0:
        versions: list[str] = json.loads(subprocess.check_output([python, "-c", INSTALLED], text=True))
        found = row(which, versions, report.read_text(encoding="utf-8"), datetime.now(UTC).date().isoformat())
        print(found)
        if "--record" in arguments:
            TABLE.write_text(recorded(TABLE.read_text(encoding="utf-8"), found), encoding="utf-8")
    return code


def install(which: str, place: Path) -> str:
    """The Python of the environment, with the library and the test tools in these versions."""
    python = str(place / "bin" / "python")
    if not Path(python).exists():
        venv.create(place, with_pip=True)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", pinned_uv()]
    uv = [python, "-m", "uv", "pip", "install", "--upgrade", "--resolution", RESOLUTIONS[which]]
    uv += ["-e", f".[{','.join(project()['project']['optional-dependencies'])}]", "--group", "test"]
    print(f"Installing the {which} versions in {place} (torch is large: several GB the first time) ...", flush=True)
    subprocess.run(pip, check=True)
    subprocess.run([*uv, "--python", python, "--quiet"], cwd=ROOT, check=True)
    return python


def project() -> dict[str, Any]:
    """pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pinned_uv() -> str:
    """uv as pyproject.toml names it: ``"uv==1.2.3"``."""
    return next(each for each in project()["dependency-groups"]["dev"] if str(each).startswith("uv=="))


def row(which: str, versions: Sequence[str], report: str, date: str) -> str:
    """A row of the table, from the versions of Python, torch, NumPy and Plotly and a report of pytest.

    >>> row(
    ...     "oldest",
    ...     ("3.11.7", "2.2.0", "1.26.0", "5.24.0"),
    ...     '<testsuites><testsuite tests="5" skipped="2"/></testsuites>',
    ...     "2026-01-31",
    ... )
    '| 3.11 | oldest | 3.11.7 | 2.2.0 | 1.26.0 | 5.24.0 | 3 passed, 2 skipped | 2026-01-31 |'
    """
    suites = ElementTree.fromstring(report).findall("testsuite")
    tests, skipped = (sum(int(suite.get(name, 0)) for suite in suites) for name in ("tests", "skipped"))
    python = ".".join(versions[0].split(".")[:2])
    result = f"{tests - skipped:,} passed, {skipped:,} skipped"
    return f"| {' | '.join([python, which, *versions, result, date])} |"


def recorded(text: str, found: str) -> str:
    """The page with this row in the place of the row of the same Python and the same end."""
    start = "|".join(found.split("|")[:3])
    changed, count = re.subn(rf"^{re.escape(start)}\|.*$", lambda _: found, text, flags=re.MULTILINE)
    if count != 1:
        raise SystemExit(f"docs/versions.md must have one row that begins with {start}|")
    return changed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
