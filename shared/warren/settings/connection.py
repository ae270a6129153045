"""How to reach a Kafka cluster."""

import re
from ipaddress import IPv6Address
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    StringConstraints,
    field_validator,
    model_validator,
)

from warren.errors import SettingsError
from warren.files import FileVersion
from warren.installation import DEFAULT_NAME, NAME_PATTERN, Installation
from warren.section import Section
from warren.settings.file_secret import FileSecret

# The form of bootstrap servers: host:port[,host:port].


_SERVER = re.compile(r"(?:\[(?P<ipv6>[^\[\]]+)\]|[^\s/:@\[\]]+):(?P<port>[0-9]{1,5})")


def bootstrap_servers(written: str) -> str:
    """The servers as all clients read them: without blanks and empty parts.

    Raises ValueError, which says how to write it.
    """
    servers = [server for part in written.split(",") if (server := part.strip())]
    if not servers:
        raise ValueError("names no server: write host:port[,host:port]")
    for server in servers:
        if "://" in server:
            raise ValueError(
                f"{server!r} begins with a scheme: write host:port, and the protocol as the "
                "property security.protocol of the table kafka"
            )
        found = _SERVER.fullmatch(server)
        if found is None or not 1 <= int(found["port"]) <= 65535 or not _is_ipv6(found["ipv6"]):
            raise ValueError(
                f"{server!r} is not host:port: write for example kafka-1:9092, or [::1]:9092 for "
                "an IPv6 address; ports are 1 to 65535"
            )
    return ",".join(servers)


def named_servers(setting: str, written: str) -> str:
    """The same. Raises SettingsError with that setting."""
    try:
        return bootstrap_servers(written)
    except ValueError as error:
        raise SettingsError(setting, str(error)) from None


def _is_ipv6(address: str | None) -> bool:
    """None, for no brackets, is none that is wrong."""
    try:
        return address is None or bool(IPv6Address(address))
    except ValueError:
        return False


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


class HomeSettings(KafkaConnection):
    """Warren's own cluster, where its topics live."""

    bootstrap: str = Field(
        default="localhost:9092", description="Bootstrap servers, host:port[,host:port]"
    )
    instance: Annotated[str, StringConstraints(pattern=NAME_PATTERN)] = Field(
        default=DEFAULT_NAME,
        description="Name of this Warren: topics, consumer groups, keys in Redis and clients begin "
        "with it. Two that share a cluster or a Redis need two names. Letters, digits, . _ -",
    )
    topic_prefix: str = Field(
        default_factory=lambda before: Installation(before["instance"]).topic_prefix,
        description="Prefix of all of Warren's topics; not set: the instance's name and a dot",
    )
    partitions: int = Field(default=8, ge=1, description="Partitions of each topic")
    replication_factor: int = Field(
        default=-1,
        ge=-1,
        description="Replicas of each topic; -1: as many as the cluster gives by default "
        "(`default.replication.factor`)",
    )
    min_insync_replicas: int | None = Field(
        default=None,
        ge=1,
        description="Replicas that must have a record before it counts as written "
        "(`min.insync.replicas` of each topic); not set: the cluster's default",
    )
    create_topics: bool = Field(default=True, description="Services create missing topics")

    @property
    def installation(self) -> Installation:
        return Installation(self.instance)

    @field_validator("replication_factor")
    @classmethod
    def _replicas(cls, factor: int) -> int:
        if factor == 0:
            raise ValueError("a topic has at least one replica; -1 leaves it to the cluster")
        return factor

    @model_validator(mode="after")
    def _can_be_written(self) -> Self:
        if self.min_insync_replicas is not None and (
            0 < self.replication_factor < self.min_insync_replicas
        ):
            raise ValueError("min_insync_replicas is more than replication_factor")
        return self
