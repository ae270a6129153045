"""DescribeLogDirs: how large a broker's replicas are. Needs DESCRIBE on the cluster.

What is not allowed is an empty answer in version 1, a code in version 3.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from aiokafka.protocol.types import Array, Boolean, CompactArray, Int16, Int32, Int64

from warren_wire.metadata import (
    NO_ERROR,
    NO_TAGS,
    OLD_TEXT,
    TEXT,
    KafkaRequest,
    layout,
    old_row,
    old_rows,
    row,
    rows,
)

_SIZES = {"partition": Int32, "size": Int64, "offset_lag": Int64, "is_future": Boolean}
_VERSION_1 = layout(
    35,
    1,
    is_flexible=False,
    request=old_row(topics=old_rows(topic=OLD_TEXT, partitions=Array(Int32))),
    response=old_row(
        throttle_time_ms=Int32,
        log_dirs=old_rows(
            error_code=Int16,
            log_dir=OLD_TEXT,
            topics=old_rows(topic=OLD_TEXT, partitions=old_rows(**_SIZES)),
        ),
    ),
)
_VERSION_3 = layout(
    35,
    3,
    request=row(topics=rows(topic=TEXT, partitions=CompactArray(Int32))),
    response=row(
        throttle_time_ms=Int32,
        error_code=Int16,
        log_dirs=rows(
            error_code=Int16, log_dir=TEXT, topics=rows(topic=TEXT, partitions=rows(**_SIZES))
        ),
    ),
)


class DescribeLogDirsRequest(KafkaRequest):
    """For the broker that has these partitions, by topic."""

    LAYOUTS = (_VERSION_1, _VERSION_3)

    def __init__(self, partitions: Mapping[str, Sequence[int]]) -> None:
        self._partitions = [(topic, list(listed)) for topic, listed in partitions.items()]

    def values(self, version: int, /) -> Sequence[Any]:
        if version == 1:
            return (self._partitions,)
        return [(*topic, NO_TAGS) for topic in self._partitions], NO_TAGS


class LogSize(NamedTuple):
    """Bytes of a partition's log."""

    topic: str
    partition: int
    size: int


def is_refused(response: Any) -> bool:
    """Whether DESCRIBE on the cluster is not granted."""
    error: int = getattr(response, "error_code", NO_ERROR)
    return error != NO_ERROR or not response.log_dirs


def log_sizes(response: Any) -> Iterator[LogSize]:
    """Of replicas in use, not of those that are being moved to another directory."""
    for error, _directory, topics, *_ in response.log_dirs:
        if error != NO_ERROR:
            continue
        for topic, partitions, *_ in topics:
            for partition, size, _lag, is_future, *_ in partitions:
                if not is_future:
                    yield LogSize(topic, partition, size)
