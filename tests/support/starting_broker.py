"""A broker as it is while it starts: it answers, but at some point knows of no brokers any more."""

import socketserver
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

HOST = "127.0.0.1"
_API_VERSIONS, _METADATA = 18, 3
_VERSIONS = {_API_VERSIONS: 3, _METADATA: 8, 0: 7, 1: 11, 2: 5}
_HEADER = struct.Struct(">hhi")
_NULL = struct.pack(">h", -1)


class StartingBroker(socketserver.ThreadingTCPServer):
    """Answers requests for metadata: the first with itself, the others with no broker at all."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__((HOST, 0), _Connection)
        self.asked = 0

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self.server_address[1]}"

    def metadata(self, topic: bytes) -> bytes:
        """Version 8; an asked topic is unknown."""
        self.asked += 1
        itself = struct.pack(">iih", 1, 1, len(HOST)) + HOST.encode()
        itself += struct.pack(">i", self.server_address[1]) + _NULL
        brokers = itself if self.asked == 1 else struct.pack(">i", 0)
        topics = struct.pack(">i", 0)
        if topic:
            topics = (
                struct.pack(">ihh", 1, 3, len(topic)) + topic + struct.pack(">?ii", False, 0, 0)
            )
        controller = struct.pack(">i", 1)
        return struct.pack(">i", 0) + brokers + _NULL + controller + topics + struct.pack(">i", 0)


class _Connection(socketserver.StreamRequestHandler):
    server: StartingBroker

    def handle(self) -> None:
        while size := self.rfile.read(4):
            request = self.rfile.read(int.from_bytes(size))
            key, _version, correlation = _HEADER.unpack_from(request)
            body = (
                _api_versions() if key == _API_VERSIONS else self.server.metadata(_topic(request))
            )
            answer = struct.pack(">i", correlation) + body
            self.wfile.write(struct.pack(">i", len(answer)) + answer)


def _api_versions() -> bytes:
    known = b"".join(struct.pack(">hhhx", key, 0, newest) for key, newest in _VERSIONS.items())
    return struct.pack(">hB", 0, len(_VERSIONS) + 1) + known + struct.pack(">ix", 0)


def _topic(request: bytes) -> bytes:
    """The first topic that a request for metadata names."""
    client_size = struct.unpack_from(">h", request, _HEADER.size)[0]
    count, size = struct.unpack_from(">ih", request.ljust(64), at := _HEADER.size + 2 + client_size)
    return request[at + 6 : at + 6 + size] if count > 0 else b""


@contextmanager
def starting_broker() -> Iterator[StartingBroker]:
    with StartingBroker() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
