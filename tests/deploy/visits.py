"""Requests without end while a test does something to the servers; each is noted with what came of it."""

import gzip
import threading
import time
import urllib.request
from dataclasses import dataclass

from tools.servers import WITHOUT_PROXY

PAUSE = 0.1  # s: it should not be what the servers are busy with


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


def get(url: str, **headers: str) -> Answer:
    """One answer, unpacked. Raises OSError where there is none, or no good one."""
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    with WITHOUT_PROXY.open(request, timeout=20) as answer:
        body = answer.read()
        found = {name.lower(): value for name, value in answer.headers.items()}
    return Answer(answer.status, found, gzip.decompress(body) if found.get("content-encoding") == "gzip" else body)


class Visits:
    """``with Visits(url, paths) as visits``: asks for one path after the other."""

    def __init__(self, url: str, paths: list[str]) -> None:
        self.failed: list[tuple[float, str]] = []  # when it was asked, and what went wrong
        self.count = 0
        self._url, self._paths = url, paths
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._visit, daemon=True)

    def __enter__(self) -> "Visits":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(30)

    def _visit(self) -> None:
        while not self._over.wait(PAUSE):
            path = self._paths[self.count % len(self._paths)]
            begin = time.monotonic()
            try:
                get(f"{self._url}/{path}")
            except Exception as error:  # whatever it is, a visitor would have met it
                self.failed.append((begin, f"{path}: {error!r}"))
            self.count += 1
