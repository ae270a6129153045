"""The service as a process: on a real broker, without one, and when the broker goes away."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from api.api_process import Service, Start
from api.served_api import (
    group_event,
    lag_event,
    status_change,
    topic,
)
from support.servers import embedded_kafka
from support.waiting import eventually
from warren.contracts import GroupIncidentEvent, group_key
from warren.contracts.event import Headers
from warren.contracts.topics import GROUPS, INCIDENTS, LAG, LAG_STATUS, Topic
from warren.kafka.connection import connect
from warren.kafka.producer import EventProducer
from warren.kafka.topics import ensure_topics
from warren.settings import HomeSettings
from warren_core.group_incident import fold


def publish(
    home: HomeSettings,
    events: list[tuple[str, bytes | None]],
    to: Topic = LAG,
    headers: Headers | None = None,
) -> None:
    """`headers`: None for those of the topic's events."""
    producer = EventProducer(home)
    sent = to.event.headers if headers is None else headers
    for group, value in events:
        producer.send(to.full_name(home.topic_prefix), group_key("demo", group), value, sent)
    producer.flush()


@pytest.fixture
def home(broker: Any, unique: str) -> HomeSettings:
    settings = HomeSettings(bootstrap=broker.bootstrap, topic_prefix=f"{unique}.", partitions=2)
    ensure_topics(connect("home", "home", settings), settings)
    return settings


def test_ready_only_when_the_end_seen_at_start_has_been_passed(
    start: Start, home: HomeSettings
) -> None:
    publish(
        home,
        [
            (f"group-{n}", lag_event(f"group-{n}", total_lag=turn).to_bytes())
            for turn in range(50)
            for n in range(40)
        ],
    )
    publish(home, [("group-0", None), ("group-1", b"malformed")])
    service = start(home)
    eventually(service.ready, message="ready")
    groups = service.get("/api/v1/groups").json()["groups"]
    # group-1: its newest event is malformed; the next evaluation brings the group back.
    assert {g["group"] for g in groups} == {f"group-{n}" for n in range(2, 40)}
    assert {g["total_lag"] for g in groups} == {49}
    assert f'warren_api_events_refused_total{{topic="{home.topic_prefix}lag"}} 1.0' in (
        service.get("/metrics").text
    )


def test_events_and_tombstones_are_served_as_they_come(start: Start, home: HomeSettings) -> None:
    service = start(home)
    eventually(service.ready, message="ready")
    status = "/v3/kafka/demo/consumer/a%2Fb/status"
    assert service.get(status).status_code == 404
    behind = lag_event("a/b", total_lag=5, topics={"orders": topic({"lag": 5})})
    publish(home, [("a/b", behind.to_bytes())])
    eventually(lambda: service.get(status).status_code == 200, message="the group is there")
    assert service.get(status).json()["status"]["totallag"] == 5
    publish(home, [("a/b", None)])
    eventually(lambda: service.get(status).status_code == 404, message="the group is gone")
    assert service.end() == 0
    assert [line["event"] for line in service.lines()][-1] == "stopped"


@pytest.mark.heavy
@pytest.mark.kafka
def test_it_outlives_the_home_cluster(
    start: Start, pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    with embedded_kafka(pytestconfig.rootpath, tmp_path) as kafka:
        home = HomeSettings(bootstrap=kafka.bootstrap, topic_prefix="mine.", partitions=2)
        service = start(home)
        eventually(service.ready, message="ready")
        publish(home, [("g", lag_event("g", total_lag=1).to_bytes())])

        def total_lag() -> int | None:
            groups = service.get("/api/v1/groups").json()["groups"]
            return groups[0]["total_lag"] if groups else None

        eventually(lambda: total_lag() == 1, message="the first event is served")
        kafka.kill()
        eventually(
            lambda: "warren_api_feed_working 0\n" in service.get("/metrics").text,
            message="the outage is noticed",
        )
        assert total_lag() == 1
        assert service.ready()
        kafka.start()
        publish(home, [("g", lag_event("g", total_lag=2).to_bytes())])
        eventually(lambda: total_lag() == 2, message="reading goes on")
        assert "warren_api_feed_working 1\n" in service.get("/metrics").text


@pytest.mark.heavy
def test_members_the_past_and_events_survive_a_restart(start: Start, home: HomeSettings) -> None:
    """A client that followed the first copy goes on at the second with what it missed. Changes are
    taken from records without headers as well, as earlier evaluators sent them.
    """
    ids: list[str] = []
    known: dict[str, GroupIncidentEvent | None] = {}

    def subjects(service: Service, last_event_id: str, count: int) -> list[str]:
        url = f"{service.address()}/api/v1/events"
        headers = {"Last-Event-ID": last_event_id}
        found: list[str] = []
        with httpx.stream("GET", url, headers=headers, timeout=60) as response:
            for line in response.iter_lines():
                if line.startswith("data: "):
                    found.append(json.loads(line.removeprefix("data: "))["subject"])
                elif line.startswith("id: "):
                    ids.append(line.removeprefix("id: "))
                if len(found) == count:
                    break
        return found

    def tell(group: str, status: str, at: int, headers: Headers | None = None) -> None:
        change = status_change(group, status, at, opened_at=1_000)
        publish(home, [(group, change.to_bytes())], LAG_STATUS, headers)
        known[group] = event = fold(known.get(group), change)
        publish(home, [(group, event and event.to_bytes())], INCIDENTS)

    publish(home, [(name, lag_event(name).to_bytes()) for name in "ab"])
    publish(home, [("a", group_event("a").to_bytes())], GROUPS)
    publish(home, [("s", group_event("s", protocol="share").to_bytes())], GROUPS)
    tell("a", "ERR", 1_000)
    first = start(home)
    eventually(first.ready, message="ready")
    assert subjects(first, "-", 1) == ["a"]
    assert first.end() == 0
    tell("b", "WARN", 2_000, headers=())
    tell("a", "OK", 3_000)
    second = start(home)
    eventually(second.ready, message="ready")
    assert sorted(subjects(second, ids[-1], 2)) == ["a", "b"]
    detail = second.get("/api/v1/groups/demo/a").json()
    assert [change["status"] for change in detail["history"]] == ["OK", "ERR"]
    assert detail["membership"]["members"][0]["client_id"] == "billing-1"
    by_group = {row["group"]: row for row in second.get("/api/v1/groups").json()["groups"]}
    assert by_group["s"]["not_judged"] == "lag not defined by committed offsets"
    (incident,) = second.get("/api/v1/incidents?regex=^a$").json()["incidents"]
    assert (incident["open"], incident["closed_at"]) == (False, 3_000)
    publish(home, [("s", None)], GROUPS)
    eventually(
        lambda: second.get("/api/v1/groups/demo/s").status_code == 404,
        message="the share group is gone",
    )
    url = f"{second.address()}/api/v1/events"
    with httpx.stream("GET", url, timeout=60) as response:
        lines = response.iter_lines()
        assert next(lines).startswith("retry: ")
        assert second.end() == 0
        assert list(lines), "the stream was ended, not cut"
