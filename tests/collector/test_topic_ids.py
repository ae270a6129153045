"""Names of topics that records have the ids of only."""

from uuid import UUID

from confluent_kafka import KafkaError, KafkaException
from support.group_bench import ConsumerGroup, Description, GroupBench, owned


def test_names_of_topics_are_asked_for_and_waited_for(
    at: GroupBench, billing: ConsumerGroup
) -> None:
    unknown = UUID(int=99)
    at.fold(billing.epoch(1), billing.member("m"), billing.current("m", 1, owned(unknown, 0)))
    assert at.look() == {}
    assert at.asked == [["orders"]]
    assert at.look() == {}  # the answer is not there yet, and nobody asks twice
    assert at.asked == [["orders"]]
    at.answers["orders"].set_result(Description(unknown))
    assert at.only().members[0].assignment == {"orders": [0]}


def test_a_topic_that_cannot_be_described_delays_nothing_for_long(
    at: GroupBench, billing: ConsumerGroup
) -> None:
    gone = owned(UUID(int=99), 0)
    at.fold(billing.epoch(1), billing.member("m"), billing.current("m", 1, gone))
    at.look()
    at.answers["orders"].set_exception(KafkaException(KafkaError(KafkaError._TIMED_OUT)))
    assert at.only().members[0].assignment == {}
    at.fold(billing.current("m", 2, gone))
    at.look()
    assert len(at.asked) == 1
    at.clock.advance(31)
    at.fold(billing.current("m", 3, gone))
    assert at.look() == {}
    assert len(at.asked) == 2


def test_an_answer_that_never_comes_is_not_waited_for(
    at: GroupBench, billing: ConsumerGroup
) -> None:
    """As librdkafka's may not that was asked for while it lost its brokers."""
    at.fold(billing.epoch(1), billing.member("m"), billing.current("m", 1, owned(UUID(int=99), 0)))
    assert at.look() == {}
    at.clock.advance(14)
    assert at.look() == {}
    at.clock.advance(1)
    assert at.only().members[0].assignment == {}
    at.clock.advance(15)
    at.fold(billing.current("m", 2, owned(UUID(int=99), 0)))
    at.look()
    assert len(at.asked) == 2


def test_negative_topic_ids(at: GroupBench, billing: ConsumerGroup) -> None:
    """The two halves of an id are signed where confluent-kafka has them."""
    topic_id = UUID(int=(2**63 + 1) << 64 | 2**63 + 2)
    at.fold(billing.epoch(1), billing.member("m"), billing.current("m", 1, owned(topic_id, 3)))
    at.look()
    at.answers["orders"].set_result(Description(topic_id))
    assert at.only().members[0].assignment == {"orders": [3]}
