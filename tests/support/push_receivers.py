"""Receivers of OTLP that behave as they are told: real sockets, and what came in."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Said:
    """An answer."""

    code: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Heard:
    """A request, its body as it was before compression."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class HttpReceiver:
    """Gives the answers in their order, the last one again and again."""

    url: str
    answers: list[Said]
    heard: list[Heard] = field(default_factory=list)

    def next_answer(self) -> Said:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def http_receiver(*answers: Said) -> Iterator[HttpReceiver]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            is_small = self.headers.get("content-encoding") == "gzip"
            plain = gzip.decompress(body) if is_small else body
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.heard.append(Heard(self.path, headers, plain))
            said = receiver.next_answer()
            self.send_response(said.code)
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(said.body)))
            self.end_headers()
            self.wfile.write(said.body)

        def log_message(self, *_: object) -> None:
            """Tests look at what was heard."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        receiver = HttpReceiver(f"http://127.0.0.1:{server.server_port}", list(answers) or [Said()])
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()


@dataclass
class TcpReceiver:
    """What came over all connections to it."""

    url: str
    received: bytearray = field(default_factory=bytearray)


@contextmanager
def tcp_receiver(answer: bytes = b"", *, drips: bool = False) -> Iterator[TcpReceiver]:
    """Reads everything. `answer` comes at once; with `drips` its last byte again and again."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        receiver = TcpReceiver(f"http://127.0.0.1:{server.getsockname()[1]}")
        ended = threading.Event()
        handlers: list[threading.Thread] = []

        def read(connection: socket.socket) -> None:
            with connection:
                connection.settimeout(0.05)
                connection.sendall(answer)
                while not ended.is_set():
                    try:
                        data = connection.recv(65_536)
                    except TimeoutError:
                        data = b" "
                    except OSError:
                        return
                    if not data:
                        return
                    receiver.received += data.strip()
                    if drips:
                        try:
                            connection.sendall(answer[-1:])
                        except OSError:
                            return

        def accept() -> None:
            while not ended.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                handlers.append(threading.Thread(target=read, args=(connection,), daemon=True))
                handlers[-1].start()

        server.settimeout(0.05)
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            ended.set()
            thread.join()
            for handler in handlers:
                handler.join()
