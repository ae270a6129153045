"""What uses clients that may lose all their brokers: it says so, or makes them anew."""

from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
import warren_archiver.topics
from confluent_kafka import KafkaError, TopicCollection
from confluent_kafka.admin import AdminClient
from support.manual_clock import ManualClock
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts.topics import CATALOGUE
from warren.errors import ClientLost, ClusterUnreachable, PublishFailed
from warren.kafka import connection, hearing, producer, topics
from warren.kafka.connection import connect
from warren.kafka.producer import EventProducer
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import ensure_topics
from warren.settings import HomeSettings, KafkaConnection, Settings
from warren_api.home.cluster import HomeCluster
from warren_evaluator.home.preparation import check_rights
from warren_freshness.home.offsets_feed import OffsetsFeed
from warren_notifier.source.consumer import StatusConsumer

NOWHERE = KafkaConnection(bootstrap="127.0.0.1:1")


def test_a_producer_that_has_lost_all_brokers_is_made_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = True
    monkeypatch.setattr(producer, "asking_client", lambda *_: lambda _: answers)
    monkeypatch.setattr(hearing, "is_reachable", lambda *_: True)
    clock = ManualClock()
    events = EventProducer(NOWHERE, 0.1, clock)

    def made_anew_after(seconds: float) -> bool:
        before = events._producer
        clock.advance(seconds)
        events.send("orders", b"key", b"value")
        with pytest.raises(PublishFailed):
            events.flush()
        return events._producer is not before

    assert not made_anew_after(hearing.QUIET_SECONDS)  # it knows a broker: that one may be slow
    answers = False
    assert not made_anew_after(hearing.QUIET_SECONDS - 1)
    assert made_anew_after(1)


class FullProducer:
    """Takes nothing more; `failed` says why what it has is not acknowledged, if it ever says so."""

    def __init__(self, _options: dict[str, Any]) -> None:
        self.waits: list[float] = []
        self.failed: KafkaError | None = None
        self.is_full = True

    def produce(self, *_: Any, on_delivery: Callable[..., None], **__: Any) -> None:
        self._answer = on_delivery
        if self.is_full:
            raise BufferError

    def poll(self, _: float) -> None:
        self._answer(self.failed, None)

    def flush(self, timeout: float) -> int:
        self.waits.append(timeout)
        return 0 if self.failed else 1


def test_a_producer_never_waits_longer_than_its_deliveries_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(producer, "Producer", FullProducer)
    events = EventProducer(NOWHERE, 30, ManualClock())
    full: Any = events._producer
    full.failed = KafkaError(KafkaError._MSG_TIMED_OUT)
    with pytest.raises(PublishFailed, match="timed out"):
        events.send("orders", b"key", b"value")
    full.failed, full.is_full = None, False
    events.send("orders", b"key", b"value")
    with pytest.raises(PublishFailed, match=r"(?i)timed out"):
        events.flush()
    assert full.waits[:2] == [35, 35]
    assert events._producer is not full


@pytest.fixture
def home(broker: Any, unique: str, monkeypatch: pytest.MonkeyPatch) -> HomeSettings:
    """A home cluster; what takes a minute takes a second."""
    monkeypatch.setattr(hearing, "QUIET_SECONDS", 1.0)
    monkeypatch.setattr(hearing, "AGAIN_SECONDS", 1.0)  # a busy machine may not answer in time
    settings = HomeSettings(bootstrap=broker.bootstrap, topic_prefix=f"{unique}.", partitions=2)
    ensure_topics(connect("home", "home", settings), settings)
    return settings


def test_a_reader_that_has_lost_all_brokers_says_so(
    home: HomeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "asking_client", lambda *_: lambda _: False)
    reader = TopicReader(home, [f"{home.topic_prefix}lag"])
    eventually(lambda: says_that_it_is_lost(reader), message="it says so")
    reader.close()


def says_that_it_is_lost(client: TopicReader | StatusConsumer) -> bool:
    try:
        client.poll(0.1)
    except ClientLost:
        return True
    except ClusterUnreachable:  # a busy broker does not lead its newest topics yet
        return False
    return False


def test_freshness_joins_its_group_anew(
    home: HomeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, is_lost = 0, False

    def asking(*_: object) -> hearing.Asking:
        nonlocal made
        made += 1
        is_first = made == 1
        return lambda _: not (is_first and is_lost)

    monkeypatch.setattr(hearing, "asking_client", asking)
    feed = OffsetsFeed(Settings(home=home), SystemClock())
    eventually(lambda: feed.poll(0.2, {}).is_caught_up, message="it has all partitions")
    is_lost = True
    eventually(lambda: feed.poll(0.2, {}).revoked == {0, 1}, message="it gives them up")
    eventually(lambda: feed.poll(0.2, {}).is_caught_up, message="and has them again")
    assert made == 2
    feed.close({})


def test_the_api_asks_a_home_cluster_that_seems_away_by_a_new_client(home: HomeSettings) -> None:
    lost = AdminClient({"bootstrap.servers": NOWHERE.bootstrap, "log_level": 0})
    assert HomeCluster(lost, home).problem() is None


# Requests that librdkafka 2.16 never ends: sent while it lost its brokers.

HOME = Settings().home
ELSEWHERE = HOME.model_copy(update={"topic_prefix": "other."})


class SilentAdmin:
    """Knows of a cluster with Warren's topics, and is never told anything more."""

    def __init__(self) -> None:
        partitions = {0: SimpleNamespace(replicas=[1])}
        topic = SimpleNamespace(partitions=partitions, error=None)
        self._topics = {t.full_name(HOME.topic_prefix): topic for t in CATALOGUE}
        self.timeouts: list[float] = []

    def list_topics(self, *_: str, **__: float) -> Any:
        return SimpleNamespace(topics=self._topics, brokers={1: None})

    def _never(self, asked: Any, request_timeout: float, **_: object) -> Any:
        self.timeouts.append(request_timeout)
        names = asked.topic_names if isinstance(asked, TopicCollection) else asked
        return {name: Future() for name in names}

    describe_topics = describe_configs = create_topics = list_offsets = _never


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> Any:
    for module in (topics, warren_archiver.topics):
        monkeypatch.setattr(module, "TIMEOUT", 0.1)
    monkeypatch.setattr("warren_evaluator.home.preparation.TIMEOUT", 0.1)
    monkeypatch.setattr(connection, "GRACE_SECONDS", 0.1)
    return SilentAdmin()


ASKING: dict[str, Callable[[Any], object]] = {
    "topics are created": lambda admin: topics.ensure_topics(admin, ELSEWHERE),
    "topics are checked": lambda admin: topics.check_topics(admin, HOME),
    "rights are checked": lambda admin: check_rights(admin, Settings()),
    "topics are identified": lambda admin: warren_archiver.topics.topic_ids(admin, ["warren.lag"]),
    "log ends are asked for": lambda admin: warren_archiver.topics.log_ends(admin, "warren.lag"),
}


@pytest.mark.parametrize("asked", ASKING)
def test_a_request_that_is_never_over_is_given_up(asked: str, admin: Any) -> None:
    with pytest.raises(ClusterUnreachable):
        ASKING[asked](admin)
    assert admin.timeouts == [0.1]
