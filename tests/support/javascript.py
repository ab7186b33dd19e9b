"""Evaluates JavaScript in the scope of a module of normviz, in the node that comes with playwright: arithmetic and texts need no browser."""

from __future__ import annotations

import atexit
import json
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from playwright._impl._driver import compute_driver_executable

from normviz.figures import bundle
from normviz.figures.payload import sent

NODE = compute_driver_executable()[0]
FIGURES = bundle.BROWSER / "mount.js"
PACKAGE = Path(bundle.__file__).parents[1]
PARTS, LESSONS = PACKAGE / "parts" / "browser", PACKAGE / "lessons"
SERVE = """
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { expression, args } = JSON.parse(line);
  let result;
  try { result = { value: await eval(`(${expression})`) }; } catch (error) { result = { error: String(error.stack) }; }
  process.stdout.write(JSON.stringify(result, (key, value) => Number.isNaN(value) ? "gap" : value) + "\\n");
}
"""


def evaluate(expression: str, *arguments: Any, entry: Path = FIGURES, language: str = "en") -> Any:
    """The value of an expression in the scope of the module ``entry`` in a language, with ``arguments`` in ``args``; NaN becomes "gap"."""
    node = _node(entry, language)
    assert node.stdin
    assert node.stdout
    node.stdin.write(json.dumps({"expression": expression, "args": sent(arguments)}) + "\n")
    node.stdin.flush()
    result = json.loads(node.stdout.readline())
    assert "error" not in result, result["error"]
    return result.get("value")


def check_syntax(script: str) -> None:
    """Fails where the script is not an ES module."""
    checked = subprocess.run(
        [NODE, "--check", "--input-type=module"], input=script, capture_output=True, text=True, timeout=60
    )
    assert checked.returncode == 0, checked.stderr


@cache
def _node(entry: Path, language: str) -> subprocess.Popen[str]:
    """One node per module and language for all tests of this process."""
    with tempfile.NamedTemporaryFile(
        "w", suffix=".mjs", delete=False, encoding="utf-8"
    ) as file:  # too long for an argument
        file.write(bundle.bundle(entry, language).replace("export default ", "") + SERVE)
    node = subprocess.Popen([NODE, file.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(Path(file.name).unlink)
    atexit.register(node.kill)
    return node
