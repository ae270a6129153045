"""The feed over a reader that is played to it."""

from typing import Any

import pytest
from api.played_home import (
    FRESHNESS,
    LAG,
    STATUS,
    PlayedAdmin,
    PlayedReader,
    event,
    measured,
    record,
)
from api.served_api import status_change
from confluent_kafka import KafkaError, Message
from structlog.testing import capture_logs
from support.manual_clock import ManualClock
from warren.contracts import group_key
from warren.errors import AuthorizationFailed
from warren.kafka.topics import HOME
from warren.metrics import api as metrics
from warren.settings import HomeSettings
from warren_api.home import cluster as home_cluster, feed as feed_module
from warren_api.home.feed import QUIET_SECONDS, Feed
from warren_api.model.cluster import FeedState
from warren_api.model.read_model import ReadModel


@pytest.fixture
def model() -> ReadModel:
    return ReadModel()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def feed(model: ReadModel, clock: ManualClock) -> Feed:
    def unexpected(error: Exception) -> None:
        raise error

    return Feed(HomeSettings(), model, clock, unexpected)


def refused() -> float:
    return metrics.API_EVENTS_REFUSED.labels(LAG)._value.get()


def test_catching_up_takes_the_newest_per_group_and_is_then_ready(
    feed: Feed, model: ReadModel
) -> None:
    batches = [
        [record("a", event("a", 1)), record("b", event("b")), record("a", event("a", 2))],
        [record("b", None), record("a", event("a", 3))],
    ]
    assert feed.state == FeedState(ready=False, problem=None)
    feed.catch_up(PlayedReader(batches, behind=2))
    assert feed.state == FeedState(ready=True, problem=None)
    assert [(view.group, view.event.total_lag) for view in model.groups()] == [("a", 3)]


def test_catching_up_again_drops_what_the_topic_no_longer_holds(
    feed: Feed, model: ReadModel
) -> None:
    feed.catch_up(PlayedReader([[record("a", event("a")), record("b", event("b"))]], behind=1))
    feed.catch_up(PlayedReader([[record("b", event("b"))]], behind=1))
    assert [view.group for view in model.groups()] == ["b"]


def test_stopping_while_catching_up_makes_nothing_of_half_a_topic(
    feed: Feed, model: ReadModel
) -> None:
    reader = PlayedReader([[record("a", event("a"))]], behind=99)
    reader.feed = feed
    feed.catch_up(reader)
    assert not feed.state.ready
    assert model.groups() == ()


def test_a_malformed_event_is_counted_logged_and_ignored(feed: Feed, model: ReadModel) -> None:
    before = refused()
    batch = [record("bad", b"{", offset=41), record("good", event("good"))]
    with capture_logs() as logs:
        feed.catch_up(PlayedReader([batch], behind=1))
    assert refused() == before + 1
    assert [view.group for view in model.groups()] == ["good"]
    (line,) = [line for line in logs if line["event"] == "event refused"]
    assert (line["topic"], line["partition"], line["offset"]) == (LAG, 0, 41)
    assert line["reason"]


def test_following_tells_when_the_home_cluster_goes_and_comes_back(
    feed: Feed, model: ReadModel, clock: ManualClock
) -> None:
    feed.catch_up(PlayedReader([[record("a", event("a", 1))]], behind=1))
    seen: list[FeedState] = []

    class Quiet(PlayedReader):
        def poll(self, timeout: float) -> list[Message]:
            seen.append(feed.state)
            clock.advance(QUIET_SECONDS)
            return super().poll(timeout)

    reader = Quiet([[], [], [], [record("a", event("a", 2))]], behind=0)
    reader.feed = feed
    away = KafkaError(KafkaError._TIMED_OUT)
    answers = iter([None, away, away, None])
    with capture_logs() as logs:
        feed.follow(reader, PlayedAdmin(answers).cluster())
    problems = [state.problem is not None for state in seen]
    assert problems == [False, False, True, True, False]
    assert all(state.ready for state in seen)
    assert model.groups()[0].event.total_lag == 2
    assert [line["event"] for line in logs] == [
        "home cluster lost, serving what is known",
        "home cluster is back",
    ]


RETENTION = "warren.group.retention.changed"


def changed(
    group: str, status: str, at: int, partition: int, offset: int, **fields: Any
) -> Message:
    value = status_change(group, status, at, **fields).to_bytes()
    key = group_key("demo", group)
    return Message(topic=STATUS, partition=partition, offset=offset, key=key, value=value)


def remembered(model: ReadModel) -> list[tuple[int, int]]:
    return [(each.partition, each.offset) for each in model.history.changes()]


def test_all_status_changes_are_remembered_not_only_the_newest_per_group(
    feed: Feed, model: ReadModel
) -> None:
    batches = [
        [changed("a", "ERR", 1_000, 0, 5), changed("a", "OK", 2_000, 0, 6)],
        [changed("b", "WARN", 500, 1, 0), record("a", event("a")), record("b", event("b"))],
    ]
    feed.catch_up(PlayedReader(batches, behind=2))
    assert sorted(remembered(model)) == [(0, 5), (0, 6), (1, 0)]
    assert {view.group: view.since for view in model.groups()} == {"a": 2_000, "b": None}
    bad = Message(topic=STATUS, partition=0, offset=7, key=group_key("demo", "a"), value=b"{")
    twice = changed("a", "OK", 2_000, 0, 6)
    reader = PlayedReader([[twice, bad, changed("a", "ERR", 3_000, 0, 8)]], behind=0)
    reader.feed = feed
    feed.follow(reader, PlayedAdmin().cluster())
    assert sorted(remembered(model)) == [(0, 5), (0, 6), (0, 8), (1, 0)]


def test_a_change_of_objectives_is_remembered_and_hides_no_status(
    feed: Feed, model: ReadModel
) -> None:
    late = changed("a", "WARN", 3_000, 0, 6, type="warren.group.freshness.changed", objectives=[])
    feed.catch_up(
        PlayedReader([[record("a", event("a")), changed("a", "OK", 2_000, 0, 5), late]], behind=1)
    )
    assert remembered(model) == [(0, 5), (0, 6)]
    assert [view.since for view in model.groups()] == [2_000]
    reader = PlayedReader(
        [[changed("a", "OK", 4_000, 0, 7), changed("a", "ERR", 5_000, 0, 8, type=RETENTION)]],
        behind=0,
    )
    reader.feed = feed
    feed.follow(reader, PlayedAdmin().cluster())
    assert [view.since for view in model.groups()] == [4_000]


def freshness(model: ReadModel) -> dict[str, int | None]:
    """Milliseconds by group; those that were not measured are left out."""
    return {
        view.group: view.freshness.event.freshness_ms for view in model.groups() if view.freshness
    }


def test_freshness_is_read_like_the_rest(feed: Feed, model: ReadModel) -> None:
    batches = [
        [measured("a", 1), record("a", event("a")), record("b", event("b")), measured("b", 5)],
        [measured("a", 2), record("b", None, topic=FRESHNESS)],
    ]
    feed.catch_up(PlayedReader(batches, behind=2))
    assert freshness(model) == {"a": 2}
    reader = PlayedReader([[measured("a", 3), measured("b", 4)], [record("a", None)]], behind=0)
    reader.feed = feed
    feed.follow(reader, PlayedAdmin().cluster())
    assert freshness(model) == {"b": 4}


def test_topics_that_it_may_not_create_do_not_stop_it(
    feed: Feed, model: ReadModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API's user may only read."""

    def refuse(*_: object) -> None:
        raise AuthorizationFailed(HOME, HOME, "not authorised to create")

    reader = PlayedReader([[record("a", event("a"))]], behind=1)
    reader.feed = feed
    monkeypatch.setattr(home_cluster, "connect", lambda *_: PlayedAdmin())
    monkeypatch.setattr(home_cluster, "ensure_topics", refuse)
    monkeypatch.setattr(feed_module, "TopicReader", lambda *_: reader)
    with capture_logs() as logs:
        feed._connect_and_follow()
    assert feed.state == FeedState(ready=True, problem=None)
    assert "topics not created" in [line["event"] for line in logs]
    assert [view.group for view in model.groups()] == ["a"]
