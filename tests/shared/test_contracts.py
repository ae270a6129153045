"""The contracts: what is refused, what is ignored, and that the schemas say the same."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from warren.contracts import (
    ClusterEvent,
    DeadLetter,
    FreshnessEvent,
    GroupEvent,
    GroupMember,
    Incident,
    LagEvent,
    NotificationEvent,
    NotifierState,
    OffsetEvent,
    OpenIncident,
    PendingDelivery,
    RouteProgress,
    StatusChange,
    StatusChangeEvent,
    TopicFreshness,
    TopicLag,
    TopicPositions,
    TopicsEvent,
    WindowEdge,
    WorstFreshness,
    group_key,
    split_group_key,
)
from warren.contracts.event import Event
from warren.contracts.status import Status
from warren.contracts.topics import CATALOGUE
from warren.errors import ContractViolation
from warren.reference.schemas import schema

OFFSET_EVENT = OffsetEvent(
    cluster="prod",
    group="billing",
    source="offsets_topic",
    observed_at=1795244400123,
    position=91822,
    topics={
        "orders": TopicPositions(
            partition=[0, 1, 2],
            committed=[1200, 1180, -1],
            committed_at=[1795244399000, 1795244399000, -1],
            commits=[3, 1, 0],
            log_start=[0, 0, 0],
            log_end=[1210, 1400, 77],
        )
    },
    removed={"old-topic": [0, 1]},
)
EDGE = WindowEdge(offset=[5, None], at=[1000, None], observed_at=[1001, None], lag=[None, None])
LAG_EVENT = LagEvent(
    cluster="prod",
    group="billing",
    evaluated_at=1795244400123,
    status="ERR",
    complete=0.5,
    policy="burrow",
    total_lag=7,
    incident=Incident(id="x", opened_at=1795244400123),
    topics={
        "orders": TopicLag(
            partition=[0, 1],
            status=["STOP", "OK"],
            committed=[5, -1],
            committed_at=[1000, -1],
            log_start=[0, 0],
            log_end=[12, -1],
            lag=[7, None],
            complete=[1.0, 0.0],
            window_start=EDGE,
            window_end=EDGE,
        )
    },
)
STATUS_CHANGE = StatusChangeEvent(
    id="1",
    source="/warren/clusters/prod",
    subject="billing",
    time=datetime(2026, 11, 21, 7, 0, 0, 123000, tzinfo=UTC),
    data=StatusChange(
        cluster="prod",
        group="billing",
        status="ERR",
        previous="OK",
        incident_id="i",
        opened_at=1795244400123,
        total_lag=7,
        max_lag=None,
        partition_counts={"OK": 1},
        partitions=[],
    ),
)
DEAD_LETTER = DeadLetter(
    service="evaluator",
    topic="warren.offsets",
    partition=3,
    offset=12,
    reason="not JSON",
    failed_at=1,
    key=base64.b64encode(b"prod|billing"),
    value=base64.b64encode(b"\xff\x00{"),
)
GROUP_EVENT = GroupEvent(
    cluster="prod",
    group="billing",
    observed_at=1,
    position=4,
    protocol="classic",
    members=[
        GroupMember(member_id="m", client_id="c", host="/10.0.0.1", assignment={"orders": [0]})
    ],
)
NOTIFICATION = NotificationEvent(
    cluster="prod",
    group="billing",
    delivery_id="d",
    event_id="1",
    incident_id="i",
    kind="opened",
    status="ERR",
    route="all",
    channel="mail",
    attempt=1,
    at=1795244400123,
    outcome="failed",
    detail="HTTP 500",
    next_attempt_at=1795244402123,
    duration_ms=12,
)
CLUSTER_EVENT = ClusterEvent(
    cluster="prod",
    collector="host-4711",
    observed_at=1795244400123,
    state="unreachable",
    since=1795244300000,
    problem="cluster prod: no broker answers (see clusters.prod.bootstrap)",
    sources=["offsets_topic"],
    groups=12,
    positions=3400,
    source_partitions=50,
    backlog=7,
    published_at=1795244299000,
    log_ends_at=1795244298000,
)
NOTIFIER_STATE = NotifierState(
    cluster="prod",
    group="billing",
    event_type="warren.group.status.changed",
    offset=7,
    incident=OpenIncident(
        incident_id="i",
        event_id="1",
        offset=7,
        routes={"all": RouteProgress(channels=["mail"])},
        reached=["mail"],
    ),
    deliveries=[
        PendingDelivery(
            delivery_id="d",
            event_id="1",
            incident_id="i",
            kind="opened",
            status="ERR",
            route="all",
            channel="mail",
            offset=7,
            accepted_at=1,
            deadline_at=2,
            next_attempt_at=1,
        )
    ],
    events={"1": STATUS_CHANGE.to_bytes().decode()},
)
FRESHNESS_EVENT = FreshnessEvent(
    cluster="prod",
    group="billing",
    measured_at=1795244400123,
    observed_at=1795244399000,
    freshness_ms=70_000,
    lost_records=3,
    time_to_loss_ms=None,
    worst=WorstFreshness(topic="orders", partition=1, freshness_ms=70_000),
    topics={
        "orders": TopicFreshness(
            partition=[0, 1],
            committed=[-1, 5],
            freshness_ms=[None, 70_000],
            reason=["no_commit", "expired"],
            bound_ms=[None, 0],
            lost_records=[0, 3],
            time_to_loss_ms=[None, None],
            oldest_at=[None, 1795244330123],
            commit_lag_ms=[None, None],
            append_lag_ms=[None, None],
        )
    },
)
TOPICS_EVENT = TopicsEvent(
    cluster="prod", observed_at=1_795_244_400_123, log_ends={"orders": [7, -1], "empty": [0]}
)
EVENTS: list[Event] = [
    FRESHNESS_EVENT,
    NOTIFICATION,
    NOTIFIER_STATE,
    CLUSTER_EVENT,
    OFFSET_EVENT,
    LAG_EVENT,
    STATUS_CHANGE,
    DEAD_LETTER,
    GROUP_EVENT,
    TOPICS_EVENT,
]
IDS = [type(event).__name__ for event in EVENTS]


@pytest.mark.parametrize("event", EVENTS, ids=IDS)
def test_bytes_and_back(event: Event) -> None:
    assert type(event).from_bytes(event.to_bytes()) == event


@pytest.mark.parametrize("event", EVENTS, ids=IDS)
def test_written_bytes_match_the_published_schema(event: Event) -> None:
    topic = next(t for t in CATALOGUE if t.event is type(event))
    document = schema(topic)
    jsonschema.Draft202012Validator.check_schema(document)
    jsonschema.validate(json.loads(event.to_bytes()), document)


def test_every_topic_has_an_example_here() -> None:
    assert {t.event for t in CATALOGUE} == {type(event) for event in EVENTS}


@pytest.mark.parametrize("event", EVENTS, ids=IDS)
def test_unknown_fields_are_ignored(event: Event) -> None:
    body = json.loads(event.to_bytes()) | {"field_of_tomorrow": {"a": 1}}
    assert type(event).from_bytes(json.dumps(body).encode()) == event


def changed(**change: Any) -> bytes:
    return json.dumps(json.loads(OFFSET_EVENT.to_bytes()) | change).encode()


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (None, "no value"),
        (b"", "value"),
        (b"not json", "value"),
        (OFFSET_EVENT.to_bytes()[:-20], "value"),
        (b"[]", "value"),
        (changed(v=2), "v"),
        (changed(cluster="a|b"), "cluster"),
        (changed(position=-2), "position"),
        (changed(topics={"t": {"partition": [0]}}), "topics.t"),
        (changed(observed_at="yesterday"), "observed_at"),
    ],
)
def test_what_the_contract_does_not_allow_is_refused(value: bytes | None, names: str) -> None:
    with pytest.raises(ContractViolation, match=rf"^{names}"):
        OffsetEvent.from_bytes(value)


def columns(**change: list[int]) -> dict[str, Any]:
    base = {name: [1, 2] for name in TopicPositions.model_fields}
    return {"t": base | change}


@pytest.mark.parametrize("change", [{"log_end": [1]}, {"partition": [1, 1]}, {"committed": []}])
def test_columns_belong_together(change: dict[str, list[int]]) -> None:
    with pytest.raises(ContractViolation, match="topics"):
        OffsetEvent.from_bytes(changed(topics=columns(**change)))


def test_a_notifiers_state_has_the_events_that_it_speaks_of() -> None:
    body = json.loads(NOTIFIER_STATE.to_bytes()) | {"events": {}}
    with pytest.raises(ContractViolation, match="events are missing: 1"):
        NotifierState.from_bytes(json.dumps(body).encode())


def test_times_are_written_with_milliseconds_in_utc() -> None:
    assert json.loads(STATUS_CHANGE.to_bytes())["time"] == "2026-11-21T07:00:00.123Z"


def test_dead_letter_keeps_the_raw_bytes() -> None:
    read = DeadLetter.from_bytes(DEAD_LETTER.to_bytes())
    assert (read.key, read.value) == (b"prod|billing", b"\xff\x00{")


@given(st.from_regex(r"[A-Za-z0-9._-]+", fullmatch=True), st.text())
def test_keys_split_at_the_first_bar(cluster: str, group: str) -> None:
    try:
        key = group_key(cluster, group)
    except UnicodeEncodeError:  # a lone surrogate is no Kafka string
        return
    assert split_group_key(key) == (cluster, group)


@pytest.mark.parametrize("key", [None, b"", b"prod", b"|g", b"a b|g", b"\xff|g"])
def test_keys_without_a_cluster_are_refused(key: bytes | None) -> None:
    with pytest.raises(ContractViolation):
        split_group_key(key)


def test_a_group_is_err_when_a_partition_is_worse_than_warn() -> None:
    verdicts = {status.name: status.for_group().name for status in Status}
    assert verdicts == {
        "NOTFOUND": "NOTFOUND",
        "OK": "OK",
        "WARN": "WARN",
        "ERR": "ERR",
        "STOP": "ERR",
        "STALL": "ERR",
        "REWIND": "ERR",
    }


def test_a_lag_event_from_before_there_were_reasons_has_none() -> None:
    old = json.loads(LAG_EVENT.to_bytes())
    for name in ("reason", "explanation"):
        del old[name]
        del old["topics"]["orders"][name]
    read = LagEvent.from_bytes(json.dumps(old).encode())
    assert read == LAG_EVENT
    assert read.topics["orders"].reason == [None, None]
    assert read.topics["orders"].explanation == [None, None]


def test_a_reason_that_this_version_does_not_know_is_read() -> None:
    new = json.loads(LAG_EVENT.to_bytes()) | {"reason": "of_tomorrow"}
    new["topics"]["orders"]["reason"] = ["of_tomorrow", None]
    assert LagEvent.from_bytes(json.dumps(new).encode()).reason == "of_tomorrow"


def test_reasons_are_one_per_partition() -> None:
    wrong = json.loads(LAG_EVENT.to_bytes())
    wrong["topics"]["orders"]["reason"] = ["no_commit"]
    with pytest.raises(ContractViolation, match="differ in length from partition: reason"):
        LagEvent.from_bytes(json.dumps(wrong).encode())
