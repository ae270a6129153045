"""How late groups are, in seconds, against the records themselves."""

from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from support.home_topics import newest_freshness
from support.running import Running
from support.waiting import eventually

pytestmark = pytest.mark.timeout(600)

LATE = ("demo-slow", "demo-stopped", "demo-stalled")


def record_time(bootstrap: str, topic: str, partition: int, offset: int) -> int:
    """Timestamp of the record at that offset, by a plain consumer."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "truth"})
    consumer.assign([TopicPartition(topic, partition, offset)])
    message = eventually(lambda: consumer.poll(1.0), message=f"{topic}/{partition} at {offset}")
    consumer.close()
    assert message.offset() == offset
    return int(message.timestamp()[1])


def test_freshness_is_that_of_the_records_themselves(warren: Running) -> None:
    def known() -> dict[str, dict[str, Any]]:
        found = newest_freshness(warren)
        late = {group: found[group] for group in LATE if group in found}
        return late if all(event["freshness_ms"] for event in late.values()) else {}

    events = eventually(
        lambda: found if len(found := known()) == len(LATE) else None,
        timeout=120,
        message="freshness of the late groups",
    )
    for group in LATE:
        for topic, columns in events[group]["topics"].items():
            rows = zip(
                columns["partition"],
                columns["committed"],
                columns["freshness_ms"],
                columns["reason"],
                strict=True,
            )
            for partition, committed, freshness, reason in rows:
                if reason == "caught_up":
                    assert freshness == 0
                    continue
                assert reason == "exact", (group, topic, partition)
                at = record_time(warren.run["kafka"], topic, partition, committed)
                truth = events[group]["measured_at"] - at
                assert abs(freshness - truth) <= 100, (group, topic, partition)
