"""Types of the browser's code: `python -m tools.javascript_types` runs TypeScript's checker, which npm fetches.

A type error fails. If npm is missing, or cannot fetch TypeScript, nothing is checked: the command says so and exits 0, or 1 under CI=true.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

TYPESCRIPT = "typescript@7.0.2"
TIMEOUT = 180  # s, to fetch it


def main() -> int:
    """Check all that tsconfig.json includes; return the exit code."""
    npm = shutil.which("npm")
    if npm is None:
        return _skip("npm is not installed")
    tsc = [npm, "exec", "--yes", "--prefer-offline", f"--package={TYPESCRIPT}", "--", "tsc"]
    try:
        fetched = subprocess.run([*tsc, "--version"], capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return _skip(f"npm did not fetch {TYPESCRIPT} within {TIMEOUT} s")
    if fetched.returncode:
        return _skip(f"npm cannot fetch {TYPESCRIPT}: {fetched.stderr.strip().splitlines()[:1]}")
    checked = subprocess.run([*tsc, "--project", "tsconfig.json"], cwd=Path(__file__).parents[1]).returncode
    if not checked:
        print("The types of the JavaScript are right.")
    return checked


def _skip(reason: str) -> int:
    print(f"JAVASCRIPT TYPES NOT CHECKED: {reason}.")
    return int(os.environ.get("CI") == "true")


if __name__ == "__main__":
    sys.exit(main())
