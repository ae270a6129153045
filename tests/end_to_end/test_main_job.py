"""Real consumers in, judged groups out: what a newcomer sees, and what survives kill -9."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema
import pytest
from bs4 import BeautifulSoup
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from prometheus_client.parser import text_string_to_metric_families
from support.running import Running, user_file
from support.waiting import eventually
from warren.contracts import StatusChangeEvent
from warren.kafka.topic_reader import TopicReader
from warren.settings import HomeSettings

pytestmark = pytest.mark.timeout(600)

EXPECTED = {
    "demo-healthy": ("OK", set()),
    "demo-slow": ("WARN", {"WARN"}),
    "demo-stopped": ("ERR", {"STOP"}),
    "demo-stalled": ("ERR", {"STALL"}),
    "demo-rewound": ("ERR", {"REWIND"}),
}


class Subscriber:
    """A subscriber with nothing but confluent-kafka: drops equal ids, keeps the order."""

    def __init__(self, bootstrap: str) -> None:
        topic = "warren.lag-status"
        self._consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "subscriber"})
        metadata = self._consumer.list_topics(topic, timeout=10).topics[topic]
        self._consumer.assign(
            [TopicPartition(topic, p, OFFSET_BEGINNING) for p in metadata.partitions]
        )
        self.ids: list[str] = []
        self.events: list[dict[str, Any]] = []

    def read(self) -> list[dict[str, Any]]:
        """All events so far, equal ids once."""
        for message in self._consumer.consume(1000, 0.5):
            assert message.error() is None
            event = json.loads(message.value() or b"")
            if event["id"] not in self.ids:
                self.events.append(event)
            self.ids.append(event["id"])
        return self.events

    def close(self) -> None:
        self._consumer.close()


@pytest.fixture
def subscriber(warren: Running) -> Iterator[Subscriber]:
    subscriber = Subscriber(warren.run["home_kafka"])
    yield subscriber
    subscriber.close()


def bad_partitions(warren: Running, group: str) -> set[str]:
    body = warren.get(f"/v3/kafka/{warren.run['cluster']}/consumer/{group}/status").json()
    return {partition["status"] for partition in body["status"]["partitions"]}


def as_expected(warren: Running) -> bool:
    return all(warren.group_status(group) == want for group, (want, _) in EXPECTED.items())


def test_each_demo_group_shows_its_status(warren: Running) -> None:
    eventually(
        lambda: as_expected(warren), timeout=90, message=f"the demo statuses; {warren.statuses()}"
    )
    for group, (_, partitions) in EXPECTED.items():
        assert bad_partitions(warren, group) == partitions, group


def test_page_api_and_metrics_agree(warren: Running) -> None:
    eventually(lambda: as_expected(warren), timeout=90, message="the demo statuses")

    def agree() -> bool:
        api = {g: s for g, s in warren.statuses().items() if g in EXPECTED}
        page = BeautifulSoup(warren.get("/?q=is:any").text, "html.parser").get_text(" ", strip=True)
        families = text_string_to_metric_families(warren.get("/metrics").text)
        codes = {
            sample.labels["consumer_group"]: int(sample.value)
            for family in families
            for sample in family.samples
            if sample.name == "burrow_kafka_consumer_status"
        }
        names = ("NOTFOUND", "OK", "WARN", "ERR")
        return (
            api == {group: status for group, (status, _) in EXPECTED.items()}
            and all(names[codes[group]] == status for group, status in api.items())
            and all(group in page for group in api)
        )

    eventually(agree, message="page, API and metrics agree")


def test_a_subscriber_needs_only_confluent_kafka_and_the_schema(
    subscriber: Subscriber,
) -> None:
    schema = StatusChangeEvent.model_json_schema(mode="serialization", by_alias=True)
    wanted = {group for group, (status, _) in EXPECTED.items() if status != "OK"}
    eventually(
        lambda: wanted <= {event["subject"] for event in subscriber.read()},
        timeout=90,
        message="a status change of every bad group",
    )
    for event in subscriber.events:
        jsonschema.validate(event, schema)


@pytest.mark.heavy
@pytest.mark.parametrize("service", ["evaluator", "collector"])
def test_kill_9_loses_nothing_and_nothing_flaps(
    warren: Running, subscriber: Subscriber, service: str
) -> None:
    eventually(lambda: as_expected(warren), timeout=90, message="the demo statuses")
    subscriber.read()
    evaluated = evaluated_at(warren)
    dead = warren.kill(service)
    eventually(lambda: warren.restarted(service, dead), message=f"{service} runs again")
    eventually(
        lambda: all(evaluated_at(warren)[g] > at + 5_000 for g, at in evaluated.items()),
        timeout=90,
        message="all groups are judged again",
    )
    eventually(lambda: as_expected(warren), message="the same statuses as before")
    steady = [e["data"] for e in of_status(subscriber) if e["subject"] in EXPECTED]
    by_group: dict[str, list[str]] = {}
    for change in steady:
        by_group.setdefault(change["group"], []).append(change["previous"])
        by_group[change["group"]].append(change["status"])
    for group, chain in by_group.items():
        # previous/status pairs link up: no event is missing in between
        assert chain[1:-1:2] == chain[2::2], (group, chain)
        assert chain[-1] == EXPECTED[group][0], (group, chain)


def of_status(subscriber: Subscriber) -> list[dict[str, Any]]:
    """Objectives have incidents of their own."""
    return [e for e in subscriber.read() if e["type"] == "warren.group.status.changed"]


def evaluated_at(warren: Running) -> dict[str, int]:
    groups = warren.get("/api/v1/groups").json()["groups"]
    return {g["group"]: g["evaluated_at"] for g in groups if g["group"] in EXPECTED}


def test_bad_input_is_dead_lettered_and_harms_nobody(warren: Running) -> None:
    run = warren.run
    key = f"{run['cluster']}|demo-healthy".encode()
    producer = Producer({"bootstrap.servers": run["home_kafka"], "partitioner": "murmur2_random"})
    bad = [b"this is not JSON", b'{"v":1,"cluster":"demo","gro', b'{"v":99,"cluster":"demo"}']
    for value in bad:
        producer.produce("warren.offsets", key=key, value=value)
    producer.flush()
    before = evaluated_at(warren)["demo-healthy"]
    home = HomeSettings(bootstrap=run["home_kafka"])
    reader = TopicReader(home, ["warren.dead-letters"])
    found: list[dict[str, Any]] = []

    def all_there() -> bool:
        found.extend(json.loads(record.value() or b"") for record in reader.poll(0.5))
        return len(found) >= len(bad)

    eventually(all_there, message="three dead letters")
    reader.close()
    assert all(letter["reason"] and letter["topic"] == "warren.offsets" for letter in found)
    assert all(letter["partition"] >= 0 and letter["offset"] >= 0 for letter in found)
    eventually(
        lambda: evaluated_at(warren)["demo-healthy"] > before + 2_000,
        message="later events of the group are judged",
    )


def test_filters_in_the_users_file_are_taken_up(warren: Running) -> None:
    eventually(
        lambda: "demo-rewound" in warren.statuses(), timeout=90, message="the group is shown"
    )
    file = user_file(warren.state)
    file.write_text("[filters]\ngroups_deny = ['^demo-rewound$']\n")
    eventually(lambda: "demo-rewound" not in warren.statuses(), message="it is hidden")
    assert "demo-healthy" in warren.statuses()
    file.write_text("")
    eventually(lambda: "demo-rewound" in warren.statuses(), message="it is shown again")


@pytest.mark.heavy
def test_objectives_in_the_users_file_are_taken_up(warren: Running, subscriber: Subscriber) -> None:
    def told() -> list[tuple[str, str | None]]:
        return [
            (event["data"]["status"], event["data"]["reason"])
            for event in subscriber.read()
            if (event["type"], event["subject"])
            == ("warren.group.freshness.changed", "demo-stopped")
        ]

    file = user_file(warren.state)
    file.write_text(
        "[[objectives]]\nname = 'near'\ngroups = ['^demo-stopped$']\nmax_lag = 1\nfor = 0\n"
    )
    eventually(lambda: told() == [("WARN", "max_lag")], timeout=120, message="it is not kept")
    assert is_broken(warren, "near")
    file.write_text("")
    closed = [("WARN", "max_lag"), ("OK", "objective_removed")]
    eventually(lambda: told() == closed, timeout=120, message="nobody asks any more")
    assert not is_broken(warren, "near")


def is_broken(warren: Running, objective: str) -> bool:
    """Whether the evaluator's metrics say that some group does not keep it."""
    address = f"http://127.0.0.1:{warren.metrics_port('evaluator')}/metrics"
    return any(
        sample.name == "warren_evaluator_objective_broken_timestamp_seconds"
        and sample.labels["objective"] == objective
        for family in text_string_to_metric_families(httpx.get(address, timeout=30).text)
        for sample in family.samples
    )


@pytest.mark.heavy
def test_a_recovering_group_opens_and_closes_one_incident(subscriber: Subscriber) -> None:
    def closed() -> list[dict[str, Any]]:
        events = [e for e in subscriber.read() if e["subject"] == "demo-recovering"]
        return [e for e in events if e["data"]["status"] == "OK"]

    closing = eventually(closed, timeout=240, message="demo-recovering recovers")[0]["data"]
    opening = [
        e["data"]
        for e in subscriber.events
        if e["subject"] == "demo-recovering"
        and e["data"]["incident_id"] == closing["incident_id"]
        and e["data"]["previous"] == "OK"
    ]
    assert len(opening) == 1
    assert opening[0]["opened_at"] == closing["opened_at"]
