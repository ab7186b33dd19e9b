"""What the benchmarks share: servers to measure, a browser, percentiles, and a table with one line of JSON below it."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Browser, sync_playwright

from tools.browser import find
from tools.ports import free_port
from tools.servers import ROOT, start, stop, wait_until_healthy

APPS = ROOT / "bench" / "apps"
SCREEN = {"width": 1280, "height": 900}
TAB: dict[str, Any] = {"viewport": SCREEN, "reduced_motion": "reduce"}  # motion follows when the figure is painted
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

# The script of each app, and whether it runs with our settings or with Streamlit's defaults.
SCRIPTS = {
    "normviz": (ROOT / "app.py", True),
    "bare": (APPS / "bare.py", True),
    "bare + torch": (APPS / "bare_torch.py", True),
    "afternoon": (APPS / "afternoon.py", False),
}


FIRST_PATHS = {"normviz": "/explore"}  # the path of the figure, where it is not the app itself


@dataclass
class Server:
    """One app in a separate process."""

    address: str
    process: subprocess.Popen[bytes]
    log: Path
    started: float = field(default_factory=time.time)

    @property
    def websocket(self) -> str:
        return self.address.replace("http", "ws", 1) + "/_stcore/stream"

    def cpu(self) -> float:
        """CPU seconds so far."""
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    def memory(self) -> int:
        """Resident bytes."""
        return int(psutil.Process(self.process.pid).memory_info().rss)

    def alive(self) -> bool:
        return self.process.poll() is None


@contextmanager
def server(kind: str, *, wait: bool = True) -> Iterator[Server]:
    """Start the app ``kind`` of SCRIPTS and, with ``wait``, wait until it responds. Raises RuntimeError if it does not start."""
    script, ours = SCRIPTS[kind]
    with tempfile.TemporaryDirectory(prefix="normviz-bench-") as folder:
        port, log = free_port("127.0.0.1"), Path(folder) / "log.txt"
        command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
        command += ["--server.address", "127.0.0.1", "--server.headless", "true", "--browser.gatherUsageStats", "false"]
        paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
        settings_folder = ROOT if ours else Path(folder)  # Streamlit reads its settings from the working directory
        process = start(command, log, cwd=settings_folder, env=os.environ | {"PYTHONPATH": paths})
        found = Server(f"http://127.0.0.1:{port}", process, log)
        try:
            if wait:
                wait_for(found)
            yield found
        finally:
            stop(process)


def wait_for(found: Server) -> None:
    """Wait until the server responds."""
    wait_until_healthy(f"{found.address}/_stcore/health", found.process, found.log)


@contextmanager
def chromium(arguments: Sequence[str] = ARGUMENTS) -> Iterator[Browser]:
    """A headless browser, as a reader has it. Raises SystemExit if none is found."""
    path = find()
    if path is None:
        raise SystemExit("No browser found: install Chromium or Chrome, or run `python -m tools.browser`.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least the fraction ``share`` of the values does not exceed; NaN without values.

    >>> percentile([4, 1, 3, 2], 0.5), percentile([4, 1, 3, 2], 0.95)
    (2, 4)
    """
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def spread(values: Sequence[float], digits: int = 1) -> dict[str, float]:
    """The number of ``values``, and their p50, p95 and p99.

    >>> spread([1, 2, 3, 4])
    {'n': 4, 'p50': 2, 'p95': 4, 'p99': 4}
    """
    return {"n": len(values)} | {f"p{p}": round(percentile(values, p / 100), digits) for p in (50, 95, 99)}


def median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else math.nan


def ratio(one: float, other: float) -> float:
    """``one / other``, rounded; NaN if it is undefined.

    >>> ratio(3, 2)
    1.5
    """
    return round(one / other, 2) if other and math.isfinite(one) and math.isfinite(other) else math.nan


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table whose columns are the keys of the first row.

    >>> print(markdown([{"page": "bare", "ms": 1.5}]))
    | page | ms |
    | --- | ---: |
    | bare | 1.5 |
    """
    names = list(rows[0])
    numeric = [isinstance(rows[0][name], int | float) for name in names]
    lines = [names, ["---:" if right else "---" for right in numeric]]
    lines += [[_cell(row[name]) for name in names] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def report(name: str, rows: Sequence[Mapping[str, Any]], load_before: float, found: Any = None, **more: Any) -> None:
    """Print the table, then one line of JSON: the results ``found`` (by default the rows), the number of cores and the load."""
    print(markdown(rows), flush=True)
    machine = {"cpus": os.cpu_count(), "load": [round(load_before, 2), round(os.getloadavg()[0], 2)]}
    print(
        json.dumps(_finite({"bench": name} | machine | more | {"rows": rows if found is None else found})), flush=True
    )


def _finite(value: Any) -> Any:
    """Replace NaN and infinity by None, because JSON does not have them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(part) for key, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value
