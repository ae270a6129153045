"""A consumer of Warren's own groups does not wait for a coordinator that is away."""

from __future__ import annotations

import threading

import pytest
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from support.waiting import eventually
from warren.kafka import rebalances
from warren.kafka.rebalances import group_consumer
from warren.settings import HomeSettings
from warren_local.kafka import EmbeddedKafka


def bounded_calls() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "bounded call"}


def test_a_commit_without_an_answer_holds_nobody_up(
    own_kafka: EmbeddedKafka,
    unique: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Not who commits, nor who closes; and what has no answer yet ends once there is one."""
    monkeypatch.setattr(rebalances, "CLOSE_SECONDS", 0.5)
    admin = AdminClient({"bootstrap.servers": own_kafka.bootstrap})
    admin.create_topics([NewTopic(unique, 1)])[unique].result(30)
    home, before = HomeSettings(bootstrap=own_kafka.bootstrap), bounded_calls()
    consumer = group_consumer("home", "home", home, unique)
    consumer.subscribe([unique])
    eventually(
        lambda: consumer.poll(0.1) is None and consumer.assignment(), message="it is a member"
    )
    [answer] = consumer.commit_now([TopicPartition(unique, 0, 1)])
    assert (answer.offset, answer.error) == (1, None)

    monkeypatch.setattr(rebalances, "COMMIT_SECONDS", 0.5)
    with own_kafka.suspended():
        for _ in range(2):
            with pytest.raises(KafkaException, match="has not answered"):
                consumer.commit_now([TopicPartition(unique, 0, 2)])
        assert len(bounded_calls() - before) == 1  # one commit at a time
        consumer.close()
        assert len(bounded_calls() - before) == 2
    eventually(lambda: bounded_calls() <= before, message="both have ended")
    again = group_consumer("home", "home", home, unique)
    [stored] = again.committed([TopicPartition(unique, 0)], timeout=30)
    again.close()
    assert stored.offset == 2
    assert "consumer not closed in time" in capfd.readouterr().out
