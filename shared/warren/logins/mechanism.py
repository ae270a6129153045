"""What a login mechanism is: a SASL mechanism that says how each client of Kafka logs in by it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Properties = Mapping[str, str]
"""Of a connection, as librdkafka names them, with their secrets revealed: never log them."""


@dataclass(frozen=True, slots=True)
class Mechanism(ABC):
    """`needs`: the properties without which it cannot log in; `takes`: the others that it knows.

    Its methods are given properties that have all that it needs.
    """

    name: str
    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()

    def librdkafka(self, properties: Properties) -> dict[str, Any]:
        """The properties of a confluent-kafka client: as they are written."""
        return dict(properties)

    @abstractmethod
    def aiokafka(self, properties: Properties) -> dict[str, Any]:
        """Keyword arguments of aiokafka's clients, beside `sasl_mechanism`.

        `sasl_oauth_token_provider` needs no class of aiokafka's, only an async `token()`.
        """

    @abstractmethod
    def faust(self, aiokafka: Mapping[str, Any]) -> Any:
        """Faust's credentials. `aiokafka`: all options of a client, TLS among them."""

    @abstractmethod
    def java(self, properties: Properties) -> dict[str, str]:
        """Properties of Java's client beside `sasl.mechanism`, for Spark."""


def jaas(module: str, options: Mapping[str, str]) -> str:
    """Java's `sasl.jaas.config`. `module`: within org.apache.kafka.common.security."""
    quoted = (
        '{}="{}"'.format(name, value.replace("\\", "\\\\").replace('"', '\\"'))
        for name, value in options.items()
    )
    return f"org.apache.kafka.common.security.{module} required {' '.join(quoted)};"


_USER, _PASSWORD = "sasl.username", "sasl.password"


@dataclass(frozen=True, slots=True)
class _Password(Mechanism):
    needs: tuple[str, ...] = (_USER, _PASSWORD)
    module: str = "scram.ScramLoginModule"

    def aiokafka(self, properties: Properties) -> dict[str, Any]:
        return {
            "sasl_plain_username": properties[_USER],
            "sasl_plain_password": properties[_PASSWORD],
        }

    def faust(self, aiokafka: Mapping[str, Any]) -> Any:
        from faust import SASLCredentials  # only the evaluator has it

        return SASLCredentials(
            username=aiokafka["sasl_plain_username"],
            password=aiokafka["sasl_plain_password"],
            ssl_context=aiokafka.get("ssl_context"),
            mechanism=self.name,
        )

    def java(self, properties: Properties) -> dict[str, str]:
        login = {"username": properties[_USER], "password": properties[_PASSWORD]}
        return {"sasl.jaas.config": jaas(self.module, login)}


PLAIN = _Password("PLAIN", module="plain.PlainLoginModule")
SCRAM_SHA_256 = _Password("SCRAM-SHA-256")
SCRAM_SHA_512 = _Password("SCRAM-SHA-512")
