"""Records for the archiver's tests."""

import types
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pyspark.sql import DataFrame, SparkSession
from warren.contracts import LagEvent, OffsetEvent, TopicPositions, group_key
from warren_archiver.lake.lake import events

NOW = 1_795_244_400_000

KAFKA_SCHEMA = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    "timestampType int, headers array<struct<key:string,value:binary>>"
)
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"


@dataclass(frozen=True)
class Record:
    """As Spark's Kafka source gives it."""

    key: bytes | None
    value: bytes | None
    topic: str = "warren.lag"
    partition: int = 0
    offset: int = 0
    timestamp_ms: int = NOW


def event_frame(spark: SparkSession, records: Sequence[Record]) -> DataFrame:
    """Rows of the archiver's table."""
    rows = [
        (
            record.key,
            record.value,
            record.topic,
            record.partition,
            record.offset,
            datetime.fromtimestamp(record.timestamp_ms / 1000).astimezone(),
            0,
            None,
        )
        for record in records
    ]
    raw = spark.createDataFrame(rows, KAFKA_SCHEMA)
    return events(raw, {record.topic: TOPIC_ID for record in records} or {"none": TOPIC_ID})


def lag_event(group: str, at: int, status: str, lag: int, **more: Any) -> LagEvent:
    return LagEvent.model_validate(
        {
            "cluster": "prod",
            "group": group,
            "evaluated_at": at,
            "status": status,
            "complete": 1.0,
            "policy": "burrow",
            "total_lag": lag,
            **more,
        }
    )


def offset_event(group: str, position: int) -> OffsetEvent:
    positions = TopicPositions(
        partition=[0, 1],
        committed=[position, -1],
        committed_at=[NOW, -1],
        commits=[1, 0],
        log_start=[0, 0],
        log_end=[position + 3, 0],
    )
    return OffsetEvent(
        cluster="prod",
        group=group,
        source="offsets_topic",
        observed_at=NOW + position,
        position=position,
        topics={"orders": positions},
    )


def key(group: str) -> bytes:
    return group_key("prod", group)


def key_of(event: dict[str, Any]) -> bytes:
    """Of a record with that event, where its key says whose it is."""
    own = event.get("data", event)
    return "|".join(own[name] for name in ("cluster", "group", "collector") if name in own).encode()


def sample(annotation: Any, *, full: bool) -> Any:
    """JSON of any contract: `full` fills what may be null or absent, else it is left out."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _within(sample(arguments[0], full=full), arguments[1:])
    if origin in (Union, types.UnionType):
        return sample(arguments[0], full=full) if full else None
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        made = {
            name: _within(sample(field.annotation, full=full), field.metadata)
            for name, field in annotation.model_fields.items()
            if full or field.is_required()
        }
        # No partition is listed twice.
        return made | {"partition": [0, 1]} if isinstance(made.get("partition"), list) else made
    if origin in (list, tuple):
        return [sample(arguments[0], full=full)] * 2
    if origin is dict:
        return {sample(arguments[0], full=full): sample(arguments[1], full=full)}
    if origin is Literal:
        return arguments[-1]
    return _SCALARS[annotation]


def _within(value: Any, metadata: Iterable[Any]) -> Any:
    """As large as the contract has it."""
    for each in metadata:
        limits = getattr(each, "metadata", [each])
        value = min([value, *(limit.le for limit in limits if hasattr(limit, "le"))])
    return value


_SCALARS: dict[Any, Any] = {
    str: 'a "quoted" | name, ü',
    int: 2**53 + 1,
    float: 0.25,
    bool: True,
    bytes: "AP8=",
    datetime: "2026-11-21T07:00:00.123Z",
}
