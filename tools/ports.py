"""A port that nobody listens at."""

import socket


def free_port(host: str = "localhost") -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
