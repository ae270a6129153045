"""A broker whose users' password is in a file, and that takes only the renewed one after that."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from support.secured_kafka import login
from support.servers import embedded_kafka
from warren_local.kafka import EmbeddedKafka, Listener
from warren_local.server import HOST, free_port

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
