"""Evaluates JavaScript in the scope of a module of normviz, in the node that comes with playwright: arithmetic and texts need no browser.

Node and browsers get the modules themselves, without their types: no test of a script needs npm or a bundle.
"""

from __future__ import annotations

import atexit
import json
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from playwright._impl._driver import compute_driver_executable
from playwright.sync_api import Page, Route

from normviz.export import assets
from normviz.figures.wire import sent
from tools.translations import script_messages

NODE = compute_driver_executable()[0]
EVALUATING = Path(__file__).with_name("evaluating.mjs")
PACKAGE = Path(assets.__file__).parents[1]
FIGURES = assets.BROWSER / "mount.ts"
PARTS, LESSONS = PACKAGE / "parts" / "browser", PACKAGE / "lessons"
HOST = "http://scripts.localhost"  # answered by the test itself
STRIP = """
const { readFileSync } = require("node:fs"), { stripTypeScriptTypes } = require("node:module");
const paths = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(paths.map((path) => stripTypeScriptTypes(readFileSync(path, "utf8")))));
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


def constants(language: str = "en") -> str:
    """What the modules find in the page: the colors, and every message in a language."""
    sources = (path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.ts")))
    return assets.constants(tuple(message for source in sources for message in script_messages(source)), language)


@cache
def modules() -> dict[str, str]:
    """The modules without types, by their address on HOST."""
    paths = [path for path in sorted(PACKAGE.rglob("*.ts")) if not path.name.endswith(".d.ts")]
    written = json.dumps([str(path) for path in paths])
    stripped = subprocess.run(
        [NODE, "-e", STRIP], input=written, capture_output=True, text=True, timeout=60, check=True
    )
    addresses = (f"{HOST}/{path.relative_to(PACKAGE).as_posix()}" for path in paths)
    return dict(zip(addresses, json.loads(stripped.stdout), strict=True))


def open_with_modules(tab: Page, html: str, files: Mapping[str, bytes] = {}) -> None:
    """Open a page of HOST, whose scripts may import the modules of the package: ``import { html } from "/figures/browser/common/dom.ts"``."""
    html = html.replace("<script", f"<script>{constants()}</script><script", 1)
    pages = {f"{HOST}/": html.encode()} | {f"{HOST}/{name}": content for name, content in files.items()}
    answers = pages | {address: source.encode() for address, source in modules().items()}

    def answer(route: Route) -> None:
        address = route.request.url
        kind = "text/javascript" if address.endswith((".ts", ".js")) else "text/html"
        route.fulfill(
            status=200 if address in answers else 404,
            body=answers.get(address, b""),
            content_type=f"{kind}; charset=utf-8",
        )

    tab.route(f"{HOST}/**", answer)
    tab.goto(f"{HOST}/")


@cache
def _node(entry: Path, language: str) -> subprocess.Popen[str]:
    """One node per module and language for all tests of this process."""
    node = subprocess.Popen([NODE, EVALUATING, entry], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert node.stdin
    node.stdin.write(f"{constants(language)}\n")
    atexit.register(node.kill)
    return node
