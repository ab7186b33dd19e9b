"""Make sure that the tests have a Chromium: find one, or install one.

`find()` returns its path. It prefers the headless shell: the same browser without windows, which needs a quarter less of the processor.
If there is none, `python -m tools.browser` installs one: with apt-get if it runs as root, otherwise playwright's Chromium. Without a
browser, the browser tests are skipped: the command says so and exits with 0, or 1 under CI=true.
"""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
PLAYWRIGHT_PATH = (
    "from playwright.sync_api import sync_playwright as s; p = s().start(); print(p.chromium.executable_path)"
)


@functools.cache
def find() -> str | None:
    """The path of a Chromium that starts, or None."""
    return next((path for path in _candidates() if _starts(path)), None)


def _candidates() -> Iterator[str]:
    yield from filter(None, (shutil.which(name) for name in (*NAMES, MAC)))
    # In a separate process: playwright's sync API cannot be started twice, and a test may use it already.
    answer = subprocess.run([sys.executable, "-c", PLAYWRIGHT_PATH + "; p.stop()"], capture_output=True, text=True)
    path = answer.stdout.strip()
    if os.access(path, os.X_OK):
        yield path


def _starts(path: str) -> bool:
    """Does it run? A Chromium from a snap, or one without a system library, may exist and still not start."""
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [path, *flags, f"--user-data-dir={profile}", "--dump-dom", "about:blank"]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            return False
    return answer.returncode == 0 and "<html" in answer.stdout


def _install() -> None:
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing Chromium with apt-get ...", flush=True)
        # Both: the tests use the shell, and the commands that they test look for Chromium.
        if (_run("apt-get", "update", "-qq") and _apt("chromium", "chromium-headless-shell")) or _apt("chromium"):
            return
    print("Installing playwright's Chromium ...", flush=True)
    _run(sys.executable, "-m", "playwright", "install", "chromium")


def _apt(*packages: str) -> bool:
    return _run("apt-get", "install", "-qq", "-y", *packages) and _found()


def _found() -> bool:
    find.cache_clear()
    return find() is not None


def _run(*command: str) -> bool:
    """Run a command quietly; show what it printed if it fails."""
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    answer = subprocess.run(command, env=quiet, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if answer.returncode:
        print(answer.stdout[-2000:], file=sys.stderr)
    return answer.returncode == 0


def main() -> int:
    if find() is None:
        _install()
    if _found():
        print(f"Browser: {find()}")
        return 0
    ci = os.environ.get("CI", "").lower() in ("1", "true")
    print(
        "*" * 78,
        "Chromium is missing and could not be installed: the browser tests "
        + ("cannot run." if ci else "ARE SKIPPED."),
        "Install Chromium or Chrome (Debian: `apt install chromium`), then run this again.",
        "*" * 78,
        sep="\n",
        file=sys.stderr,
    )
    return 1 if ci else 0


if __name__ == "__main__":
    sys.exit(main())
