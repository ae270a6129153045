"""Reading of the offsets topic's partitions beyond their last stable offsets.

librdkafka does not say which records are a transaction's, so these are read as batches.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple

import confluent_kafka
from warren.kafka.connection import classify
from warren.settings import KafkaConnection
from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.list_offsets import LATEST, READ_UNCOMMITTED, ListOffsetsRequest
from warren_wire.metadata import NO_ERROR, NO_LEADER, OUT_OF_RANGE, described_topics
from warren_wire.record_batches import RecordBatch, decoded_batches, fetch_request

PARTITION_BYTES = 2**20  # of one response; the first partition's may be one larger batch
MOST_BYTES = 8 * 2**20
_MOVED = frozenset({3, 5, 6, 9, 74, 75, 76, 100})  # leaders: the next metadata may tell


class Fetched(NamedTuple):
    """From one partition. `end` is the high watermark; before `stable_end` all transactions are
    decided. `is_gone`: the log does not have the offset, as when the topic was created anew.
    """

    end: int
    stable_end: int
    batches: list[RecordBatch]
    is_gone: bool = False


class UnstableReader:
    """For one thread: its event loop runs only within its methods.

    They raise ClusterUnreachable, AuthenticationFailed, AuthorizationFailed or TopicMissing.
    """

    def __init__(self, cluster: str, setting: str, connection: KafkaConnection, topic: str) -> None:
        """Raises SettingsError for what aiokafka cannot do."""
        self._cluster = cluster
        self._setting = setting
        self._topic = topic
        self._brokers = Brokers(cluster, setting, connection)
        self._leaders: dict[int, int] = {}
        self._runner = asyncio.Runner()

    def ends(self, partitions: Iterable[int]) -> dict[int, int]:
        """High watermarks of these partitions; those whose leaders do not answer are left out."""

        def ask(leader: int, partitions: list[tuple[int, int]]) -> Awaitable[Any]:
            return self._brokers.send(leader, ListOffsetsRequest([(self._topic, partitions)]))

        wanted = dict.fromkeys(partitions, LATEST)
        return {row[0]: row[-1] for row in self._runner.run(self._ask(wanted, ask))}

    def fetch(self, offsets: Mapping[int, int]) -> dict[int, Fetched]:
        """What there is from these offsets on, by partition; those that move are left out."""
        fetched: dict[int, Fetched] = {}
        for number, error, end, stable_end, *rest in self._runner.run(
            self._ask(offsets, self._ask_records)
        ):
            if error == OUT_OF_RANGE:
                fetched[number] = Fetched(0, 0, [], is_gone=True)
                continue
            stable = end if stable_end < 0 else stable_end
            fetched[number] = Fetched(end, stable, list(decoded_batches(rest[-1] or b"")))
        return fetched

    def close(self) -> None:
        self._runner.run(self._brokers.close())
        self._runner.close()

    async def _ask(
        self,
        wanted: Mapping[int, int],
        ask: Callable[[int, list[tuple[int, int]]], Awaitable[Any]],
    ) -> list[Any]:
        """The answers about all partitions that have a leader; asks twice where one has moved."""
        answers: dict[int, Any] = {}
        for _ in range(2):
            if not self._leaders.keys() >= wanted.keys():
                for topic in described_topics(await self._brokers.metadata([self._topic])):
                    if topic.error != NO_ERROR and topic.error not in _MOVED:
                        raise classify(
                            self._cluster, self._setting, confluent_kafka.KafkaError(topic.error)
                        )
                    self._leaders = dict(topic.leaders)
            by_leader: dict[int, list[tuple[int, int]]] = defaultdict(list)
            for number in wanted.keys() - answers.keys():
                by_leader[self._leaders.get(number, NO_LEADER)].append((number, wanted[number]))
            by_leader.pop(NO_LEADER, None)
            for leader, partitions in by_leader.items():
                for row in await self._rows(leader, partitions, ask):
                    if self._is_answer(row[1]):
                        answers[row[0]] = row
            if answers.keys() >= wanted.keys():
                break
            self._leaders.clear()
        return list(answers.values())

    async def _rows(
        self,
        leader: int,
        partitions: list[tuple[int, int]],
        ask: Callable[[int, list[tuple[int, int]]], Awaitable[Any]],
    ) -> list[Any]:
        try:
            answer = await ask(leader, partitions)
        except UNANSWERED:
            return []
        return [row for _topic, rows in answer.topics for row in rows]

    def _is_answer(self, code: int) -> bool:
        if code in (NO_ERROR, OUT_OF_RANGE):
            return True
        if code not in _MOVED:
            raise classify(self._cluster, self._setting, confluent_kafka.KafkaError(code))
        return False

    async def _ask_records(self, leader: int, partitions: list[tuple[int, int]]) -> Any:
        wanted = [(number, offset, PARTITION_BYTES) for number, offset in partitions]
        request = fetch_request([(self._topic, wanted)], MOST_BYTES, READ_UNCOMMITTED)
        return await self._brokers.send(leader, request)
