"""Offsets by time, asked of partitions' leaders: no record comes over the network."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence

from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.layout import NO_ERROR, TOO_OLD
from warren_wire.list_offsets import FoundOffset, ListOffsetsRequest, listed_offsets
from warren_wire.metadata import NO_LEADER

from warren_freshness.topics.metadata import TopicMetadata

MOST_PARTITIONS = 1000  # of one request
TopicPartition = tuple[str, int]


class OffsetLookups:
    """ListOffsets requests to one monitored cluster."""

    def __init__(self, brokers: Brokers, metadata: TopicMetadata) -> None:
        self._brokers = brokers
        self._metadata = metadata

    async def look_up(
        self, times: Mapping[TopicPartition, int], found: dict[TopicPartition, FoundOffset]
    ) -> Sequence[BaseException | None]:
        """Adds to `found` what brokers answer, as it comes. Returns how their requests failed."""
        by_broker: dict[int, list[TopicPartition]] = defaultdict(list)
        for partition in times:
            leader = self._metadata.leader(*partition)
            if leader != NO_LEADER:
                by_broker[leader].append(partition)
        work = [
            self._ask(broker, {p: times[p] for p in partitions}, found)
            for broker, partitions in by_broker.items()
        ]
        return await asyncio.gather(*work, return_exceptions=True)

    async def _ask(
        self,
        broker: int,
        times: Mapping[TopicPartition, int],
        found: dict[TopicPartition, FoundOffset],
    ) -> None:
        partitions = list(times)
        try:
            for start in range(0, len(partitions), MOST_PARTITIONS):
                chunk = {p: times[p] for p in partitions[start : start + MOST_PARTITIONS]}
                answer = await self._brokers.send(broker, ListOffsetsRequest.by_partition(chunk))
                for partition, error, offset in listed_offsets(answer):
                    if error == NO_ERROR:
                        found[partition] = offset
        except TOO_OLD:
            pass  # it is an old one, and what it would answer means something else
        except UNANSWERED:
            self._metadata.expire()
