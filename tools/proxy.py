"""Make sure that the tests have an nginx: find one, or install Debian's.

`find()` returns its path. If there is none, `python -m tools.proxy` installs one with apt-get if it runs as root. Without nginx, the tests
of the deployment are skipped: the command says so and exits with 0, or 1 under CI=true.
"""

import os
import shutil
import subprocess
import sys

FOLDERS = os.pathsep.join(("/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"))  # not on every user's PATH
ADVICE = "Install nginx (Debian: `apt install nginx-light`), then run this again."


def find() -> str | None:
    """The path of nginx, or None."""
    return shutil.which("nginx") or shutil.which("nginx", path=FOLDERS)


def _install() -> None:
    if not (hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get")):
        return
    print("Installing nginx with apt-get ...", flush=True)
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (("update", "-qq"), ("install", "-qq", "-y", "--no-install-recommends", "nginx-light")):
        answer = subprocess.run(
            ("apt-get", *command), env=quiet, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if answer.returncode:
            print(answer.stdout[-2000:], file=sys.stderr)
            return


def main() -> int:
    if find() is None:
        _install()
    if found := find():
        print(f"Proxy: {found}")
        return 0
    ci = os.environ.get("CI", "").lower() in ("1", "true")
    outcome = "cannot run." if ci else "ARE SKIPPED."
    lines = [
        "*" * 78,
        f"nginx is missing and could not be installed: the tests of the deployment {outcome}",
        ADVICE,
        "*" * 78,
    ]
    print(*lines, sep="\n", file=sys.stderr)
    return 1 if ci else 0


if __name__ == "__main__":
    sys.exit(main())
