"""Lag and freshness events, a served model and an HTTP client that needs no socket."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import httpx
from fastapi import FastAPI
from support.manual_clock import ManualClock
from support.waiting import eventually
from warren.contracts import (
    STATUS_CHANGED,
    FreshnessEvent,
    GroupEvent,
    GroupIncidentEvent,
    LagEvent,
    NotificationTest,
    StatusChangeEvent,
    TopicFreshness,
    TopicsEvent,
    TrendEvent,
    TrendTopics,
    group_key,
)
from warren.contracts.topics import NOTIFICATION_TESTS, SILENCES, Topic
from warren.settings import ApiSettings, ClusterSettings, Settings
from warren_api.context import ApiContext, Write
from warren_api.http.access import Access
from warren_api.http.serving import HttpServer
from warren_api.model.archive import Archive
from warren_api.model.cluster import FeedState
from warren_api.model.read_model import ReadModel
from warren_api.server import create_app, listen, login_of
from warren_core.group_freshness import figures_of
from warren_core.group_incident import fold

NOW = 1_795_244_400_000
STOP_WITHIN = 60  # seconds


def topic(*partitions: dict[str, Any]) -> dict[str, Any]:
    """Columns of partitions; each is healthy but for what it names."""
    healthy = {
        "status": "OK",
        "committed": 100,
        "committed_at": NOW - 1_000,
        "log_start": 0,
        "log_end": 100,
        "lag": 0,
        "complete": 1.0,
        "start": (91, NOW - 10_000, NOW - 9_990, 4),
        "end": (100, NOW - 1_000, NOW - 990, 0),
    }
    rows = [{"partition": n, **healthy, **named} for n, named in enumerate(partitions)]
    columns: dict[str, Any] = {
        name: [row[name] for row in rows] for name in ("partition", *healthy)
    }
    for name, source in (("window_start", "start"), ("window_end", "end")):
        edges = [edge or (None, None, None, None) for edge in columns.pop(source)]
        columns[name] = {
            column: [edge[position] for edge in edges]
            for position, column in enumerate(("offset", "at", "observed_at", "lag"))
        }
    return columns


def lag_event(group: str, cluster: str = "demo", **fields: Any) -> LagEvent:
    return LagEvent.model_validate(
        {
            "cluster": cluster,
            "group": group,
            "evaluated_at": NOW,
            "status": "OK",
            "complete": 1.0,
            "policy": "burrow",
            "total_lag": 0,
            "topics": {"orders": topic({}, {})},
            **fields,
        }
    )


CAUGHT_UP = {
    "committed": 100,
    "freshness_ms": 0,
    "reason": "caught_up",
    "bound_ms": 2_000,
    "lost_records": 0,
    "time_to_loss_ms": None,
    "oldest_at": None,
    "commit_lag_ms": None,
    "append_lag_ms": None,
    "late_since": None,
    "time_to_loss_reason": None,
    "produce_rate": None,
    "consume_rate": None,
    "time_to_catch_up_ms": None,
    "retention_left": None,
}


def late(freshness_ms: int | None, **named: Any) -> dict[str, Any]:
    """A partition that has something left to consume."""
    oldest_at = None if freshness_ms is None else NOW - freshness_ms
    exact = {"freshness_ms": freshness_ms, "reason": "exact", "bound_ms": 0}
    return {**CAUGHT_UP, **exact, "oldest_at": oldest_at, **named}


def paced(produced: float, consumed: float, catch_up_ms: int | None = None) -> dict[str, Any]:
    """A partition's rates, records a second."""
    return {
        **CAUGHT_UP,
        "produce_rate": produced,
        "consume_rate": consumed,
        "time_to_catch_up_ms": catch_up_ms,
    }


def freshness_event(
    group: str, cluster: str = "demo", topic: str = "orders", **fields: Any
) -> FreshnessEvent:
    """`rows`: the partitions of a topic, in order; the group's figures follow from them."""
    rows = fields.pop("rows", [CAUGHT_UP, CAUGHT_UP])
    columns = {name: [row[name] for row in rows] for name in CAUGHT_UP}
    columns["partition"] = list(range(len(rows)))
    topics = {topic: TopicFreshness.model_validate(columns)}
    return FreshnessEvent.model_validate(
        {
            "cluster": cluster,
            "group": group,
            "measured_at": NOW,
            "observed_at": NOW,
            **figures_of(topics),
            "topics": topics,
            **fields,
        }
    )


def group_event(group: str, cluster: str = "demo", **fields: Any) -> GroupEvent:
    """One member that owns orders/0 and orders/1."""
    member = {
        "member_id": "m-1",
        "client_id": "billing-1",
        "host": "/10.0.0.1",
        "subscription": ["orders"],
        "assignment": {"orders": [0, 1]},
    }
    return GroupEvent.model_validate(
        {
            "cluster": cluster,
            "group": group,
            "observed_at": NOW,
            "position": 7,
            "protocol": "consumer",
            "state": "Stable",
            "generation": 3,
            "members": [member],
            **fields,
        }
    )


def status_change(
    group: str, status: str, at: int, *, cluster: str = "demo", **fields: Any
) -> StatusChangeEvent:
    """A group has another status; its incident began at `opened_at`, by default then."""
    opened_at = fields.pop("opened_at", at)
    type_ = fields.pop("type", "warren.group.status.changed")
    data = {
        "cluster": cluster,
        "group": group,
        "status": status,
        "previous": "OK",
        "incident_id": f"{group}-{opened_at}",
        "opened_at": opened_at,
        "total_lag": 1,
        "max_lag": None,
        "partition_counts": {},
        "partitions": [],
        **fields,
    }
    return StatusChangeEvent.model_validate(
        {
            "id": f"{group}-{status}-{at}",
            "source": f"/warren/clusters/{cluster}",
            "type": type_,
            "subject": group,
            "time": datetime.fromtimestamp(at / 1000, UTC),
            "data": data,
        }
    )


class Obeying:
    """What is asked for comes about at once."""

    def __init__(self, model: ReadModel) -> None:
        self._silences = model.silences
        self.tests: list[NotificationTest] = []

    def __call__(self, topic: Topic, key: bytes, value: bytes | None) -> None:
        if topic is NOTIFICATION_TESTS:
            self.tests.append(NotificationTest.from_bytes(value))
        elif topic is SILENCES:
            self._silences.apply(key, value)
        else:
            self._silences.apply_acknowledgement(key, value)


@dataclass
class Api:
    """The application over a model that tests fill."""

    model: ReadModel = field(default_factory=ReadModel)
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOW))
    feed: FeedState = field(default_factory=lambda: FeedState(ready=True, problem=None))
    clusters: tuple[str, ...] = ("demo",)
    api: ApiSettings = field(default_factory=lambda: ApiSettings(event_streams=2))
    is_loopback: bool = True
    next_offset: dict[int, int] = field(default_factory=dict)
    metrics: dict[str, Any] = field(default_factory=dict)  # metrics_… of [api]
    settings: Settings | None = None
    asking: Write | None = None
    archive: Archive | None = None
    incidents: dict[tuple[str, str], GroupIncidentEvent] = field(default_factory=dict)
    """Of groups, the newest, as an evaluator folds them."""

    def __post_init__(self) -> None:
        clusters = {name: ClusterSettings(bootstrap="broker:9092") for name in self.clusters}
        api = self.api.model_copy(update=self.metrics)
        self.settings = self.settings or Settings(clusters=clusters, api=api)
        self.context = ApiContext(
            self.settings,
            self.model,
            lambda: self.feed,
            self.clock,
            self.asking or Obeying(self.model),
            self.archive or Archive(self.settings.archiver),
        )
        self.login = login_of(self.settings.api, self.clock)
        self.access = Access(self.settings.api, is_loopback=self.is_loopback, sessions=self.login)

    @cached_property
    def app(self) -> FastAPI:
        return create_app(self.context, self.access, self.login)

    def put(self, group: str, cluster: str = "demo", **fields: Any) -> None:
        event = lag_event(group, cluster, **fields)
        self.model.apply(group_key(cluster, group), event.to_bytes())
        known = self.incidents.get((cluster, group))
        open_now = [] if known is None else known.data.open
        mine = next((each for each in open_now if each.type == STATUS_CHANGED), None)
        if event.incident is not None and (mine is None or mine.incident_id != event.incident.id):
            about = {
                "incident_id": event.incident.id,
                "cause": event.cause,
                "explanation": event.explanation,
            }
            at = event.incident.opened_at
            self.fold(status_change(group, event.status, at, cluster=cluster, **about))
        elif event.incident is None and mine is not None:
            end = {"incident_id": mine.incident_id, "opened_at": mine.since}
            self.fold(status_change(group, "OK", event.evaluated_at, cluster=cluster, **end))

    def fold(self, change: StatusChangeEvent) -> None:
        """The next record of `warren.incidents`."""
        name = change.data.cluster, change.data.group
        found = fold(self.incidents.get(name), change)
        if found is not None:
            self.incidents[name] = found
            self.model.apply_incident(group_key(*name), found.to_bytes())

    def remember(self, group: str, minute: int, cluster: str = "demo", **fields: Any) -> None:
        """What a minute of the group was like, of which it consumes `orders`."""
        figures: dict[str, Any] = {
            "status_ms": {"OK": 60_000},
            "lag": 5,
            "lag_max": 9,
            "late_ms": 1_000,
            "time_to_loss_ms": None,
            "produced": 120,
            "consumed": 118,
            "members": 2,
            "rebalances": 0,
            **fields,
        }
        topics = TrendTopics(
            topic=["orders"],
            lag=[figures["lag"]],
            produced=[figures["produced"]],
            consumed=[figures["consumed"]],
            late_ms=[figures["late_ms"]],
        )
        event = TrendEvent(cluster=cluster, group=group, minute=minute, topics=topics, **figures)
        self.model.past.apply(group_key(cluster, group), event.to_bytes())

    def list_topics(self, log_ends: dict[str, list[int]], observed_at: int = NOW) -> None:
        """The collector of cluster demo lists its topics."""
        event = TopicsEvent(cluster="demo", observed_at=observed_at, log_ends=log_ends)
        self.model.apply_topics(b"demo", event.to_bytes())

    def measure(self, group: str, *rows: dict[str, Any], **fields: Any) -> None:
        """Its partitions of `orders` have this freshness."""
        event = freshness_event(group, rows=list(rows), **fields)
        self.model.apply_freshness(group_key(event.cluster, group), event.to_bytes())

    def describe(self, group: str, cluster: str = "demo", **fields: Any) -> None:
        """Its members are known."""
        event = group_event(group, cluster, **fields)
        self.model.apply_members(group_key(cluster, group), event.to_bytes())

    def change(self, group: str, status: str, at: int, partition: int = 0, **fields: Any) -> None:
        """The next record of a partition of `warren.lag-status`."""
        offset = self.next_offset.get(partition, 0)
        self.next_offset[partition] = offset + 1
        change = status_change(group, status, at, **fields)
        value = change.to_bytes()
        key = change.key
        self.model.apply_status_change(key, value)
        self.model.history.take(partition, offset, value, key)
        self.fold(change)

    def request(self, method: str, path: httpx.URL | str, **options: Any) -> httpx.Response:
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost"
            ) as client:
                return await client.request(method, path, **options)

        return asyncio.run(send())

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)


@contextmanager
def served(api: Api, port: int = 0) -> Iterator[str]:
    """The application, listening: its address. Streams end with it. 0: a port of its own."""
    server = HttpServer(api.app, api.api)
    with listen(ApiSettings(port=port)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        eventually(lambda: server.started, message="the server has started")
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            api.model.history.close()
            server.should_exit = True
            thread.join(STOP_WITHIN)
        assert not thread.is_alive(), "streams end when the service does"
