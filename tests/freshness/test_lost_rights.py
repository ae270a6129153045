"""Rights on the home cluster that are taken away: said on /ready, waited for, no stack."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation, ResourceType
from freshness.events import CLUSTER, At, offset_event
from support.secured_kafka import (
    DESCRIBE,
    GROUP,
    READ,
    TOPIC,
    WRITE,
    SecuredKafka,
)
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts import group_key
from warren.kafka.producer import EventProducer
from warren.kafka.topics import HOME, ensure_topics
from warren.settings import HomeSettings
from warren_local.ports import free_port


class Service:
    """The freshness service of one user, and a group whose commits it hears of."""

    def __init__(self, kafka: SecuredKafka, directory: Path) -> None:
        self.kafka = kafka
        self.user = kafka.user()
        self.log = directory / "log"
        self._port = free_port()
        self._config = directory / "warren.toml"
        login_table = "".join(
            f"{json.dumps(k)} = {json.dumps(v)}\n" for k, v in self.user.login().items()
        )
        self._config.write_text(
            f"""
            [home]
            bootstrap = "{kafka.secured}"
            partitions = 1
            create_topics = false
            [home.kafka]
            {login_table}
            [clusters.{CLUSTER}]
            bootstrap = "{kafka.bootstrap}"
            [redis]
            url = "redis://127.0.0.1:{free_port()}/0"
            [freshness]
            interval = 0.3
            metrics_port = {self._port}
            [standstill]
            not_ready_after = 2
            exit_after = 300
            """
        )
        self._producer = EventProducer(HOME, HOME, HomeSettings(bootstrap=kafka.bootstrap))
        self._position = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        command = [sys.executable, "-m", "warren_freshness", "--config", str(self._config)]
        with (
            self.log.open("wb") as output,
            subprocess.Popen(command, stdout=output, stderr=output) as process,
        ):
            try:
                yield
                assert process.poll() is None, self.log.read_text()
            finally:
                process.kill()
        assert "Traceback" not in self.log.read_text()

    def commit(self) -> None:
        """One more event of the group."""
        self._position += 1
        event = offset_event(
            {"orders": [At(5, 5)]}, position=self._position, observed_at=SystemClock().now_ms()
        )
        key = group_key(event.cluster, event.group)
        self._producer.send("warren.offsets", key, event.to_bytes())
        self._producer.flush()

    def reason(self) -> str:
        """Why it is not ready; empty when it is. The group goes on meanwhile."""
        self.commit()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/ready", timeout=5):
                return ""
        except urllib.error.HTTPError as error:
            return error.read().decode()
        except OSError as error:
            return str(error)

    def await_ready(self, message: str) -> None:
        eventually(lambda: not self.reason(), timeout=60, message=f"{message}: {self.reason()}")

    def await_reason(self, *words: str) -> None:
        eventually(
            lambda: all(word in self.reason() for word in words),
            timeout=60,
            message=f"it says {words}: {self.reason()} {self.log.read_text()}",
        )


@pytest.fixture
def service(secured_kafka: SecuredKafka, tmp_path: Path) -> Service:
    ensure_topics(secured_kafka.admin, HomeSettings(partitions=1))
    return Service(secured_kafka, tmp_path)


def test_what_the_home_cluster_refuses_is_waited_for(service: Service) -> None:
    rights: list[tuple[ResourceType, str, AclOperation, str]] = [
        (TOPIC, "warren.offsets", READ, "intake: cluster home: not authorised: "),
        (GROUP, "warren-freshness", READ, "intake: cluster home: not authorised: "),
        (TOPIC, "warren.freshness", WRITE, "publishing: cluster home: not acknowledged: "),
    ]
    service.user.grant(GROUP, "warren-reader", DESCRIBE)
    service.user.grant(TOPIC, "warren.freshness", READ)
    with service.running():
        service.await_reason("cluster home: not authorised: ")  # from its start on
        for kind, name, right, _ in rights:
            service.user.grant(kind, name, right)
        service.await_ready("all rights are there")
        for kind, name, right, reason in rights:
            service.user.revoke(kind, name, right)
            service.await_reason(reason)
            service.user.grant(kind, name, right)
            service.await_ready(f"{right.name} on {name} is back")
