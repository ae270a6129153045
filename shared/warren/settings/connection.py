"""How to reach a Kafka cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import ConfigDict, Field, PrivateAttr, SecretStr, field_validator

from warren.file_version import FileVersion
from warren.installation import DEFAULT_NAME
from warren.section import Section
from warren.settings.bootstrap import bootstrap_servers
from warren.settings.file_secret import FileSecret

# How librdkafka's properties end that name files with credentials, which may be renewed there.
_FILES = (".location", ".keytab", ".file")
_SERVERS = ("bootstrap.servers", "metadata.broker.list")  # librdkafka's words for `bootstrap`


class KafkaConnection(Section):
    """How to reach a cluster: bootstrap servers and librdkafka's properties, of which other clients
    than librdkafka take over how to log in (`warren.logins`).

    All property values are kept as secrets, so that none of them shows in a log or a repr.
    """

    model_config = ConfigDict(coerce_numbers_to_str=True)

    bootstrap: str = Field(description="Bootstrap servers, host:port[,host:port]")
    kafka: dict[str, SecretStr] = Field(
        default_factory=dict,
        description="librdkafka properties, for example security.protocol, sasl.mechanism, "
        "sasl.username, sasl.password; `<property>_file` reads the value from a file, and again "
        "when that is renewed. Connections that are not librdkafka's take over those of "
        "operations.md",
    )

    _client_id: str = PrivateAttr(default=DEFAULT_NAME)
    _read_at: tuple[FileVersion, ...] = PrivateAttr(default=())

    def model_post_init(self, _context: object) -> None:
        self._read_at = self.login_version

    @property
    def client_id(self) -> str:
        """What brokers know our connections by; the property `client.id`, if set, wins."""
        named = self.kafka.get("client.id")
        return named.get_secret_value() if named else self._client_id

    def of_client(self, client_id: str) -> Self:
        """The same for connections of that `client.id`, unless the settings name one."""
        connection = self.model_copy()
        connection._client_id = client_id
        return connection

    @field_validator("bootstrap")
    @classmethod
    def _host_and_port(cls, written: str) -> str:
        return bootstrap_servers(written)

    @field_validator("kafka", mode="before")
    @classmethod
    def _properties(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        properties = {
            str(name).replace("_", "."): str(text).lower() if isinstance(text, bool) else text
            for name, text in value.items()
        }
        for name in _SERVERS:
            if name in properties:  # some clients would use the one, some the other
                raise ValueError(f"{name} is the setting bootstrap, beside the table kafka")
        return properties

    @property
    def login_version(self) -> tuple[FileVersion, ...]:
        """What tells these credentials from renewed ones: the states of the files with them."""
        files = [text.file for text in self.kafka.values() if isinstance(text, FileSecret)]
        files += [
            Path(text.get_secret_value())
            for name, text in self.kafka.items()
            if name.endswith(_FILES)
        ]
        return tuple(FileVersion.of(file) for file in files)

    @property
    def is_renewed(self) -> bool:
        """Whether the files are others than when the settings were read, or not there now."""
        return self.login_version != self._read_at

    def librdkafka(self) -> dict[str, str]:
        """Client properties with the secrets revealed, as new as their files: pass them on, never
        log or keep them.
        """
        revealed = {name: text.get_secret_value() for name, text in self.kafka.items()}
        return {"bootstrap.servers": self.bootstrap, **revealed}
