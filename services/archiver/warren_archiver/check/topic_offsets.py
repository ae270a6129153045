"""What a plain consumer finds in a topic: which offsets are there, by partition."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from confluent_kafka.admin import AdminClient
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME
from warren.settings import HomeSettings

from warren_archiver.lake.offset_ranges import OffsetRanges, RangeBuilder
from warren_archiver.topics import log_ends, log_starts


@dataclass(frozen=True, slots=True)
class TopicOffsets:
    """Records of a partition that are still retained, and where the log ended before the reading.

    `retained` may go on beyond `log_end`.
    """

    retained: OffsetRanges
    log_start: int
    log_end: int


def read_offsets(home: HomeSettings, admin: AdminClient, topic: str) -> dict[int, TopicOffsets]:
    """Reads the whole topic once. Raises KafkaError."""
    ends = log_ends(admin, topic)
    builders: dict[int, RangeBuilder] = defaultdict(RangeBuilder)
    reader = TopicReader(HOME, "home", home, [topic])
    try:
        while not reader.caught_up:
            for message in reader.poll(1.0):
                builders[message.partition() or 0].add(message.offset() or 0)
    finally:
        reader.close()
    # Asked for last: what retention has deleted meanwhile is not expected of the table.
    starts = log_starts(admin, topic)
    return {
        partition: TopicOffsets(builders[partition].build(), starts[partition], end)
        for partition, end in ends.items()
    }
