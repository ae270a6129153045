"""docker-compose.yml for real, whenever Docker is reachable: from the build to `down -v`."""

import os
import signal
from collections.abc import Iterator

import httpx
import pytest
from confluent_kafka import Consumer, KafkaException
from confluent_kafka.admin import AdminClient
from support.compose import TIMEOUT, ComposeProject
from support.servers import docker_is_reachable
from support.waiting import eventually
from warren.contracts import NotificationEvent

STATUSES = {
    "demo-healthy": "OK",
    "demo-slow": "WARN",
    "demo-stopped": "ERR",
    "demo-stalled": "ERR",
    "demo-rewound": "ERR",
}
START = 300.0  # seconds; twelve containers on two cores
CHANNELS = {"mailbox", "receiver"}

pytestmark = [
    pytest.mark.timeout(TIMEOUT + 1200),
    pytest.mark.skipif(
        not docker_is_reachable(), reason="Docker is not reachable: containers are not tested"
    ),
]


@pytest.fixture(scope="module")
def project(pytestconfig: pytest.Config) -> Iterator[ComposeProject]:
    project = ComposeProject(pytestconfig.rootpath)
    project.run("build")
    try:
        project.run("up", "-d")
        yield project
    finally:
        project.run("down", "-v")
    assert project.leftovers() == []


def statuses(api: str) -> dict[str, str]:
    """By group; empty while the API is not there."""
    try:
        return {
            group: httpx.get(f"{api}/v3/kafka/demo/consumer/{group}/status").json()["status"][
                "status"
            ]
            for group in STATUSES
        }
    except (httpx.HTTPError, KeyError):
        return {}


def seen_once(project: ComposeProject, apis: int = 1) -> bool:
    """Whether every group has its status by every copy of the API; demo groups keep theirs, but for
    single judgements.
    """
    return [seen for api in project.apis if (seen := statuses(api))] == [STATUSES] * apis


def delivered(consumer: Consumer, seen: set[str]) -> bool:
    """Whether every channel has taken a notification."""
    message = consumer.poll(1)
    if message is not None and message.error() is None:
        event = NotificationEvent.from_bytes(message.value())
        if event.outcome == "delivered":
            seen.add(event.channel)
    return seen == CHANNELS


def evaluators(admin: AdminClient) -> list[int]:
    """How many partitions of Warren's topics each evaluator has; empty while Kafka is busy."""
    try:
        group = admin.describe_consumer_groups(["warren-evaluator"])["warren-evaluator"].result()
    except KafkaException:
        return []
    return [len(member.assignment.topic_partitions) for member in group.members]


def test_containers_become_healthy_and_show_the_demo(project: ComposeProject) -> None:
    eventually(project.is_healthy, timeout=START, message="containers are healthy")
    eventually(lambda: seen_once(project), timeout=180, message="the demo's statuses appear")


def test_no_container_can_do_more_than_it_needs(project: ComposeProject) -> None:
    for container in project.containers():
        host, image = container["HostConfig"], container["Config"]
        assert host["ReadonlyRootfs"]
        assert host["CapDrop"] == ["ALL"]
        assert host["Memory"] > 0
        assert host["LogConfig"]["Config"]["max-size"]
        ends = container["State"]["Status"] == "exited"  # what hands out the secrets
        assert (image["User"] in ("", "0:0")) is bool(host["CapAdd"]) is ends


def test_notifications_reach_the_mail_catcher_and_the_webhook_receiver(
    project: ComposeProject,
) -> None:
    consumer = Consumer(
        project.client() | {"group.id": "notifications-seen", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["warren.notifications"])
    seen: set[str] = set()
    eventually(lambda: delivered(consumer, seen), timeout=120, message="both channels delivered")
    consumer.close()


def test_a_killed_evaluator_comes_back(project: ComposeProject) -> None:
    (before,) = project.containers("evaluator")
    # Not `docker kill`: that counts as stopped by hand, and nothing starts it again.
    os.kill(before["State"]["Pid"], signal.SIGKILL)
    eventually(
        lambda: project.containers("evaluator")[0]["RestartCount"] == before["RestartCount"] + 1,
        message="the evaluator is started again",
    )
    eventually(
        lambda: project.is_healthy("evaluator"), timeout=START, message="it is healthy again"
    )
    eventually(lambda: seen_once(project), timeout=180, message="the statuses are right again")


def test_two_of_a_service_share_the_work(project: ComposeProject) -> None:
    twice = ("--scale", "api=2", "--scale", "evaluator=2", "--scale", "notifier=2")
    project.run("up", "-d", "--no-recreate", *twice)
    admin = AdminClient(project.client())
    eventually(
        lambda: len(owned := evaluators(admin)) == 2 and all(owned),
        timeout=START,
        message="two evaluators have partitions each",
    )
    eventually(lambda: seen_once(project, 2), timeout=180, message="the statuses stay right")
