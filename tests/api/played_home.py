"""A home cluster that is played to the feed."""

from collections.abc import Iterator
from concurrent.futures import Future
from types import SimpleNamespace

from api.served_api import freshness_event, lag_event, late
from confluent_kafka import KafkaError, KafkaException, Message, TopicCollection
from warren.contracts import group_key
from warren.settings import HomeSettings
from warren_api.home.cluster import HomeCluster
from warren_api.home.feed import Feed

LAG = "warren.lag"


STATUS = "warren.lag-status"


FRESHNESS = "warren.freshness"


GROUPS = "warren.groups"


def record(group: str, value: bytes | None, offset: int = 0, topic: str = LAG) -> Message:
    key = group_key("demo", group)
    return Message(topic=topic, partition=0, offset=offset, key=key, value=value)


def measured(group: str, freshness_ms: int) -> Message:
    value = freshness_event(group, rows=[late(freshness_ms)]).to_bytes()
    return record(group, value, topic=FRESHNESS)


def event(group: str, total_lag: int = 0) -> bytes:
    return lag_event(group, total_lag=total_lag).to_bytes()


class PlayedReader:
    """Gives one batch a poll; has caught up after `behind` of them, then stops the feed."""

    def __init__(self, batches: list[list[Message]], behind: int) -> None:
        self.batches = batches
        self.behind = behind
        self.feed: Feed | None = None

    @property
    def caught_up(self) -> bool:
        return self.behind <= 0

    def poll(self, timeout: float) -> list[Message]:
        del timeout
        self.behind -= 1
        if not self.batches:
            assert self.feed is not None
            self.feed.stop()
            return []
        return self.batches.pop(0)

    def close(self) -> None:
        pass


class PlayedAdmin:
    """Answers, when asked whether it is there, with what comes next, an error or None."""

    def __init__(self, answers: Iterator[KafkaError | None] | None = None) -> None:
        self.answers = answers or iter(())

    def describe_topics(
        self, topics: TopicCollection, **_: object
    ) -> dict[str, Future[SimpleNamespace]]:
        future: Future[SimpleNamespace] = Future()
        if error := next(self.answers):
            future.set_exception(KafkaException(error))
        else:
            future.set_result(SimpleNamespace())
        return dict.fromkeys(topics.topic_names, future)

    def list_topics(self, *_: object, **__: object) -> None:
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT))

    def cluster(self) -> HomeCluster:
        return HomeCluster(self, HomeSettings())  # type: ignore[arg-type]  # all that is used
