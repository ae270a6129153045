"""A broker behind a proxy that can make it answer as one that has just started: with no brokers.

librdkafka drops the brokers that it knows when an answer names none of them, and a client that
knows none never asks again: https://github.com/confluentinc/librdkafka/issues/5301
"""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from support.servers import embedded_kafka
from warren_local.server import HOST, free_port

ASKS_EVERY = {"topic.metadata.refresh.interval.ms": 500}
_METADATA = 3
_HEADER = struct.Struct(">hhi")  # API key, its version, correlation id


class ForgetfulBroker:
    """Forwards all there is to a broker, but for some clients' requests for metadata."""

    def __init__(self) -> None:
        self.forgets = ""
        """The `client.id` of those who are told of no brokers; empty: nobody is."""
        self._listener = socket.create_server((HOST, 0))
        self._sockets: set[socket.socket] = set()
        self._target = 0
        self._lock = threading.Lock()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self.port}"

    def serve(self, target: int) -> None:
        """Forwards to that port from now on, in threads."""
        self._target = target
        threading.Thread(target=self._accept, daemon=True).start()

    @contextmanager
    def forgetting(self, client_id: str) -> Iterator[None]:
        """Ends all connections, and tells such clients of no brokers meanwhile: a consumer that
        asks as in `ASKS_EVERY` has lost all brokers within seconds.
        """
        self.forgets = client_id
        self.disconnect()
        try:
            yield
        finally:
            self.forgets = ""

    def disconnect(self) -> None:
        """Ends all connections, as a broker does that stops: clients ask for metadata anew."""
        with self._lock:
            for each in self._sockets:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            self._sockets.clear()

    def close(self) -> None:
        self._listener.close()
        self.disconnect()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        with client, suppress(OSError), socket.create_connection((HOST, self._target)) as broker:
            with self._lock:
                self._sockets |= {client, broker}
            answering = threading.Thread(target=_copy, args=(broker, client), daemon=True)
            answering.start()
            with suppress(OSError):
                self._forward(client, broker)
            with suppress(OSError):
                broker.shutdown(socket.SHUT_RDWR)
            answering.join()
            with self._lock:
                self._sockets -= {client, broker}

    def _forward(self, client: socket.socket, broker: socket.socket) -> None:
        stream = client.makefile("rb")
        while size := stream.read(4):
            request = stream.read(int.from_bytes(size))
            is_metadata = int.from_bytes(request[:2]) == _METADATA
            if is_metadata and self.forgets and _client_id(request) == self.forgets:
                answer = no_brokers(request)
                client.sendall(len(answer).to_bytes(4) + answer)
            else:
                broker.sendall(size + request)


def no_brokers(request: bytes) -> bytes:
    """The answer to a request for metadata (any version from 9 on, compact fields): one topic of
    which nothing is known, and no brokers.
    """
    _, version, correlation = _HEADER.unpack_from(request)
    assert version >= 9, version
    name = b"unknown"
    topic = struct.pack(">hB", 3, len(name) + 1) + name + (bytes(16) if version >= 10 else b"")
    topic += struct.pack(">?Bix", False, 1, 0)
    answer = struct.pack(">ix", correlation)
    answer += struct.pack(">iBBi", 0, 1, 0, -1)  # throttle, brokers, cluster id, controller
    answer += b"\x02" + topic
    answer += struct.pack(">i", 0) if version <= 10 else b""  # what may be done with the cluster
    answer += struct.pack(">h", 0) if version >= 13 else b""  # error
    return answer + b"\x00"


def _client_id(request: bytes) -> str:
    start = _HEADER.size + 2
    size = int.from_bytes(request[_HEADER.size : start], signed=True)
    return request[start : start + max(size, 0)].decode()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(2**16):
            target.sendall(data)
        target.shutdown(socket.SHUT_RDWR)


@contextmanager
def forgetful_broker(root: Path, logs: Path) -> Iterator[ForgetfulBroker]:
    """A broker of one's own, which clients reach by the proxy alone."""
    proxy, port = ForgetfulBroker(), free_port()
    advertised = {"advertised.listeners": f"PLAINTEXT://{proxy.bootstrap}"}
    proxy.serve(port)
    try:
        with embedded_kafka(root, logs, properties=advertised, port=port):
            yield proxy
    finally:
        proxy.close()
