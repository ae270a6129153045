"""Groups as their coordinators describe them, by Warren's own requests."""

import ast
import asyncio
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewTopic
from support.waiting import eventually
from warren.errors import ClusterUnreachable
from warren.settings import ClusterSettings
from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.groups import ClassicGroup, ClassicMember, describe_group

TO_COORDINATORS = {
    "alter_consumer_group_offsets",
    "delete_consumer_groups",
    "delete_group_offsets",
    "describe_consumer_groups",
    "list_consumer_group_offsets",
}


async def _described(bootstrap: str, group: str) -> ClassicGroup:
    brokers = Brokers("c", "clusters.c", ClusterSettings(bootstrap=bootstrap))
    try:
        return await describe_group(brokers, group)
    finally:
        await brokers.close()


def test_a_group_and_one_that_is_not_there(broker: Any, unique: str) -> None:
    kafka = broker.bootstrap
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.create_topics([NewTopic(unique, 1, 1)])[unique].result(60)
    options = {"bootstrap.servers": kafka, "group.id": unique, "client.id": "somebody"}
    consumer = Consumer(options)
    consumer.subscribe([unique])

    def members() -> list[ClassicMember]:
        consumer.poll(0.1)
        return list(asyncio.run(_described(kafka, unique)).members)

    eventually(lambda: [m.client_id for m in members()] == ["somebody"], message="it is a member")
    consumer.close()
    assert not asyncio.run(_described(kafka, f"{unique}-nobody")).members


def test_no_broker() -> None:
    with pytest.raises((ClusterUnreachable, *UNANSWERED)):
        asyncio.run(_described("127.0.0.1:1", "a"))


@pytest.mark.parametrize("root", ["shared", "services"])
def test_librdkafka_asks_no_coordinator_in_a_service(
    pytestconfig: pytest.Config, root: str
) -> None:
    """It ends the process when the connection breaks amid such a request."""
    for path in (pytestconfig.rootpath / root).rglob("*.py"):
        for node in ast.walk(ast.parse(Path(path).read_text())):
            assert not (isinstance(node, ast.Attribute) and node.attr in TO_COORDINATORS), path
