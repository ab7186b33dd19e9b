"""Check the types of the browser's code: `python -m tools.typescript` runs the TypeScript compiler of package-lock.json.

The command fails on a type error. If npm is missing or cannot fetch TypeScript, it says so and exits with 0, or 1 under CI=true.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.npm import ROOT, NpmError, programs, without


def main(root: Path = ROOT) -> int:
    """Check the files of tsconfig.json; return the exit code."""
    try:
        tsc = programs(root) / "tsc"
    except NpmError as error:
        return without("TYPES OF THE SCRIPTS NOT CHECKED", error)
    checked = subprocess.run([tsc, "--project", "tsconfig.json"], cwd=root).returncode
    if not checked:
        print("No type errors in the scripts.")
    return checked


if __name__ == "__main__":
    sys.exit(main())
