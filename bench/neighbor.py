"""How much a visitor at every limit slows down another visitor: python -m bench.neighbor [PORT]

A light session alternates between two elements of the default view, with a short pause. It is measured in turns: alone; with a heavy session
that opens the largest valid views, one per second; and with a heavy session that does not pause. The goal is for the second case: the heavy
session at most doubles the median.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import cycle
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from tools.ports import free_port

ROOT = Path(__file__).resolve().parents[1]
LIGHT = ("at=0,0,0,0", "at=1,2,3,3")
SIX = "BatchNorm2d(64);LayerNorm([64,64,64]);GroupNorm(32,64);InstanceNorm2d(64);RMSNorm(64);ChannelsFirstLayerNorm(64)"
LARGE = "shape=4,64,64,64&data=scales&params=random&layer="
LIMITS = {
    "Explore, 1,048,576 elements": ("", f"{LARGE}GroupNorm(32,64)"),
    "Compare, six layers": ("compare", f"{LARGE}GroupNorm(32,64)&layers={SIX}"),
    "Step by step": ("step_by_step", f"{LARGE}BatchNorm2d(64)"),
    "train() and eval()": ("train_and_eval", f"{LARGE}BatchNorm2d(64)&show=modes"),
    "train() and eval(), with the table": ("train_and_eval", "shape=2,64,32,32&layer=BatchNorm2d(64)&show=modes"),
    "500 batches of 1,024": ("train_and_eval", "show=stream&batch_size=1024&steps=500"),
    "256 sequences": ("train_and_eval", "show=sequences&count=256&longest=100"),
    "one column of a Jacobian": ("gradients", "shape=4,4,16,16&layer=GroupNorm(2,4)"),
    "256 x 256 derivatives": ("gradients", "shape=16,16&layer=LayerNorm(16)&show=matrix"),
    "backward passes": ("gradients", "shape=4,4,16,16&layer=GroupNorm(2,4)&show=backward"),
    "numerics": ("numerics", "show=eps&spread=1e-12"),
    "12 axes": ("", "shape=3,3,3,3,3,3,3,3,3,3,3,2&layer=LayerNorm([3,2])"),
}
TURNS, RUNS, PAUSE = 4, 15, 0.02


class Session:
    """One tab that opens one address after the other."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.hashes: set[str] = set()

    async def __aenter__(self) -> Session:
        where = f"{self.address.replace('http', 'ws', 1)}/_stcore/stream"
        self.connection: ClientConnection = await connect(
            where, subprotocols=["streamlit"], max_size=None, compression=None
        )  # type: ignore[list-item]
        return self

    async def __aexit__(self, *why: object) -> None:
        await self.connection.close()

    async def go(self, page: str, query: str) -> float:
        """Open an address and return the time of the run in ms. Raises RuntimeError if the page shows an exception."""
        message = BackMsg()
        message.rerun_script.query_string, message.rerun_script.page_name = query, page
        begin = time.perf_counter()
        await self.connection.send(message.SerializeToString())
        while True:
            received = ForwardMsg.FromString(await asyncio.wait_for(self.connection.recv(decode=False), 60))
            if received.delta.new_element.WhichOneof("type") == "exception":
                raise RuntimeError(f"{page}?{query} shows {received.delta.new_element.exception.message}")
            if received.WhichOneof("type") == "script_finished":
                return 1000 * (time.perf_counter() - begin)


@contextmanager
def server(port: int) -> Iterator[str]:
    """Start the app in a separate process and return its address."""
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        "app.py",
        "--server.port",
        str(port),
        "--server.address",
        "127.0.0.1",
    ]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            with suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
                break
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(20)


async def light(address: str) -> list[float]:
    """The rerun times of the light session."""
    async with Session(address) as session:
        await session.go("", LIGHT[0])
        times = []
        for number in range(RUNS):
            await asyncio.sleep(PAUSE)
            times.append(await session.go("", LIGHT[1 - number % 2]))
        return times


async def at_limits(address: str, pause: float) -> None:
    """Open one view at a limit after the other, until cancelled."""
    async with Session(address) as session:
        for page, query in cycle(LIMITS.values()):
            await session.go(page, query)
            await asyncio.sleep(pause)


async def with_heavy_session(address: str, pause: float) -> list[float]:
    heavy = asyncio.create_task(at_limits(address, pause))
    await asyncio.sleep(0.3)
    times = await light(address)
    heavy.cancel()
    with suppress(asyncio.CancelledError):
        await heavy
    return times


async def main(address: str) -> None:
    costs = {}
    for name, (page, query) in LIMITS.items():
        async with Session(address) as session:
            await session.go("", "")
            costs[name] = statistics.median([await session.go(page, f"{query}&seed={number}") for number in range(5)])
    print("One rerun at a limit, ms (median of five):")
    for name, cost in costs.items():
        print(f"  {name:36} {cost:6.0f}")
    await light(address)
    seen: dict[str, list[float]] = {"alone": [], "with a heavy session, 1 s": [], "with a heavy session, no pause": []}
    for _ in range(TURNS):
        seen["alone"] += await light(address)
        seen["with a heavy session, 1 s"] += await with_heavy_session(address, 1)
        seen["with a heavy session, no pause"] += await with_heavy_session(address, 0)
    medians = {name: statistics.median(times) for name, times in seen.items()}
    print(f"\n{'the light session':32} {'median, ms':>10} {'p95':>6} {'ratio':>6}")
    for name, times in seen.items():
        print(
            f"{name:32} {medians[name]:10.1f} {sorted(times)[int(0.95 * len(times))]:6.0f} {medians[name] / medians['alone']:6.2f}"
        )
    ratio = medians["with a heavy session, 1 s"] / medians["alone"]
    print(
        json.dumps(
            {"bench": "neighbor", "ratio": ratio, "medians": medians, "limits": costs, "load": os.getloadavg()[0]}
        )
    )


if __name__ == "__main__":
    with server(int(sys.argv[1]) if len(sys.argv) > 1 else free_port("127.0.0.1")) as where:
        asyncio.run(main(where))
