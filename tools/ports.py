"""Find a free port."""

import secrets
import socket

PORTS = range(20_000, 32_000)  # below the ephemeral ports: Linux uses 32768 and above, other systems 49152 and above
_given: set[int] = set()


def free_port(host: str = "localhost") -> int:
    """A port for a server that will listen later; until then, no connection and no other call gets it."""
    for _ in range(1000):
        port = secrets.choice(PORTS)
        with socket.socket() as probe:
            if port not in _given and _binds(probe, host, port):
                _given.add(port)
                return port
    raise OSError(f"found no free port from {PORTS.start} to {PORTS.stop - 1} at {host}")


def _binds(probe: socket.socket, host: str, port: int) -> bool:
    try:
        probe.bind((host, port))
    except OSError:
        return False
    return True
