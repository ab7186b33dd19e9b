"""What npm has: TypeScript and esbuild of package-lock.json, which only who changes the browser's code needs, and packages that tests need."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from base64 import b64encode
from hashlib import sha512
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
    flags = ("--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--fetch-retries=0")
    _npm(root, "the packages", "ci", *flags)
    made.touch()
    return found


def unpacked(name: str, version: str, integrity: str, folder: Path) -> Path:
    """A package in a folder, without what it depends on: tests need files of it. Raises NpmError if npm cannot fetch it, or fetches another one.

    integrity  npm's sha512
    """
    _npm(
        folder,
        name,
        "pack",
        f"{name}@{version}",
        f"--pack-destination={folder}",
        "--prefer-offline",
        "--fetch-retries=0",
    )
    packed = folder / f"{name}-{version}.tgz"
    if b64encode(sha512(packed.read_bytes()).digest()).decode() != integrity:
        raise NpmError(f"npm's {name}@{version} does not have the pinned hash")
    with tarfile.open(packed) as archive:
        archive.extractall(folder / name, filter="data")
    return folder / name / "package"


def without(what: str, error: NpmError) -> int:
    """Say what is not done; return the exit code: 0, or 1 under CI=true."""
    print(f"{what}: {error}.")
    return int(os.environ.get("CI") == "true")


def _npm(folder: Path, what: str, *arguments: str) -> None:
    """Run npm in a folder. Raises NpmError with ``what`` it cannot fetch."""
    npm = shutil.which("npm")
    if npm is None:
        raise NpmError("npm is not installed")
    try:
        done = subprocess.run([npm, *arguments], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise NpmError(f"npm did not fetch {what} within {TIMEOUT} s") from None
    if done.returncode:
        raise NpmError(f"npm cannot fetch {what}: {''.join(done.stderr.strip().splitlines()[:1])}")
