"""How late groups are, in seconds, against the records themselves; and who is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from support.running import Running
from support.waiting import eventually
from warren.kafka.topic_reader import TopicReader
from warren.settings import KafkaConnection

pytestmark = [pytest.mark.end_to_end, pytest.mark.timeout(600)]

LATE = ("demo-slow", "demo-stopped", "demo-stalled")


def newest_freshness(warren: Running) -> dict[str, dict[str, Any]]:
    """The newest event of each group on warren.freshness."""
    home = KafkaConnection(bootstrap=warren.run["home_kafka"])
    reader = TopicReader("home", "home", home, ["warren.freshness"])
    events: dict[str, dict[str, Any]] = {}
    while not reader.caught_up:
        for record in reader.poll(0.5):
            event = json.loads(record.value() or b"{}")
            if event:
                events[event["group"]] = event
    reader.close()
    return events


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


def arrived(warren: Running, name: str) -> list[dict[str, Any]]:
    file = warren.state / name
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_opening_and_closing_arrive_by_mail_and_webhook(warren: Running) -> None:
    def told(status: str) -> bool:
        return any(
            hook["event"]["data"]["group"] == "demo-recovering"
            and hook["event"]["data"]["status"] == status
            for hook in arrived(warren, "webhooks.jsonl")
        )

    eventually(lambda: told("ERR") and told("OK"), timeout=240, message="webhooks of both ends")
    assert all(hook["verified"] for hook in arrived(warren, "webhooks.jsonl"))
    mails = eventually(
        lambda: [
            mail for mail in arrived(warren, "mails.jsonl") if "demo-recovering" in mail["subject"]
        ][1:],
        message="mails of both ends",
    )
    assert all(mail["text"] and mail["html"] for mail in mails)


@pytest.mark.parametrize("service", ["freshness", "notifier", "archiver"])
def test_a_killed_service_is_back_and_goes_on(warren: Running, service: str) -> None:
    dead = warren.kill(service)
    eventually(lambda: warren.restarted(service, dead), timeout=60, message=f"{service} runs again")
    if service == "freshness":
        before = newest_freshness(warren)["demo-slow"]["measured_at"]
        eventually(
            lambda: newest_freshness(warren)["demo-slow"]["measured_at"] > before,
            timeout=60,
            message="new measurements",
        )
