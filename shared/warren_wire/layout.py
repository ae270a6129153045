"""How requests and responses are laid out, field by field, after Kafka's JSON files of their names.

A request has a layout for each version that it can speak; aiokafka takes the last one in its list
that the broker knows too. Flexible versions (KIP-482) end each row in tags.
"""

import abc
from collections.abc import Sequence
from io import BytesIO
from typing import Any, ClassVar

from aiokafka.errors import IncompatibleBrokerVersion
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Array, CompactArray, CompactString, Schema, String, TaggedFields

NO_ERROR = 0
OUT_OF_RANGE = 1
UNKNOWN_TOPIC = 3
INVALID_TOPIC = 17
NOT_AUTHORISED = 29
GROUP_NOT_AUTHORISED = 30

TOO_OLD = (NotImplementedError, IncompatibleBrokerVersion)
"""What sending a request raises that the broker does not know, or not with these values."""

TEXT = CompactString("utf-8")
OLD_TEXT = String("utf-8")
NO_TAGS: dict[int, bytes] = {}
_TAGS = ("tags", TaggedFields)


class Uuid:
    """16 bytes."""

    @staticmethod
    def encode(value: bytes) -> bytes:
        return value

    @staticmethod
    def decode(data: BytesIO) -> bytes:
        return data.read(16)

    @staticmethod
    def repr(value: bytes) -> str:
        return value.hex()


def row(**fields: Any) -> Schema:
    """Fields in this order, in a flexible version."""
    return Schema(*fields.items(), _TAGS)


def rows(**fields: Any) -> CompactArray:
    """Any number of such rows."""
    return CompactArray(*fields.items(), _TAGS)


def old_row(**fields: Any) -> Schema:
    """Fields in this order, in a version that is not flexible."""
    return Schema(*fields.items())


def old_rows(**fields: Any) -> Array:
    """Any number of such rows."""
    return Array(*fields.items())


def layout(
    key: int, version: int, *, request: Schema, response: Schema, is_flexible: bool = True
) -> type[RequestStruct]:
    """Of one version of the request with that key, and of the response to it."""
    numbers = {"API_KEY": key, "API_VERSION": version}
    answer = type(f"Response{key}_{version}", (Response,), {**numbers, "SCHEMA": response})
    fields = {"FLEXIBLE_VERSION": is_flexible, "RESPONSE_TYPE": answer, "SCHEMA": request}
    return type(f"Request{key}_{version}", (RequestStruct,), {**numbers, **fields})


class KafkaRequest(Request[RequestStruct]):  # type: ignore[misc]  # untyped base
    """A request, in whichever of its layouts the broker knows."""

    API_KEY = -1
    LAYOUTS: ClassVar[Sequence[type[RequestStruct]]]
    """By version."""

    def __init_subclass__(cls) -> None:
        cls.API_KEY, cls._CLASSES = cls.LAYOUTS[0].API_KEY, cls.LAYOUTS

    def build(self, request_struct_class: type[RequestStruct]) -> RequestStruct:
        return request_struct_class(*self.values(request_struct_class.API_VERSION))

    @abc.abstractmethod
    def values(self, version: int, /) -> Sequence[Any]:
        """Of the fields in the layout of that version. Raises one of TOO_OLD."""
