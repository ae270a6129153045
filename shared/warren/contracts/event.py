"""What all events share: strictness, versioning, reading and writing."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from warren.contracts.group_key import group_key
from warren.errors import ContractViolation
from warren.words import LATEST_MOMENT

ClusterName = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9._-]+$", max_length=249, description="Cluster name")
]
"""As long as a topic's name may be."""
MOST_BYTES = 8 * 2**20  # of a record with an event
Milliseconds = Annotated[int, Field(description="Unix milliseconds; -1 unknown where lists say so")]
Moment = Annotated[int, Field(ge=0, le=LATEST_MOMENT, description="Unix milliseconds")]
"""Of which an event is: what is none ends no reader."""
MOST_NAME = 65_535
"""Characters of a consumer group's name: as large as one may be on Kafka's wire."""
GroupName = Annotated[str, Field(max_length=MOST_NAME, description="Consumer group")]
Offset = Annotated[int, Field(ge=-1, description="Kafka offset; -1 unknown")]
Count = Annotated[int, Field(ge=0, lt=2**63)]
"""Of records; Spark and Java have no larger whole number."""
Partition = Annotated[int, Field(ge=0, description="Partition number")]
Row = Annotated[int, Field(ge=0, lt=200_000, description="Partition number")]
"""Of which readers make lists: no topic has as many as a whole cluster is built for."""
Share = Annotated[float, Field(ge=0, le=1)]


Headers: TypeAlias = Sequence[tuple[str, bytes]]


class Event(BaseModel):
    """A value on one of Warren's topics: UTF-8 JSON. Readers ignore fields they do not know."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    topic_name: ClassVar[str]
    content_type: ClassVar[str] = "application/json"
    headers: ClassVar[Headers] = ()
    """Of every record with such an event."""

    def to_bytes(self) -> bytes:
        return self.model_dump_json().encode()

    @classmethod
    def from_bytes(cls, value: bytes | None) -> Self:
        """Reads an event.

        Raises ContractViolation for a tombstone and for anything that the contract does not allow.
        """
        if value is None:
            raise ContractViolation("no value (a tombstone where an event is expected)")
        try:
            return cls.model_validate_json(value, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "value"
            more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
            raise ContractViolation(f"{where}: {first['msg']}{more}") from error


class KeyedEvent(Event):
    """An event whose key says whose it is. The one gate for what comes from a topic."""

    @property
    @abstractmethod
    def about(self) -> tuple[str, str]:
        """The cluster, and the group or collector, that its key names."""

    @property
    def key(self) -> bytes:
        """Of its record."""
        return group_key(*self.about)

    def whole(self, key: bytes | None) -> bytes | None:
        """The key as far as it names whose the event is: all of it, where events have no parts."""
        return key

    @classmethod
    def from_record(cls, key: bytes | None, value: bytes | None) -> Self:
        """Reads a record. Raises ContractViolation as `from_bytes` does, and where the key is
        another's.
        """
        event = cls.from_bytes(value)
        if event.whole(key) != event.key:
            raise ContractViolation("key: not that of the event's cluster and group")
        return event


class EventOfGroup(KeyedEvent):
    """An event of a consumer group."""

    v: Literal[1] = 1
    cluster: ClusterName
    group: GroupName

    @property
    def about(self) -> tuple[str, str]:
        return self.cluster, self.group


def is_none(value: object) -> bool:
    """For a field that is left out where there is nothing to say."""
    return value is None


def is_empty(value: object) -> bool:
    """For a list that is left out where nothing is in it."""
    return not value


def nulls(columns: dict[str, Any]) -> list[Any]:
    """For a column that says nothing."""
    return [None] * len(columns.get("partition", ()))


def require_equal_lengths(columns: BaseModel) -> None:
    """Every list field of a column model has one entry per partition, each partition once."""
    values = vars(columns)  # millions of these are read: pydantic's iterator takes twice as long
    partitions = values["partition"]
    count = len(partitions)
    for value in values.values():  # a generator takes twice as long
        if type(value) is list and len(value) != count:
            odd = (name for name, of in values.items() if type(of) is list and len(of) != count)
            raise ValueError(f"columns differ in length from partition: {', '.join(odd)}")
    if len(set(partitions)) != count:
        raise ValueError("a partition is listed twice")
