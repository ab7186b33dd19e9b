"""A TCP proxy between browser and server that can delay every byte in both directions."""

import asyncio
import threading
from contextlib import suppress
from types import TracebackType
from urllib.parse import urlsplit


class Line:
    """``with Line("http://localhost:8501") as line``: open ``line.address``; ``line.delay = 0.3`` makes it slow.

    address   where the proxy listens
    delay     seconds, in each direction
    requests  the requested paths, in order
    """

    def __init__(self, server: str) -> None:
        self.delay = 0.0
        self.requests: list[str] = []
        self.address = ""
        self._target = urlsplit(server)
        self._ready, self._loop = threading.Event(), asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Line":
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        self._loop.close()

    def request_count(self, part: str) -> int:
        """The number of requests with ``part`` in their path."""
        return sum(part in path for path in self.requests)

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        self._open: set[asyncio.Task[None]] = set()
        listener = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.address = f"http://localhost:{listener.sockets[0].getsockname()[1]}"
        self._ready.set()
        await self._stop.wait()
        listener.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        with suppress(asyncio.CancelledError):
            try:
                back, forth = await asyncio.open_connection(self._target.hostname, self._target.port)
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._pass(reader, forth, record=True))
                    both.create_task(self._pass(back, writer))
            except* OSError:
                pass  # one side has closed the connection

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, record: bool = False) -> None:
        """Pass bytes from source to sink, each chunk after the delay; then close the sink."""
        held: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                due, chunk = await held.get()
                await asyncio.sleep(max(0.0, due - self._loop.time()))
                if not chunk:
                    return
                sink.write(chunk)
                await sink.drain()

        async def collect() -> None:
            chunk = b"-"
            while chunk:
                chunk = await source.read(65536)
                if record and chunk.startswith(b"GET "):
                    self.requests.append(chunk.split(b" ", 2)[1].decode("ascii", "replace"))
                held.put_nowait((self._loop.time() + self.delay, chunk))

        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(collect())
                both.create_task(deliver())
        finally:
            sink.close()
