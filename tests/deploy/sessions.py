"""Visitors without a browser: each has its own view in the address, and holds a websocket as Streamlit's front end does."""

import asyncio
import json
import re
import threading
import time
from collections.abc import Coroutine
from contextlib import suppress
from html import unescape
from typing import Any
from urllib.parse import urlencode

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from normviz.analysis.sentences import sentence
from normviz.scene.view import read

TAG = re.compile(r"<[^>]+>")
AGAIN = 0.3  # seconds between two attempts to connect
REFUSED = (OSError, websockets.WebSocketException, TimeoutError, EOFError)


class Session:
    """One visitor, who reconnects when the connection is lost, as a browser does.

    query   the query of the address, the only state that the visitor keeps
    shown   the large text that the server sent last
    lost    how often the connection was lost
    slowest the longest time in seconds from a lost connection until the view is back
    """

    def __init__(self, url: str, query: dict[str, str]) -> None:
        self.url, self.query = url.replace("http", "ws", 1) + "/_stcore/stream", query
        self.shown: str | None = None
        self.wrong: list[str] = []
        self.lost, self.slowest, self.ran = 0, 0.0, asyncio.Event()

    @property
    def expected(self) -> str:
        return re.sub(r"\*\*|`", "", sentence(read(self.query).scene.shape_description))

    async def live(self) -> None:
        lost_since: float | None = None
        while True:
            try:
                async with websockets.connect(
                    self.url, subprotocols=["streamlit"], max_size=None, compression=None, proxy=None, open_timeout=20
                ) as self.socket:
                    await self.run()
                    if lost_since is not None:
                        self.slowest = max(self.slowest, time.monotonic() - lost_since)
                    lost_since = None
                    await self.socket.wait_closed()
            except REFUSED:
                pass
            if lost_since is None:
                lost_since, self.shown = time.monotonic(), None
                self.lost += 1
            await asyncio.sleep(AGAIN)

    async def wait_for_view(self) -> None:
        """Wait until the view is there and its server answers: a visitor may not yet have noticed that its server stopped."""
        while True:
            if self.shown is not None:
                with suppress(*REFUSED):
                    await (await self.socket.ping())
                    return
            await asyncio.sleep(0.05)

    async def run(self) -> None:
        """Send the address, read until the script has finished, and check that the view is the requested one."""
        message = BackMsg()
        message.rerun_script.page_name, message.rerun_script.query_string = "explore", urlencode(self.query)
        await self.socket.send(message.SerializeToString())
        text: str | None = None
        while True:
            async with asyncio.timeout(30):  # asyncio.wait_for in Python 3.11 may lose a cancellation
                received = ForwardMsg.FromString(await self.socket.recv())
            kind = received.WhichOneof("type")
            if kind == "script_finished":
                break
            if kind == "delta" and received.delta.WhichOneof("type") == "new_element":
                element = received.delta.new_element
                if element.WhichOneof("type") == "bidi_component":
                    parts = dict(json.loads(element.bidi_component.json)[0]["parts"])
                    text = unescape(TAG.sub("", parts["sentence1"])) if "sentence1" in parts else text
                elif element.WhichOneof("type") == "exception":
                    self.wrong.append(element.exception.message)
        self.shown = text
        if text != self.expected:
            self.wrong.append(f"{self.query}: {text!r} in place of {self.expected!r}")
        self.ran.set()


class Sessions:
    """Many visitors in a separate thread: ``with Sessions(url, queries) as sessions``."""

    def __init__(self, url: str, queries: list[dict[str, str]]) -> None:
        self.all = [Session(url, query) for query in queries]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> "Sessions":
        self._thread.start()
        self._living = self.start(self._live()).result()
        return self

    def __exit__(self, *_: object) -> None:
        self.start(self._leave()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _live(self) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(each.live()) for each in self.all]

    async def _leave(self) -> None:
        for each in self._living:
            each.cancel()
        await asyncio.gather(*self._living, return_exceptions=True)

    def start(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def wait_for_views(self, patience: float) -> None:
        """Wait until every visitor has its view from a running server. Raises AssertionError after ``patience`` seconds."""

        async def wait_for_all() -> None:
            await asyncio.wait_for(asyncio.gather(*(each.wait_for_view() for each in self.all)), patience)

        try:
            self.start(wait_for_all()).result()
        except TimeoutError as error:
            missing = [each.query for each in self.all if each.shown is None]
            text = f"{len(missing)} of {len(self.all)} sessions have no view, such as {missing[:3]}"
            raise AssertionError(text) from error

    def wait_for_first_runs(self, patience: float) -> None:
        """Wait until the script has run once for every visitor, whatever it showed. Raises TimeoutError after ``patience`` seconds."""

        async def wait_for_all() -> None:
            await asyncio.wait_for(asyncio.gather(*(each.ran.wait() for each in self.all)), patience)

        self.start(wait_for_all()).result()

    def run(self, patience: float) -> None:
        """Run every session once more, one after the other."""

        async def run_each() -> None:
            for each in self.all:
                await each.run()

        self.start(run_each()).result(patience)

    @property
    def wrong(self) -> list[str]:
        return [wrong for each in self.all for wrong in each.wrong]

    def reset_measurements(self) -> None:
        """Reset the measurements."""
        for each in self.all:
            each.lost, each.slowest = 0, 0.0
