"""Audit packages: `python -m tools.audit` looks up known vulnerabilities in the OSV database with pip-audit, for the packages that are
installed here and those of the image (requirements.lock).

The command fails if a package has a vulnerability. If the database cannot be reached or is too slow, it says so and exits with 0.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory

DATABASE = "https://api.osv.dev/v1/query"
REQUEST_TIMEOUT = 5  # s, per request
TIMEOUT = 120  # s, for the whole audit
LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"
PROBE = {"package": {"name": "normviz", "ecosystem": "PyPI"}, "version": "0.0.0"}


def main(database: str = DATABASE, *places: str) -> int:
    """Audit this environment and the image, or the folders and files of pinned packages in ``places``; return the exit code."""
    if not _responds(database):
        return _skip(f"{database} cannot be reached")
    return max(_audit(database, place) for place in places or ("", str(LOCK)))


def _audit(database: str, place: str) -> int:
    """Audit a folder, a file, or for "" this environment; return the exit code."""
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
    command += ["--progress-spinner", "off", "--timeout", str(REQUEST_TIMEOUT), "--format", "json"]
    if Path(place).is_file():
        command += ["--requirement", place, "--require-hashes", "--disable-pip"]
    elif place:
        command += ["--path", place]
    try:
        with TemporaryDirectory() as cache:
            done = subprocess.run([*command, "--cache-dir", cache], capture_output=True, text=True, timeout=TIMEOUT)
        found = json.loads(done.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        return _skip(f"{database} did not answer within {TIMEOUT} s")
    except ValueError:
        return _skip((done.stderr.strip().splitlines() or ["pip-audit printed nothing"])[-1])
    vulnerable = [package for package in found if package.get("vulns")]
    for package in vulnerable:
        for vulnerability in package["vulns"]:
            fixed = ", ".join(vulnerability["fix_versions"]) or "no version"
            print(f"{package['name']} {package['version']}: {vulnerability['id']}, fixed in {fixed}", file=sys.stderr)
    audited = sum("skip_reason" not in package for package in found)
    named = f" of {Path(place).name}" if Path(place).is_file() else ""
    print(f"{audited} packages{named} audited, {len(vulnerable)} of them with a known vulnerability.")
    return 1 if vulnerable else 0


def _responds(database: str) -> bool:
    request = urllib.request.Request(database, json.dumps(PROBE).encode())
    try:
        with urllib.request.urlopen(request, timeout=REQUEST_TIMEOUT) as response:
            json.load(response)
    except (OSError, ValueError):  # no network, an HTTP error, or a response that is not JSON
        return False
    return True


def _skip(reason: str) -> int:
    print(f"DEPENDENCIES NOT AUDITED: {reason}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
