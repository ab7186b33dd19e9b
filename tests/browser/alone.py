"""A page on disk with a single view: the module, its data and plotly.js, without a server."""

import json
from pathlib import Path
from typing import Any

from normviz.figures import bundle
from normviz.figures.palette import theme
from normviz.figures.payload.chart import chart_payload
from normviz.lessons.pages import PAGES
from normviz.lessons.parts.part import Chart, Panels, flat


def parts_of(page: str, query: str) -> list[Panels | Chart]:
    """The figures of a view."""
    page_parts = PAGES[page]
    return [part for part in flat(page_parts.parts(page_parts.view(query))) if isinstance(part, Panels | Chart)]


def data_of(part: Panels | Chart) -> dict[str, Any]:
    return part.data if isinstance(part, Panels) else chart_payload(part.lines, part.alt)


def write(folder: Path, data: dict[str, Any], scheme: str = "light") -> str:
    """Write the page and return its address."""
    (folder / "plotly.js").write_bytes(bundle.plotly_js())
    source = bundle.module().replace("export default function", "const door = function")
    data_json = json.dumps(data | {"theme": scheme, "alone": True}).replace("<", "\\u003c")
    ground = theme(scheme).background
    file = folder / "index.html"
    file.write_text(
        f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>alone</title>
<style>body {{ margin: 16px; background: {ground}; font-family: sans-serif }} {bundle.style()}</style>
<div class="nv-root"></div><script src="plotly.js"></script>
<script type="module">{source}
door({{ parentElement: document.body, data: {data_json} }});</script></html>""",
        encoding="utf-8",
    )
    return file.as_uri()
