"""Known vulnerabilities of what is installed: `python -m tools.audit` asks the OSV database, by pip-audit.

A vulnerability fails. Where the database cannot be reached, or does not answer in time, nothing is audited: this says so and exits 0.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from tempfile import TemporaryDirectory

DATABASE = "https://api.osv.dev/v1/query"
PATIENCE = 5  # s, for one answer
MOST = 120  # s, for all of them
HARMLESS = {"package": {"name": "normviz", "ecosystem": "PyPI"}, "version": "0.0.0"}


def main(database: str = DATABASE, *where: str) -> int:
    """Audit this environment, or the packages in the folders ``where``; answers the exit code."""
    if not _answers(database):
        return _skipped(f"{database} cannot be reached")
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        "--vulnerability-service",
        "osv",
        "--osv-url",
        database,
        "--skip-editable",
    ]
    command += ["--progress-spinner", "off", "--timeout", str(PATIENCE), "--format", "json"]
    command += [word for folder in where for word in ("--path", folder)]
    try:
        with TemporaryDirectory() as cache:
            done = subprocess.run([*command, "--cache-dir", cache], capture_output=True, text=True, timeout=MOST)
        found = json.loads(done.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        return _skipped(f"{database} did not answer within {MOST} s")
    except ValueError:
        return _skipped((done.stderr.strip().splitlines() or ["pip-audit told nothing"])[-1])
    bad = [package for package in found if package.get("vulns")]
    for package in bad:
        for one in package["vulns"]:
            mended = ", ".join(one["fix_versions"]) or "no version"
            print(f"{package['name']} {package['version']}: {one['id']}, mended in {mended}", file=sys.stderr)
    asked = sum("skip_reason" not in package for package in found)
    print(f"{asked} packages audited, {len(bad)} of them with a known vulnerability.")
    return 1 if bad else 0


def _answers(database: str) -> bool:
    question = urllib.request.Request(database, json.dumps(HARMLESS).encode())
    try:
        with urllib.request.urlopen(question, timeout=PATIENCE) as answer:
            json.load(answer)
    except (OSError, ValueError):  # no network, a refusal, or another page than the database's
        return False
    return True


def _skipped(why: str) -> int:
    print(f"DEPENDENCIES NOT AUDITED: {why}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
