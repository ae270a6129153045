import ast
import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import KafkaConnectionError, SaslAuthenticationFailed
from confluent_kafka import Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from structlog.testing import capture_logs
from support.suspended import suspended
from support.waiting import eventually
from warren.errors import AuthenticationFailed, ClusterUnreachable
from warren.kafka import rebalances
from warren.kafka.rebalances import group_consumer
from warren.settings import ClusterSettings, HomeSettings
from warren_local.kafka import EmbeddedKafka
from warren_wire import brokers
from warren_wire.brokers import UNANSWERED, Brokers
from warren_wire.groups import ClassicGroup, ClassicMember, describe_group

ADDRESSES = {1: ("one", 9092), 2: ("two", 9092)}


class FakeConnection:
    """Answers with the host that was asked; knows of two brokers."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.is_open = True
        self.failure: Exception | None = None
        self._reader = SimpleNamespace(feed_data=lambda _data: None)

    def connected(self) -> bool:
        return self.is_open

    async def send(self, request: Any) -> Any:
        await asyncio.sleep(0)
        if self.failure is not None:
            raise self.failure
        found = [(number, *address, None) for number, address in ADDRESSES.items()]
        return SimpleNamespace(brokers=found, host=self.host, request=request)

    def close(self) -> None:
        self.is_open = False


class FakeNetwork:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: list[FakeConnection] = []
        self.down: set[str] = set()
        self.refusal: Exception | None = None
        monkeypatch.setattr(brokers, "create_conn", self._open)

    async def _open(self, host: str, port: int, **_: Any) -> FakeConnection:
        await asyncio.sleep(0)
        assert port == 9092
        if self.refusal is not None:
            raise self.refusal
        if host in self.down:
            raise ConnectionRefusedError(host)
        self.opened.append(FakeConnection(host))
        return self.opened[-1]


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> FakeNetwork:
    return FakeNetwork(monkeypatch)


def cluster() -> Brokers:
    return Brokers("prod", "clusters.prod", ClusterSettings(bootstrap="one:9092"))


def test_requests_to_one_broker_share_a_connection(network: FakeNetwork) -> None:
    async def work() -> None:
        these = cluster()
        await these.metadata(["orders"])
        answers = await asyncio.gather(*(these.send(2, number) for number in range(5)))
        assert [answer.host for answer in answers] == ["two"] * 5
        await these.close()

    asyncio.run(work())
    assert [connection.host for connection in network.opened] == ["one", "two"]
    assert not any(connection.is_open for connection in network.opened)


def test_a_broken_connection_is_opened_again(network: FakeNetwork) -> None:
    async def work() -> None:
        these = cluster()
        await these.metadata(["orders"])
        network.opened[0].is_open = False
        await these.send(1, "request")

    asyncio.run(work())
    assert [connection.host for connection in network.opened] == ["one", "one"]


def test_a_timeout_closes_the_connection(network: FakeNetwork) -> None:
    async def work() -> None:
        these = cluster()
        await these.metadata(["orders"])
        network.opened[0].failure = TimeoutError()
        with pytest.raises(TimeoutError):
            await these.send(1, "request")

    asyncio.run(work())
    assert not network.opened[0].is_open


def test_one_that_lets_others_wait_is_named_and_asked_later(
    network: FakeNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(brokers, "time", SimpleNamespace(monotonic=lambda: now.seconds))

    async def work() -> None:
        these = cluster()
        await these.metadata(["orders"])
        await these.send(2, "request")
        assert these.problem is None
        network.opened[1].failure = TimeoutError()
        with pytest.raises(TimeoutError):
            await these.send(2, "request")
        network.opened[1].failure = None
        with pytest.raises(KafkaConnectionError, match="broker 2 did not answer"):
            await these.send(2, "request")
        await these.send(1, "request")
        assert "broker 2 at two:9092 does not answer" in str(these.problem)
        now.seconds = brokers.QUIET_SECONDS
        await these.send(2, "request")
        assert these.problem is None
        network.down, network.opened[-1].is_open = {"two"}, False
        for _ in range(2):  # whoever refuses at once is asked each time
            with pytest.raises(ConnectionRefusedError):
                await these.send(2, "request")
        assert these.problem is not None

    asyncio.run(work())


def test_any_broker_that_answers(network: FakeNetwork) -> None:
    async def work() -> None:
        these = cluster()
        with pytest.raises(KafkaConnectionError):
            await these.send_to_any("request")
        await these.metadata(["orders"])
        network.opened[0].failure = KafkaConnectionError("gone")
        assert (await these.send_to_any("request")).host == "two"
        network.down = {"two"}
        network.opened[1].is_open = False
        with pytest.raises(ConnectionRefusedError):
            await these.send_to_any("request")

    asyncio.run(work())


def test_metadata_from_whoever_answers(network: FakeNetwork) -> None:
    async def work() -> None:
        these = cluster()
        await these.metadata(["orders"])
        network.opened[0].failure = KafkaConnectionError("gone")
        assert (await these.metadata(["orders"])).host == "two"

    asyncio.run(work())


def test_nobody_answers(network: FakeNetwork) -> None:
    network.down = {"one"}
    with pytest.raises(ClusterUnreachable, match=r"answers: one \(see clusters\.prod\.bootstrap"):
        asyncio.run(cluster().metadata(["orders"]))


def test_refused_credentials(network: FakeNetwork) -> None:
    network.refusal = SaslAuthenticationFailed("wrong password")
    with pytest.raises(AuthenticationFailed) as caught:
        asyncio.run(cluster().metadata(["orders"]))
    assert caught.value.setting == "clusters.prod.kafka"


def test_an_unknown_broker(network: FakeNetwork) -> None:
    with pytest.raises(KafkaConnectionError):
        asyncio.run(cluster().send(7, "request"))
    assert network.opened == []


# A consumer of Warren's own groups does not wait for a coordinator that is away.


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
    with suspended(own_kafka.child), capture_logs() as logs:
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


# Groups as their coordinators describe them, by Warren's own requests.

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
