"""A DNS server for one test: it gives the same addresses for every name, as Docker's DNS gives those of a service's containers."""

import socket
import threading
from types import TracebackType


class NameServer:
    """``with NameServer(["127.0.0.2", "127.0.0.3"]) as server``: answers at ``server.address`` over UDP."""

    def __init__(self, addresses: list[str]) -> None:
        self.addresses = addresses
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "NameServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", self._socket.getsockname())
        self._thread.join(5)
        self._socket.close()

    def _serve(self) -> None:
        while True:
            request, sender = self._socket.recvfrom(512)
            if not request:
                return
            self._socket.sendto(dns_answer(request, self.addresses), sender)


def dns_answer(request: bytes, addresses: list[str]) -> bytes:
    """A DNS answer (RFC 1035, section 4): the question, and one A record for each address."""
    question = request[12 : request.index(b"\0", 12) + 5]
    header = request[:2] + b"\x81\x80" + b"\0\1" + len(addresses).to_bytes(2) + b"\0\0\0\0"
    name, kind, seconds = b"\xc0\x0c", b"\0\1\0\1", (1).to_bytes(4)
    return header + question + b"".join(name + kind + seconds + b"\0\4" + socket.inet_aton(each) for each in addresses)
