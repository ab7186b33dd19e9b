"""Runs parts of the ES module in the node that comes with playwright: its arithmetic needs no browser."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from playwright._impl._driver import compute_driver_executable

from normviz.figures import bundle

NODE = compute_driver_executable()[0]


def evaluate(expression: str, *arguments: Any) -> Any:
    """The value of a JavaScript expression in the module's scope, ``arguments`` in ``args``."""
    source = bundle.module().replace("export default function", "const mount = function")
    script = f"{source}\nconst args = {json.dumps(arguments)};\nconsole.log(JSON.stringify(await ({expression}), (_, v) => Number.isNaN(v) ? 'gap' : v));"
    done = subprocess.run([NODE, "--input-type=module"], input=script, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
