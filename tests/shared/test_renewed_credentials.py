"""Credentials that are renewed on disk, while clients run that have logged in with the old ones."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from support.secured_kafka import login
from support.servers import embedded_kafka
from support.waiting import eventually
from warren.errors import KafkaError
from warren.kafka import hearing
from warren.kafka.group_backlog import GroupBacklog
from warren.kafka.producer import EventProducer
from warren.kafka.topics import HOME
from warren.settings_file import load_settings
from warren_local.kafka import EmbeddedKafka, Listener
from warren_local.server import HOST, free_port
from warren_wire.brokers import Brokers

USER = "warren"


class RenewedPassword:
    """`bootstrap` needs no password, `secured` does; `file` has it."""

    def __init__(self, kafka: EmbeddedKafka, secured: str, file: Path) -> None:
        self.bootstrap = kafka.bootstrap
        self.secured = secured
        self.file = file
        self._kafka = kafka

    def login(self) -> dict[str, str]:
        """The properties of a connection, with the file in place of the password."""
        properties = login(USER)
        del properties["sasl.password"]
        return {**properties, "sasl.password_file": str(self.file)}

    def renew(self, password: str) -> None:
        """Write the file, then start the broker again with that password alone."""
        self.file.write_text(f"{password}\n")
        self._kafka.stop()
        options = self._kafka.options
        self._kafka.options = replace(
            options, properties={**options.properties, **_users(password)}
        )
        self._kafka.start()


@contextmanager
def renewed_password(root: Path, directory: Path, password: str) -> Iterator[RenewedPassword]:
    """Running with this password."""
    listener = Listener(free_port(), "SASL_PLAINTEXT")
    properties = {"sasl.enabled.mechanisms": "PLAIN", **_users(password)}
    file = directory / "password"
    file.write_text(f"{password}\n")
    with embedded_kafka(
        root, directory, listeners={"SECURED": listener}, properties=properties
    ) as kafka:
        yield RenewedPassword(kafka, f"{HOST}:{listener.port}", file)


def _users(password: str) -> dict[str, str]:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    login = f'{module} required user_{USER}="{password}";'
    return {"listener.name.secured.plain.sasl.jaas.config": login}


pytestmark = pytest.mark.kafka


def test_clients_log_in_with_what_is_in_the_file(
    pytestconfig: pytest.Config, tmp_path: Path, unique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "RENEWED_SECONDS", 1.0)
    with renewed_password(pytestconfig.rootpath, tmp_path, "old") as kafka, asyncio.Runner() as run:
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
        admin.create_topics([NewTopic(unique, 1, 1)])[unique].result(30)
        config = tmp_path / "warren.toml"
        properties = "".join(
            f"{json.dumps(n)} = {json.dumps(v)}\n" for n, v in kafka.login().items()
        )
        config.write_text(f'[home]\nbootstrap = "{kafka.secured}"\n[home.kafka]\n{properties}')
        home = load_settings(config).home
        brokers = Brokers(HOME, HOME, home)
        producer = EventProducer(home, delivery_timeout=3)
        backlog = GroupBacklog(home, unique, unique)

        def answered() -> bool:
            try:
                run.run(brokers.metadata([unique]))
                return True
            except KafkaError:
                return False

        def published() -> bool:
            producer.send(unique, b"key", b"value")
            try:
                producer.flush()
                return True
            except KafkaError:
                return False

        def waiting() -> int:
            try:
                return sum(backlog.read().waiting.values())
            except KafkaError:
                return 0

        assert answered()
        assert published()
        eventually(lambda: waiting() == 1, message="the backlog is known")
        kafka.renew("new")
        eventually(answered, message="connections to brokers are opened again")
        eventually(published, message="a producer is made that logs in")
        eventually(lambda: waiting() > 1, message="the backlog is known again")
        run.run(brokers.close())
