"""A home cluster with passwords and rights: what is wrong is said, and waited for."""

import json
from pathlib import Path

import pytest
from support.evaluator_process import PARTITIONS, Home, Worker
from support.offset_events import commits
from support.secured_kafka import (
    DESCRIBE,
    GROUP,
    PASSWORD,
    READ,
    TOPIC,
    WRITE,
    SecuredKafka,
)
from support.waiting import eventually
from warren.kafka.topics import ensure_topics
from warren.settings import HomeSettings

pytestmark = pytest.mark.kafka


class Secured:
    """The broker, as its administrator and as the worker see it."""

    def __init__(self, kafka: SecuredKafka, name: str, directory: Path) -> None:
        self.home = Home(kafka.bootstrap, name, directory)
        self._kafka = kafka
        self._user = kafka.user()
        self.grant, self.revoke = self._user.grant, self._user.revoke

    def home_as(self, password: str) -> Home:
        """The home as a user of the secured listener."""
        variables = {
            f"WARREN_HOME__KAFKA__{name.upper().replace('.', '_')}": value
            for name, value in self._user.login(password).items()
        }
        extra = {**variables, "WARREN_HOME__CREATE_TOPICS": "false"}
        return Home(self._kafka.secured, self.home.name, self.home.directory, extra=extra)

    def make_topics(self) -> None:
        home = HomeSettings(topic_prefix=self.home.prefix, partitions=PARTITIONS)
        ensure_topics(self._kafka.admin, home)


@pytest.fixture
def secured(secured_kafka: SecuredKafka, tmp_path: Path, unique: str) -> Secured:
    return Secured(secured_kafka, unique, tmp_path)


def problems(worker: Worker) -> list[str]:
    """What the worker has said about the home cluster, a line each."""
    lines = [json.loads(line) for line in worker.log.read_text().splitlines()]
    said = [line for line in lines if line["event"] == "cluster not usable, retrying"]
    assert all(line["cluster"] == "home" for line in said)
    return [f"{line['setting']}: {line['problem']}" for line in said]


def await_problem(worker: Worker, text: str) -> None:
    eventually(
        lambda: any(text in problem for problem in problems(worker)),
        message=f"the worker says: {text} ({worker.log.read_text()})",
    )


def test_a_wrong_password_is_one_line_and_never_shown(secured: Secured) -> None:
    with secured.home_as("wrong").worker() as worker:
        worker.start()
        await_problem(worker, "home.kafka: authentication failed")
        assert worker.terminate() == 0
        assert "wrong" not in worker.log.read_text()


def test_a_missing_right_is_named_and_waited_for(secured: Secured) -> None:
    home = secured.home
    changelog = f"{home.name}-windows-changelog"
    with secured.home_as(PASSWORD).worker() as worker:
        worker.start()
        await_problem(worker, f"home.topic_prefix: topic {home.prefix}offsets does not exist")
        secured.make_topics()
        secured.grant(TOPIC, f"{home.prefix}offsets", DESCRIBE)
        for topic in ("lag", "lag-status", "incidents", "trends", "dead-letters"):
            secured.grant(TOPIC, home.prefix + topic, DESCRIBE, WRITE)
        for topic in ("groups", "freshness", "lag-status"):
            secured.grant(TOPIC, home.prefix + topic, READ)
        await_problem(worker, f"home.create_topics: topic {changelog} does not exist")
        with secured.home.worker("creator") as creator:
            creator.start().await_ready()
            assert creator.terminate() == 0
        others = [
            f"{home.name}-{table}-changelog" for table in ("members", "lateness", "incidents")
        ]
        for created in (changelog, *others):
            secured.grant(TOPIC, created, READ, WRITE)
        await_problem(worker, f"home.kafka: not authorised: READ topic {home.prefix}offsets")
        secured.grant(TOPIC, f"{home.prefix}offsets", READ)
        await_problem(worker, "home.kafka: not authorised")
        secured.grant(GROUP, home.name, READ)
        worker.await_ready()
        sender = home.events()
        sender.send(*commits(1, 2))
        sender.flush()
        home.await_caught_up()
        assert len(home.records("lag")) == 2
