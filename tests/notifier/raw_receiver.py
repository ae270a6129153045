"""A server that answers any bytes it is given, whatever protocol they belong to."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterable

from warren_local.server import Server

Flood = Callable[[], Iterable[bytes]]


class RawReceiver(Server):
    """Each connection is read once, then answered with the next entry, and closed.

    A callable's chunks are sent until the client hangs up. After the last entry `then` follows.
    """

    def __init__(self, *answers: bytes | Flood, then: bytes, greeting: bool = False) -> None:
        self._answers = list(answers)
        self._then = then
        self._greeting = greeting  # SMTP servers speak first
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._stopping = threading.Event()
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def _serve(self) -> None:
        while not self._stopping.is_set():
            connection, _ = self._listener.accept()
            if self._stopping.is_set():
                connection.close()
                return
            self.connections += 1
            answer = self._answers.pop(0) if self._answers else self._then
            with connection, contextlib.suppress(OSError):
                connection.settimeout(5)
                if not self._greeting:
                    connection.recv(65_536)
                for chunk in [answer] if isinstance(answer, bytes) else answer():
                    connection.sendall(chunk)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65_536):  # closing at once would reset what was sent
                    pass

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port)).close()
        self._thread.join()
        self._listener.close()
