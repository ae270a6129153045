"""A real HTTP server whose answers are scripted."""

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from warren_local.server import Server


@dataclass(frozen=True, slots=True)
class Answer:
    """A status with headers and a body."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Request:
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    method: str = "POST"


class Hang:
    """No answer before the receiver stops."""


class Reset:
    """The connection is reset (RST) instead of an answer."""


class Drip:
    """An answer whose headers never end."""


Script = Answer | Hang | Reset | Drip


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up early are what some tests are about."""


class HttpReceiver(Server):
    """Answers with the script's entries in turn, then with 200.

    `decide` decides by the request instead.
    """

    def __init__(
        self,
        *script: Script,
        decide: Callable[[Request], Script] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.requests: list[Request] = []
        self._script = list(script)
        self._decide = decide
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver._answer(self)

            do_GET = do_PUT = do_PATCH = do_POST  # noqa: N815  # http.server's names

            def log_message(self, *_: object) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def ids(self) -> list[str]:
        """`webhook-id` of the requests, in order."""
        with self._lock:
            return [request.headers.get("webhook-id", "") for request in self.requests]

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        with self._lock:
            request = Request(handler.path, headers, body, handler.command)
            self.requests.append(request)
            script = self._script.pop(0) if self._script else Answer(200)
        if self._decide is not None:
            script = self._decide(request)
        handler.close_connection = True
        match script:
            case Hang():
                self._stopping.wait()
            case Drip():
                handler.send_response(200)
                with contextlib.suppress(OSError):
                    while not self._stopping.wait(0.02):
                        handler.send_header("X-Drip", "1")
                        handler.flush_headers()
            case Reset():
                linger = struct.pack("ii", 1, 0)  # closing then sends RST instead of FIN
                handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                handler.rfile.close()
                handler.wfile.close()
                handler.connection.close()
            case Answer(status, extra, content):
                handler.send_response(status)
                for name, value in extra.items():
                    handler.send_header(name, value)
                handler.send_header("Content-Length", str(len(content)))
                handler.end_headers()
                handler.wfile.write(content)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
