"""Continuous requests while a test stops and starts servers; failures are recorded."""

import gzip
import threading
import time
import urllib.request
from dataclasses import dataclass

from tools.servers import WITHOUT_PROXY

PAUSE = 0.1  # seconds: the requests must not load the servers


@dataclass(frozen=True)
class Response:
    status: int
    headers: dict[str, str]
    body: bytes


def get(url: str, **headers: str) -> Response:
    """The response of one request, decompressed. Raises OSError if there is no response or its status is an error."""
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    with WITHOUT_PROXY.open(request, timeout=20) as response:
        body = response.read()
        found = {name.lower(): value for name, value in response.headers.items()}
    return Response(response.status, found, gzip.decompress(body) if found.get("content-encoding") == "gzip" else body)


class Visits:
    """``with Visits(url, paths) as visits``: requests one path after the other."""

    def __init__(self, url: str, paths: list[str]) -> None:
        self.failed: list[tuple[float, str]] = []  # the time of the request, and the error
        self.count = 0
        self._url, self._paths = url, paths
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._request_paths, daemon=True)

    def __enter__(self) -> "Visits":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(30)

    def _request_paths(self) -> None:
        while not self._over.wait(PAUSE):
            path = self._paths[self.count % len(self._paths)]
            started = time.monotonic()
            try:
                get(f"{self._url}/{path}")
            except Exception as error:  # a visitor would see any error
                self.failed.append((started, f"{path}: {error!r}"))
            self.count += 1
