"""A home cluster with rights: docs/operations.md names all that reading whole topics needs."""

import pytest
from support.secured_kafka import DESCRIBE, GROUP, READ, TOPIC, SecuredKafka
from support.waiting import eventually
from warren.contracts.topics import LAG
from warren.errors import AuthorizationFailed
from warren.kafka.connection import connect
from warren.kafka.producer import EventProducer
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME, check_topics, ensure_topics
from warren.settings import HomeSettings


def test_a_topic_is_read_with_a_right_on_the_group_that_nobody_joins(
    secured_kafka: SecuredKafka, unique: str
) -> None:
    kafka, user, prefix = secured_kafka, secured_kafka.user(), f"{unique}."
    plain = HomeSettings(bootstrap=kafka.bootstrap, topic_prefix=prefix, partitions=1)
    ensure_topics(kafka.admin, plain)
    topic = LAG.full_name(plain.topic_prefix)
    producer = EventProducer(plain)
    producer.send(topic, b"prod|billing", b"{}")
    producer.flush()
    home = HomeSettings(bootstrap=kafka.secured, kafka=user.login(), topic_prefix=prefix)  # type: ignore[arg-type]  # as TOML gives them
    user.grant(TOPIC, topic, READ)
    with pytest.raises(AuthorizationFailed, match="Group authorization failed"):
        _read_whole(home, topic)
    user.grant(GROUP, "warren-reader", DESCRIBE)
    assert _read_whole(home, topic) == [b"{}"]
    with pytest.raises(AuthorizationFailed, match="Topic authorization failed"):
        check_topics(connect(HOME, HOME, home), home)  # DESCRIBE_CONFIGS


def _read_whole(home: HomeSettings, topic: str) -> list[bytes | str | None]:
    reader = TopicReader(home, [topic])
    values: list[bytes | str | None] = []

    def caught_up() -> bool:
        values.extend(message.value() for message in reader.poll(0.2))
        return reader.caught_up

    try:
        eventually(caught_up, message="the topic is read, or refused")
    finally:
        reader.close()
    return values
