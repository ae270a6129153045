"""Requests that librdkafka 2.16 never ends: sent while it lost its brokers."""

from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
import warren_archiver.topics
from confluent_kafka import TopicCollection
from warren.contracts.topics import CATALOGUE
from warren.errors import ClusterUnreachable
from warren.kafka import connection, topic_check, topics
from warren.settings import Settings
from warren_evaluator.home.preparation import check_rights

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
    for module in (topic_check, topics, warren_archiver.topics):
        monkeypatch.setattr(module, "TIMEOUT", 0.1)
    monkeypatch.setattr("warren_evaluator.home.preparation.TIMEOUT", 0.1)
    monkeypatch.setattr(connection, "GRACE_SECONDS", 0.1)
    return SilentAdmin()


ASKING: dict[str, Callable[[Any], object]] = {
    "topics are created": lambda admin: topics.ensure_topics(admin, ELSEWHERE),
    "topics are checked": lambda admin: topic_check.check_topics(admin, HOME),
    "rights are checked": lambda admin: check_rights(admin, Settings()),
    "topics are identified": lambda admin: warren_archiver.topics.topic_ids(admin, ["warren.lag"]),
    "log ends are asked for": lambda admin: warren_archiver.topics.log_ends(admin, "warren.lag"),
}


@pytest.mark.parametrize("asked", ASKING)
def test_a_request_that_is_never_over_is_given_up(asked: str, admin: Any) -> None:
    with pytest.raises(ClusterUnreachable):
        ASKING[asked](admin)
    assert admin.timeouts == [0.1]
