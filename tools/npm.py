"""The programs of package-lock.json, TypeScript and esbuild, as npm installs them into node_modules. Only who changes the browser's code needs them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT = 180  # s, for the download


class NpmError(Exception):
    """The packages cannot be installed."""


def programs(root: Path = ROOT) -> Path:
    """The folder of the programs, which npm fills first if it is missing or older than the lock. Raises NpmError if npm cannot do so."""
    found, lock = root / "node_modules" / ".bin", root / "package-lock.json"
    made = root / "node_modules" / ".package-lock.json"  # npm writes it last
    if made.is_file() and made.stat().st_mtime >= lock.stat().st_mtime:
        return found
    npm = shutil.which("npm")
    if npm is None:
        raise NpmError("npm is not installed")
    command = [npm, "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--fetch-retries=0"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise NpmError(f"npm did not fetch the packages within {TIMEOUT} s") from None
    if done.returncode:
        raise NpmError(f"npm cannot fetch the packages: {''.join(done.stderr.strip().splitlines()[:1])}")
    made.touch()
    return found


def without(what: str, error: NpmError) -> int:
    """Say what is not done; return the exit code: 0, or 1 under CI=true."""
    print(f"{what}: {error}.")
    return int(os.environ.get("CI") == "true")
