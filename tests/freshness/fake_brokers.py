"""Brokers that answer from memory, for what real ones do rarely."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from aiokafka.errors import KafkaConnectionError
from support.record_batches import batch, marker
from warren.errors import ClusterUnreachable
from warren_wire.partition_requests import EARLIEST, EARLIEST_LOCAL, NOT_FOUND, FoundOffset

NOT_LEADER = 6
NOT_AUTHORISED = 29
OUT_OF_RANGE = 1
_FETCH = 1
_VERSIONS = {_FETCH: (4, 4), 2: (8, 8), 32: (1, 2)}


@dataclass
class FakeLog:
    """One partition: {offset: timestamp}, one batch per record."""

    records: dict[int, int]
    leader: int = 1
    start: int = 0
    error: int = 0
    size: int = 0
    """Bytes that must be asked for, unless the partition is the first of a request."""
    markers: int = 0
    """Control records before the records; a response has only one of them."""

    local_start: int = 0
    """What is before it is in remote storage only."""

    def find(self, time: int) -> FoundOffset:
        """Answers ListOffsets."""
        if time in (EARLIEST, EARLIEST_LOCAL):
            return FoundOffset(NOT_FOUND, self.start if time == EARLIEST else self.local_start)
        first = next((o for o, at in self.records.items() if at >= time), NOT_FOUND)
        return FoundOffset(self.records.get(first, NOT_FOUND), first)

    @property
    def end(self) -> int:
        return max(self.records, default=self.start - 1) + 1


@dataclass
class FakeBrokers:
    """Logs by topic and partition."""

    logs: dict[tuple[str, int], FakeLog]
    unreachable: set[int] = field(default_factory=set)
    hanging: set[int] = field(default_factory=set)
    no_metadata: bool = False
    unauthorised: set[str] = field(default_factory=set)
    refusal: Callable[[int], Exception | None] = lambda _broker: None
    fetches: list[list[tuple[str, int]]] = field(default_factory=list)
    """Partitions of each fetch request."""
    config: dict[str, str] = field(default_factory=dict)
    """Of all topics."""
    metadata_requests: int = 0
    received_bytes: int = 0

    async def metadata(self, topics: Sequence[str]) -> Any:
        self.metadata_requests += 1
        if self.no_metadata:
            raise ClusterUnreachable("prod", "clusters.prod.bootstrap", "no broker answers")
        return SimpleNamespace(API_VERSION=5, topics=[self._describe(topic) for topic in topics])

    async def send(self, broker: int, request: Any) -> Any:
        if broker in self.hanging:
            await asyncio.Event().wait()
        if broker in self.unreachable:
            raise KafkaConnectionError("gone")
        if (refusal := self.refusal(broker)) is not None:
            raise refusal
        topics = request.prepare(_VERSIONS).topics
        if request.API_KEY == _FETCH:
            return SimpleNamespace(topics=list(self._fetch(topics)))
        return SimpleNamespace(
            topics=[
                (topic, [(p, 0, *self.logs[topic, p].find(time)) for p, _, time, _ in partitions])
                for topic, partitions, _ in topics
            ]
        )

    async def send_to_any(self, request: Any) -> Any:
        """The configuration of topics."""
        resources = request.prepare(_VERSIONS).resources
        return SimpleNamespace(
            resources=[
                (
                    0,
                    "",
                    kind,
                    topic,
                    [(name, self.config[name]) for name in names & self.config.keys()],
                )
                for kind, topic, listed in resources
                for names in [set(listed)]
            ]
        )

    async def close(self) -> None:
        pass

    def _describe(self, topic: str) -> tuple[Any, ...]:
        if topic in self.unauthorised:
            return NOT_AUTHORISED, topic, False, []
        partitions = [(0, p, log.leader) for (t, p), log in self.logs.items() if t == topic]
        return 0, topic, False, partitions

    def _fetch(self, topics: Sequence[Any]) -> Iterable[tuple[str, list[tuple[Any, ...]]]]:
        requested = [(topic, p) for topic, partitions in topics for p, _, _ in partitions]
        self.fetches.append(requested)
        first = True
        for topic, partitions in topics:
            answers = []
            for partition, offset, size in partitions:
                log = self.logs[topic, partition]
                answers.append(_answer(partition, log, offset, fits=first or size >= log.size))
                first = False
            yield topic, answers


def _answer(partition: int, log: FakeLog, offset: int, *, fits: bool) -> tuple[Any, ...]:
    error = log.error or (0 if log.start <= offset <= log.end else OUT_OF_RANGE)
    if error:
        return partition, error, -1, -1, None, b""
    if offset < log.start + log.markers:
        return partition, 0, log.end, log.end, [], marker(offset, 7, commit=True)
    content = b"".join(batch({o: t}) for o, t in log.records.items() if o >= offset)
    return partition, 0, log.end, log.end, [], content if fits else b""
