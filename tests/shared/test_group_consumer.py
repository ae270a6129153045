"""A consumer of Warren's own groups does not wait for a coordinator that is away."""

import threading

import pytest
from confluent_kafka import KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from structlog.testing import capture_logs
from support.waiting import eventually
from warren.kafka import rebalances
from warren.kafka.rebalances import group_consumer
from warren.settings import HomeSettings
from warren_local.kafka import EmbeddedKafka


def closing() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "closing"}


def test_a_commit_without_an_answer_holds_nobody_up(
    own_kafka: EmbeddedKafka, unique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not who commits and polls on, nor who closes; and it ends once there is an answer."""
    monkeypatch.setattr(rebalances, "CLOSE_SECONDS", 0.5)
    admin = AdminClient({"bootstrap.servers": own_kafka.bootstrap})
    admin.create_topics([NewTopic(unique, 1)])[unique].result(30)
    home, before = HomeSettings(bootstrap=own_kafka.bootstrap), closing()
    told: list[tuple[KafkaError | None, list[TopicPartition]]] = []
    consumer = group_consumer(
        "home", "home", home, unique, on_commit=lambda *answer: told.append(answer)
    )
    consumer.subscribe([unique])

    def polled() -> bool:
        consumer.consume(10, 0.1)
        consumer.get_watermark_offsets(TopicPartition(unique, 0), cached=True)
        return bool(consumer.assignment())

    def commit(offset: int) -> None:
        consumer.commit(offsets=[TopicPartition(unique, 0, offset)], asynchronous=True)

    eventually(polled, message="it is a member")
    commit(1)
    eventually(lambda: polled() and told, message="it is answered")
    [(error, [answer])] = told
    assert (error, answer.offset, answer.error) == (None, 1, None)
    with own_kafka.suspended(), capture_logs() as logs:
        commit(2)
        assert all(polled() for _ in range(5))
        consumer.close()
        assert len(told) == 1
        assert len(closing() - before) == 1
    eventually(lambda: closing() <= before, message="it has ended")
    again = group_consumer("home", "home", home, unique)
    [stored] = again.committed([TopicPartition(unique, 0)], timeout=30)
    again.close()
    assert stored.offset == 2
    assert [line["event"] for line in logs] == [
        "consumer not closed in time, a commit has no answer"
    ]
