"""docker-compose.yml for real, whenever Docker is reachable: from the build to `down -v`."""

import os
import signal
from collections.abc import Iterator

import httpx
import pytest
from confluent_kafka import Consumer, KafkaException
from confluent_kafka.admin import AdminClient
from support.compose import BUILD_TIMEOUT, ComposeProject
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
    pytest.mark.timeout(BUILD_TIMEOUT + 1200),
    pytest.mark.skipif(
        not docker_is_reachable(), reason="Docker is not reachable: containers are not tested"
    ),
]


@pytest.fixture(scope="module")
def project(pytestconfig: pytest.Config) -> Iterator[ComposeProject]:
    project = ComposeProject(pytestconfig.rootpath)
    project.run("build", timeout=BUILD_TIMEOUT)
    try:
        project.run("up", "-d")
        yield project
    finally:
        project.run("down", "-v")
    assert project.leftovers() == []


def statuses(project: ComposeProject) -> dict[str, str]:
    """By group; empty while the API is not there."""
    url = f"http://127.0.0.1:{project.api_port}/v3/kafka/demo/consumer"
    try:
        return {
            group: httpx.get(f"{url}/{group}/status").json()["status"]["status"]
            for group in STATUSES
        }
    except (httpx.HTTPError, KeyError):
        return {}


def seen_once(project: ComposeProject) -> bool:
    """Whether every group has its status; demo groups keep theirs, but for single judgements."""
    return statuses(project) == STATUSES


def delivered(consumer: Consumer, seen: set[str]) -> bool:
    """Whether every channel has taken a notification."""
    message = consumer.poll(1)
    if message is not None and message.error() is None:
        event = NotificationEvent.from_bytes(message.value())
        if event.outcome == "delivered":
            seen.add(event.channel)
    return seen == CHANNELS


@pytest.fixture(scope="module")
def admin(project: ComposeProject) -> AdminClient:
    return AdminClient({"bootstrap.servers": f"127.0.0.1:{project.kafka_port}"})


def evaluators(admin: AdminClient) -> list[int]:
    """How many partitions of Warren's topics each evaluator has; empty while Kafka is busy."""
    try:
        group = admin.describe_consumer_groups(["warren-evaluator"])["warren-evaluator"].result()
    except KafkaException:
        return []
    return [len(member.assignment.topic_partitions) for member in group.members]


def test_containers_become_healthy_and_show_the_demo(project: ComposeProject) -> None:
    eventually(lambda: not project.unhealthy(), timeout=START, message="containers are healthy")
    eventually(lambda: seen_once(project), timeout=180, message="the demo's statuses appear")


def test_no_service_runs_as_root(project: ComposeProject) -> None:
    ours = [c for c in project.containers() if c["Config"]["Image"].startswith("warren-")]
    assert len(ours) == 9
    assert {container["Config"]["User"] for container in ours} == {"warren"}
    assert all(container["HostConfig"]["Memory"] > 0 for container in project.containers())


def test_notifications_reach_the_mail_catcher_and_the_webhook_receiver(
    project: ComposeProject,
) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": f"127.0.0.1:{project.kafka_port}",
            "group.id": "notifications-seen",
            "auto.offset.reset": "earliest",
        }
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
        lambda: not project.unhealthy("evaluator"), timeout=START, message="it is healthy again"
    )
    eventually(lambda: seen_once(project), timeout=180, message="the statuses are right again")


def test_two_evaluators_share_the_groups(project: ComposeProject, admin: AdminClient) -> None:
    project.run("up", "-d", "--no-recreate", "--scale", "evaluator=2")
    eventually(
        lambda: len(owned := evaluators(admin)) == 2 and all(owned),
        timeout=START,
        message="two evaluators have partitions each",
    )
    eventually(lambda: seen_once(project), timeout=180, message="the statuses stay right")


def test_the_images_hold_no_other_services_dependencies(project: ComposeProject) -> None:
    packages = project.run(
        "exec", "-T", "notifier", "ls", "/opt/warren/lib/python3.12/site-packages"
    ).split()
    assert "aiosmtplib" in packages
    assert not {"pyspark", "faust", "fastapi", "warren_collector"} & set(packages)
