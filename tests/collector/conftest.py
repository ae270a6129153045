"""A collector in this process on the tests' broker."""

from collections.abc import Iterator
from typing import Any

import pytest
from support.collector_lab import Lab
from support.group_bench import ORDERS, RETURNS, ConsumerGroup, GroupBench
from support.kafka_schemas import GroupWriter, Schema, load_schemas
from support.servers import jars_directory


@pytest.fixture
def lab(broker: Any, unique: str) -> Iterator[Lab]:
    with Lab.on(broker.bootstrap, unique) as made:
        yield made


@pytest.fixture(scope="session")
def schemas(pytestconfig: pytest.Config) -> dict[str, Schema]:
    """Kafka's schema files, from the broker's jars."""
    jars = jars_directory(pytestconfig.rootpath)
    return load_schemas(jars, "kafka-group-coordinator") | load_schemas(jars, "kafka-clients")


@pytest.fixture(scope="session")
def writer(schemas: dict[str, Schema]) -> GroupWriter:
    return GroupWriter(schemas)


@pytest.fixture
def at() -> GroupBench:
    bench = GroupBench()
    bench.topic_ids.learn(ORDERS, "orders")
    bench.topic_ids.learn(RETURNS, "returns")
    return bench


@pytest.fixture
def billing(writer: GroupWriter) -> ConsumerGroup:
    return ConsumerGroup(writer, "billing")
