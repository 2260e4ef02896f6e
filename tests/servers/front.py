"""What stands before a server in a company: a proxy that ends TLS, with certificates of a
throw-away authority.
"""

import contextlib
import hashlib
import http.client
import os
import ssl
import subprocess
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

_NOT_PASSED_ON = {"connection", "content-length", "transfer-encoding"}
_OPENSSL = [
    "openssl",
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-days",
    "2",
]


class Authority:
    """Signs certificates; `certificate` is its own.

    Needs openssl, without which the test is skipped, on CI failed.
    """

    def __init__(self, folder: Path, name: str = "an authority") -> None:
        folder.mkdir(parents=True)
        self.folder, self.name = folder, name
        self.certificate = self._made("authority", "-subj", f"/CN={name}")

    def issue(self, file_name: str, names: str) -> Path:
        """A certificate for names such as `DNS:localhost,IP:127.0.0.1`; its key lies beside it."""
        signed = ["-CA", self.certificate, "-CAkey", self.certificate.with_suffix(".key")]
        limits = [
            "-addext",
            "basicConstraints=critical,CA:FALSE",
            "-addext",
            "authorityKeyIdentifier=none",
        ]
        return self._made(
            file_name,
            "-subj",
            "/CN=a server",
            "-addext",
            f"subjectAltName={names}",
            *limits,
            *signed,
        )

    def _made(self, file_name: str, *words: object) -> Path:
        path = self.folder / f"{file_name}.pem"
        command = [*_OPENSSL, "-out", path, "-keyout", path.with_suffix(".key"), *words]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except FileNotFoundError:
            (pytest.fail if os.environ.get("CI") else pytest.skip)("no openssl")
        return path


def fingerprint(certificate: Path) -> str:
    """SHA-256 of a certificate, as openssl prints it."""
    digits = hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate.read_text())).hexdigest().upper()
    return ":".join(digits[n : n + 2] for n in range(0, len(digits), 2))


class Front:
    """Passes requests on to the server at `url`, over TLS where it has a certificate.

    Keeps who asked for what.

    `GET /` of the tests' Elasticsearch is a stand-in that anybody may ask; the real one needs the
    cluster privilege `monitor`. So a request that the server's health would be kept from is kept
    from `/` as well.
    """

    def __init__(
        self, url: str, certificate: Path | None = None, chain: Path | None = None
    ) -> None:
        self.upstream = urlsplit(url).netloc
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(chain or certificate, certificate.with_suffix(".key"))
        self.heard: list[tuple[str, str]] = []
        self._server = _Server(("127.0.0.1", 0), partial(_Handler, self))
        self.port = self._server.server_port
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def ask(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> http.client.HTTPResponse:
        """The server's answer; its body is read."""
        connection = http.client.HTTPConnection(self.upstream, timeout=60)
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        answer.content = answer.read()  # type: ignore[attr-defined]
        connection.close()
        return answer

    def close(self) -> None:
        """Stops."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *arguments: object) -> None:
        """A client that does not trust it goes away: that is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def __init__(self, front: Front, *arguments: object) -> None:
        self.front = front
        super().__init__(*arguments)

    def setup(self) -> None:
        if self.front.context:
            self.request = self.front.context.wrap_socket(self.request, server_side=True)
        super().setup()

    def finish(self) -> None:
        super().finish()
        with contextlib.suppress(OSError):
            self.request.close()

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in _NOT_PASSED_ON
        }
        self.front.heard.append((f"{self.command} {self.path}", headers.get("authorization", "")))
        answer = self.front.ask(self.command, self.path, body, headers)
        if self.path == "/" and headers.get("authorization", "").startswith("ApiKey"):
            health = self.front.ask("GET", "/_cluster/health", b"", headers)
            answer = health if health.status == 403 else answer
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _NOT_PASSED_ON:
                self.send_header(name, value)
        self.send_header("content-length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)
        self.wfile.flush()

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _pass_on  # noqa: N815 -- http.server's names

    def log_message(self, *arguments: object) -> None:
        """Says nothing."""
