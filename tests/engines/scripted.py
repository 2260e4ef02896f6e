"""A server that answers as it is told to, to see what an engine makes of it.

It keeps what it was asked.
"""

import json
import socket
import struct
import threading
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

RECORDED = Path(__file__).parent / "recorded"
JSON = {"content-type": "application/json"}
PRODUCTS = {
    "elasticsearch": ({"number": "9.5.3"}, {"X-elastic-product": "Elasticsearch", **JSON}),
    "opensearch": ({"distribution": "opensearch", "number": "3.8.0"}, JSON),
}


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    method: str
    path: str
    query: str
    headers: dict
    text: str

    @property
    def what(self):
        """The end of the path, by which answers are chosen."""
        return "root" if self.path == "/" else self.path.rpartition("/")[2]

    @property
    def lines(self):
        """The body of a bulk or of many searches."""
        return [json.loads(line) for line in self.text.splitlines()]


@dataclass(frozen=True)
class Answer:
    """What goes back.

    `fault` is `half` (of the body), `reset` (of the connection) or `hang` (no answer at all).
    """

    body: object = None
    status: int = 200
    headers: dict | None = None
    fault: str = ""

    @property
    def content(self):
        """The body in bytes."""
        return (
            b""
            if self.body is None
            else self.body
            if isinstance(self.body, bytes)
            else json.dumps(self.body).encode()
        )


def recorded(name):
    """What a real server answered."""
    kept = json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))
    return Answer(kept["body"], kept["status"], kept["headers"])


class ScriptedServer:
    """Answers by the end of a path: in turn, and the last one from then on.

    An answer may be made from the request.
    """

    def __init__(self, product="elasticsearch", number=None):
        version, self.headers = PRODUCTS[product]
        self.requests = []
        self.done = threading.Event()
        self._answers = {
            "root": [Answer({"version": version | ({"number": number} if number else {})})]
        }
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.host}"

    def answer(self, what, *answers):
        """Says what is answered from now on to requests whose path ends so."""
        self._answers[what] = list(answers)

    def answer_to(self, request):
        """The answer that is due."""
        with self._lock:
            self.requests.append(request)
            answers = self._answers.get(
                request.what, [Answer({"error": "nothing is known of this", "status": 404}, 404)]
            )
            chosen = answers.pop(0) if len(answers) > 1 else answers[0]
        return chosen(request) if callable(chosen) else chosen

    def asked(self, what):
        """The requests whose path ends so."""
        return [request for request in self.requests if request.what == what]

    def close(self):
        """Stops, and ends what hangs."""
        self.done.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def __init__(self, script, *arguments):
        self.script = script
        super().__init__(*arguments)

    def _serve(self):
        parts = urlsplit(self.path)
        text = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.script.answer_to(
            Request(self.command, parts.path, parts.query, headers, text)
        )
        if answer.fault in {"hang", "reset"}:
            self._fail(answer.fault)
            return
        self.send_response(answer.status)
        given = self.script.headers if answer.headers is None else answer.headers
        for name, value in {**given, "content-length": str(len(answer.content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(
            answer.content[: len(answer.content) // 2] if answer.fault else answer.content
        )
        self.wfile.flush()
        self.close_connection = bool(answer.fault) or given.get("connection") == "close"

    do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 -- http.server's names

    def _fail(self, fault):
        self.close_connection = True
        if fault == "hang":
            self.script.done.wait(30)
        else:  # a linger of no seconds makes closing a reset
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def log_message(self, *arguments):
        """Says nothing."""
