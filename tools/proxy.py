"""Make sure that the tests have an nginx: find one, or install Debian's.

`find()` says where it is. `python -m tools.proxy` also installs one where it may: with apt-get as root. Without it its tests are
skipped, so this says so and exits 0; under CI=true it exits 1.
"""

import os
import shutil
import subprocess
import sys

PLACES = os.pathsep.join(("/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"))  # not on every user's PATH
ADVICE = "Install nginx (Debian: `apt install nginx-light`), then run this again."


def find() -> str | None:
    """The path of nginx, or None."""
    return shutil.which("nginx") or shutil.which("nginx", path=PLACES)


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
    fate = "cannot run." if ci else "ARE SKIPPED."
    lines = [
        "*" * 78,
        f"No nginx here, and none could be installed: the tests of the deployment {fate}",
        ADVICE,
        "*" * 78,
    ]
    print(*lines, sep="\n", file=sys.stderr)
    return 1 if ci else 0


if __name__ == "__main__":
    sys.exit(main())
