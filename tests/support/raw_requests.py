"""Requests to a broker that no client for Python sends, encoded by Kafka's own schemas."""

import socket
import struct
from dataclasses import dataclass

import support.coordinator_records as encode
from support.kafka_schemas import Fields, Schema

TIMEOUT = 30.0  # seconds
_CORRELATION = 7


@dataclass(frozen=True, slots=True)
class RawBroker:
    """A lone broker: it coordinates every group."""

    bootstrap: str
    schemas: dict[str, Schema]

    def send(self, request: str, fields: Fields, version: int = 0) -> bytes:
        """The response without its header. `fields` by name in snake case, the others empty."""
        schema = self.schemas[f"{request}Request"]
        is_flexible = schema.is_flexible(version)
        header = struct.pack(">hhi", schema.key_version, version, _CORRELATION)
        header += encode.string("raw") + (encode.tagged_fields({}) if is_flexible else b"")
        body = schema.encoded(schema.filled(fields, version), version)[2:]
        host, _, port = self.bootstrap.rpartition(":")
        with socket.create_connection((host, int(port)), TIMEOUT) as connection:
            connection.sendall(struct.pack(">i", len(header + body)) + header + body)
            answer = connection.makefile("rb")
            (size,) = struct.unpack(">i", answer.read(4))
            content = answer.read(size)
        (correlation,) = struct.unpack_from(">i", content)
        assert correlation == _CORRELATION
        return content[5 if is_flexible else 4 :]


def error_code(response: bytes, at: int) -> int:
    """The int16 at that byte; 0 for none."""
    (code,) = struct.unpack_from(">h", response, at)
    return int(code)
