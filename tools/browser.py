"""Make sure that the tests have browsers: a Chromium for most of them, Firefox and WebKitGTK for `tests/engines`. Find them, or install them.

`find()` returns the path of Chromium. It prefers the headless shell: the same browser without windows, which needs a quarter less of the processor.
If there is none, `python -m tools.browser` installs one: with apt-get if it runs as root, otherwise playwright's Chromium. The other two come
from apt-get alone. Without a browser, its tests are skipped: the command says so and exits with 0, or 1 under CI=true if Chromium is missing.
"""

import functools
import glob
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
FIREFOX = ("firefox-esr", "firefox", "/Applications/Firefox.app/Contents/MacOS/firefox")
MINI_BROWSER = (
    "/usr/lib/*/webkit2gtk-4*/MiniBrowser",
    "/usr/lib*/webkit2gtk-4*/MiniBrowser",
    "/usr/libexec/webkit2gtk-4*/MiniBrowser",
)
CHROMIUM_PACKAGES = ("chromium", "chromium-headless-shell")
FIREFOX_PACKAGES, WEBKIT_PACKAGES = ("firefox-esr",), ("webkit2gtk-driver", "xvfb")
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


def find_firefox() -> str | None:
    """The path of a Firefox, or None. One from a snap cannot use a profile of the tests."""
    found = filter(None, map(shutil.which, FIREFOX))
    return next((path for path in found if not os.path.realpath(path).endswith("/snap")), None)


def find_webkit() -> tuple[str, str] | None:
    """The paths of WebKitGTK's driver and of its small browser, or None. They also need Xvfb."""
    driver, browsers = shutil.which("WebKitWebDriver"), [path for folder in MINI_BROWSER for path in glob.glob(folder)]
    return (driver, browsers[0]) if driver and browsers and shutil.which("Xvfb") else None


def _missing() -> list[str]:
    """Debian's packages of the browsers that are not here."""
    found = {CHROMIUM_PACKAGES: find(), FIREFOX_PACKAGES: find_firefox(), WEBKIT_PACKAGES: find_webkit()}
    return [package for packages, path in found.items() if path is None for package in packages]


def _install(packages: list[str]) -> None:
    """Install Debian's packages; what the system does not have is left out."""
    print(f"Installing {', '.join(packages)} with apt-get ...", flush=True)
    # Both packages of Chromium: the tests use the shell, and the commands that they test look for Chromium.
    if not (_run("apt-get", *FAST, "update", "-qq") and _apt(*packages)):
        for package in packages:
            _apt(package)


FAST = ("-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=20", "-o", "Acquire::https::Timeout=20")


def _apt(*packages: str) -> bool:
    return _run("apt-get", *FAST, "install", "-qq", "-y", "--no-install-recommends", *packages)


def _cannot_install() -> str:
    """Why apt-get installs nothing; "" if it can."""
    if not shutil.which("apt-get"):
        return "this system has no apt-get"
    return "" if os.geteuid() == 0 else "apt-get needs root"


def _run(*command: str) -> bool:
    """Run a command quietly; show what it printed if it fails."""
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    answer = subprocess.run(command, env=quiet, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if answer.returncode:
        print(answer.stdout[-2000:], file=sys.stderr)
    return answer.returncode == 0


def main() -> int:
    missing, why = _missing(), _cannot_install()
    if missing and not why:
        _install(missing)
        find.cache_clear()
    if find() is None:
        print("Installing playwright's Chromium ...", flush=True)
        _run(sys.executable, "-m", "playwright", "install", "chromium")
        find.cache_clear()
    for name, path in (("Firefox", find_firefox()), ("WebKitGTK", find_webkit())):
        if path is None:
            print(
                f"{name} is missing ({why or 'apt-get could not install it'}): its journeys are skipped.",
                file=sys.stderr,
            )
    if find():
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
