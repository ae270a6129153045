"""What the kernel says of a connection's socket (Linux, tcp_info)."""

import socket
import struct

from warren_wire.brokers import Brokers

_RECEIVED = struct.Struct("=Q")
_RECEIVED_AT = 128  # tcpi_bytes_received in struct tcp_info, linux/tcp.h


def received_bytes(brokers: Brokers) -> int:
    """Bytes that the open connections to a cluster have received since they were opened."""
    return sum(_received(c._writer) for c in brokers._connections.values() if c.connected())


def _received(writer: object) -> int:
    connection = writer.get_extra_info("socket")  # type: ignore[attr-defined]  # asyncio's writer
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    (received,) = _RECEIVED.unpack_from(info, _RECEIVED_AT)
    return int(received)
