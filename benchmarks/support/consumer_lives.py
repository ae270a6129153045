"""Lives of consumers: real clients that work, are too slow, stand still, go back, or end."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

from confluent_kafka import OFFSET_END, Consumer, KafkaException, TopicPartition

PARTITIONS = 2
RATE = 20  # records that are written to each partition in a second
BACK = 400  # records
CREEPS = 0.1  # of what is written: its lag grows clearly, whenever log ends are read

Does = Literal["reads", "creeps", "stands", "rests", "goes back"]


@dataclass(frozen=True, slots=True)
class Life:
    """What it does and for how many seconds; it commits every `every` seconds. It begins `behind`
    records before the end. It reads `partitions`, or with `in_turn` one after the other.
    """

    phases: tuple[tuple[Does, float], ...]
    every: float = 2.0
    behind: int = 0
    in_turn: bool = False


LIVES: dict[str, Life] = {
    "steady": Life((("reads", 90),)),
    "seldom": Life((("reads", 90),), every=5),
    "stops": Life((("reads", 45),)),
    "stops-young": Life((("reads", 8),)),
    "stops-seldom": Life((("reads", 22),), every=5),
    "stops-behind": Life((("creeps", 14),), behind=1000),
    "one-commit": Life((("reads", 1),)),
    "one-commit-behind": Life((("creeps", 1),), behind=1000),
    "stalls": Life((("reads", 30), ("stands", 40), ("reads", 20))),
    "stalls-at-once": Life((("stands", 50), ("reads", 20)), behind=100),
    "goes-back": Life((("reads", 25), ("goes back", 2), ("creeps", 30), ("reads", 30))),
    "goes-back-young": Life((("reads", 6), ("goes back", 2), ("creeps", 30), ("reads", 30))),
    "too-slow": Life((("creeps", 90),), behind=500),
    "pauses": Life((("reads", 20), ("rests", 35), ("reads", 30))),
    "backlog": Life((("reads", 60),), behind=3000),
    "in-turn": Life((("reads", 80),), behind=3000, in_turn=True),
}


def live(bootstrap: str, topic: str, group: str, life: Life) -> None:
    """One life of a group of one member, from its first commit on."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "enable.auto.commit": False,
            "log_level": 0,
        }
    )
    try:
        _live(consumer, topic, life)
    finally:
        consumer.close()


def _live(consumer: Consumer, topic: str, life: Life) -> None:
    places = [TopicPartition(topic, number) for number in range(PARTITIONS)]
    ends = [_end(consumer, topic, number) for number in range(PARTITIONS)]
    at = [max(end - life.behind, 0) for end in ends]
    for place, offset in zip(places, at, strict=True):
        place.offset = offset if life.behind else OFFSET_END
    consumer.assign(places)
    started = time.monotonic()
    due = 0.0
    for does, seconds in life.phases:
        until = due + seconds
        while due < until:
            time.sleep(max(started + due - time.monotonic(), 0))
            read = _reading(life, due)
            if does == "goes back":
                for number in read:
                    at[number] = max(at[number] - BACK, 0)
                    consumer.seek(TopicPartition(topic, number, at[number]))
            elif does in ("reads", "creeps"):
                most = round(RATE * life.every * (CREEPS if does == "creeps" else 25))
                _read(consumer, topic, at, read, most)
            if does != "rests":
                told = [TopicPartition(topic, number, at[number]) for number in read]
                consumer.commit(offsets=told, asynchronous=False)
            due += life.every


def _end(consumer: Consumer, topic: str, partition: int) -> int:
    """Of the log. A topic that has just been made has no leader for a moment."""
    deadline = time.monotonic() + 30
    while True:
        try:
            place = TopicPartition(topic, partition)
            return int(consumer.get_watermark_offsets(place, timeout=30)[1])
        except KafkaException:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def _reading(life: Life, due: float) -> list[int]:
    if not life.in_turn:
        return list(range(PARTITIONS))
    return [int(due // 20) % PARTITIONS]


def _read(consumer: Consumer, topic: str, at: list[int], read: list[int], most: int) -> None:
    """So many records of each partition at most, those that are there now."""
    for number in read:
        others = [TopicPartition(topic, n) for n in range(PARTITIONS) if n != number]
        end = _end(consumer, topic, number)
        wanted = min(at[number] + most, end)
        consumer.pause(others)
        while at[number] < wanted:
            for message in consumer.consume(wanted - at[number], 0.2):
                if message.error() is None and message.partition() == number:
                    at[number] = (message.offset() or 0) + 1
        consumer.resume(others)
