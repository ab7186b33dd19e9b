"""A port that nobody listens at."""

import secrets
import socket

PORTS = range(20_000, 32_000)  # below all that a system hands out by itself: Linux from 32768, others from 49152
_given: set[int] = set()


def free_port(host: str = "localhost") -> int:
    """A port for a server that will listen later: until then no connection gets it by chance, and no later call here."""
    for _ in range(1000):
        port = secrets.choice(PORTS)
        with socket.socket() as probe:
            if port not in _given and _binds(probe, host, port):
                _given.add(port)
                return port
    raise OSError(f"no port of {PORTS.start} to {PORTS.stop - 1} is free at {host}")


def _binds(probe: socket.socket, host: str, port: int) -> bool:
    try:
        probe.bind((host, port))
    except OSError:
        return False
    return True
