"""The software bill of materials of an environment: `python tools/sbom.py` prints every installed Python package as CycloneDX JSON, and the
plotly.js that the app in this folder carries."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any
from urllib.parse import quote

CARRIED = "normviz/figures/plotlyjs/plotly-cartesian-*.min.js.gz"
LONGEST_NAME = 100  # characters of the name of a license; a longer one is the license itself


def bill(installed: Iterable[Distribution], carried: Iterable[Path] = ()) -> dict[str, Any]:
    """The bill: Python, the packages by name, and the scripts that tools/plotlyjs.py has fetched."""
    python = {"type": "platform", "name": "python", "version": platform.python_version()}
    packages = {component["purl"]: component for component in map(_component, installed)}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "container", "name": "normviz"}},
        "components": [python, *(packages[purl] for purl in sorted(packages)), *map(_plotlyjs, carried)],
    }


def _plotlyjs(script: Path) -> dict[str, Any]:
    name = "plotly.js-cartesian-dist-min"
    version = script.name.removeprefix("plotly-cartesian-").removesuffix(".min.js.gz")
    purl, licenses = f"pkg:npm/{name}@{version}", [{"license": {"id": "MIT"}}]
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, "licenses": licenses}


def _component(package: Distribution) -> dict[str, Any]:
    name, version = package.metadata["Name"], package.version
    purl = f"pkg:pypi/{re.sub('[-_.]+', '-', name).lower()}@{quote(version, safe='')}"
    component: dict[str, Any] = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if expression := package.metadata.get("License-Expression"):
        return component | {"licenses": [{"expression": expression}]}
    license_name = (package.metadata.get("License") or "").strip()
    if license_name and "\n" not in license_name and len(license_name) <= LONGEST_NAME:
        return component | {"licenses": [{"license": {"name": license_name}}]}
    return component


if __name__ == "__main__":
    print(json.dumps(bill(distributions(), Path().glob(CARRIED)), indent=1))
