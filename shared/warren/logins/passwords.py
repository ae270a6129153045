"""PLAIN and SCRAM: a name and a password."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warren.logins.mechanism import Mechanism, Properties, jaas

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
