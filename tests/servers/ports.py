"""Ports for the servers of tests."""

import random
import socket

# Below those that Linux gives to outgoing connections, of which any may appear before the server
# listens: https://docs.kernel.org/networking/ip-sysctl.html, ip_local_port_range.
_PORTS = range(20_000, 32_768)
_CHOICE = random.SystemRandom()  # each process of the tests draws others


def free_port() -> int:
    """A port nobody listens on at this moment."""
    while True:
        port = _CHOICE.choice(_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:  # it is taken
                continue
        return port
