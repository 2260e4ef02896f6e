"""A TCP proxy whose link can be frozen, forgotten, cut, slowed and healed."""

import contextlib
import socket
import threading
import time


class Proxy:
    """Passes bytes on to a port of this machine until told otherwise.

    An answer that holds `forget_at` makes it forget every connection of now, once, as a firewall
    does that restarts: what they are given is swallowed, this answer first, and neither side is
    told. New connections are passed on.
    """

    def __init__(self, upstream_port):
        self.upstream_port, self.delay_s, self.lose_after = upstream_port, 0.0, b""
        self.forget_at, self.forgotten = b"", []
        self._open = threading.Event()
        self._open.set()
        self._sockets, self._losing = [], False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def freeze(self):
        """Swallows nothing, answers nothing: what is sent waits, as behind a firewall that forgot
        the connection.
        """
        self._open.clear()

    def heal(self):
        """Passes everything on again, without delay."""
        self.delay_s, self.lose_after, self._losing = 0.0, b"", False
        self._open.set()

    def cut(self):
        """Resets every connection; new ones are taken."""
        for one in self._sockets:
            with contextlib.suppress(OSError):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
                one.shutdown(socket.SHUT_RDWR)
            one.close()  # also one whose other side has gone
        self._sockets = []

    def close(self):
        """Ends it."""
        self._listener.close()
        self._open.set()
        self.cut()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._sockets.append(client)  # closed even if there is nobody to pass on to
                server = socket.create_connection(("127.0.0.1", self.upstream_port))
                self._sockets.append(server)
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self._open.wait()
                time.sleep(self.delay_s)
                if (
                    self.forget_at
                    and self.forget_at in data
                    and source.getpeername()[1] == self.upstream_port
                ):
                    self.forget_at, self.forgotten = b"", list(self._sockets)
                if source in self.forgotten:
                    continue
                if self._losing:  # what was sent arrived, and this is its answer
                    self.cut()
                self._losing = self._losing or bool(self.lose_after and self.lose_after in data)
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.close()
