"""How Warren logs in to Kafka: by one of the mechanisms in the table below, each a module here."""

from collections.abc import Mapping
from typing import Any

from warren.errors import SettingsError
from warren.logins.client_credentials import CLIENT_CREDENTIALS
from warren.logins.mechanism import PLAIN, SCRAM_SHA_256, SCRAM_SHA_512, Mechanism, Properties
from warren.logins.tls import CIPHERS, TLS
from warren.settings import KafkaConnection

MECHANISMS: Mapping[str, Mechanism] = {
    mechanism.name: mechanism
    for mechanism in (PLAIN, SCRAM_SHA_256, SCRAM_SHA_512, CLIENT_CREDENTIALS)
}
LOGIN_PROPERTIES = TLS.union(
    ("security.protocol", "sasl.mechanism", "sasl.mechanisms"),
    *((*mechanism.needs, *mechanism.takes) for mechanism in MECHANISMS.values()),
)
"""What clients other than librdkafka take over."""


def librdkafka_properties(connection: KafkaConnection) -> dict[str, Any]:
    """Of a confluent-kafka client: it knows mechanisms that are not in the table, too."""
    properties = connection.librdkafka()
    mechanism = MECHANISMS.get(_name(properties))
    return properties if mechanism is None else mechanism.librdkafka(properties)


def security_protocol(properties: Properties) -> str:
    """In upper case, as all clients but librdkafka want it."""
    return properties.get("security.protocol", "plaintext").upper()


def mechanism_of(setting: str, properties: Properties) -> Mechanism | None:
    """By which the connection logs in; None without SASL. `setting` is the cluster's table.

    Raises SettingsError where the mechanism is not in the table, or lacks what it needs.
    """
    if not security_protocol(properties).startswith("SASL"):
        return None
    name = _name(properties)
    mechanism = MECHANISMS.get(name)
    if mechanism is None:
        *others, last = MECHANISMS
        raise SettingsError(
            f"{setting}.kafka.sasl.mechanism",
            f"{name} is not supported; {', '.join(others)} and {last} are",
        )
    for needed in mechanism.needs:
        if needed not in properties:
            raise SettingsError(f"{setting}.kafka.{needed}", "needed by this sasl.mechanism")
    return mechanism


def refuse_unknown(setting: str, properties: Properties, whose: str, *known: str) -> None:
    """A connection without an `ssl.` or `sasl.` property might be less safe than it looks.

    `known`: those beside LOGIN_PROPERTIES. Raises SettingsError.
    """
    for name in sorted(properties.keys() - LOGIN_PROPERTIES - set(known)):
        if name.startswith(("ssl.", "sasl.")):
            raise SettingsError(f"{setting}.kafka.{name}", f"not supported for {whose}")


def _name(properties: Properties) -> str:
    """As librdkafka chooses it."""
    return properties.get("sasl.mechanism") or properties.get("sasl.mechanisms") or "GSSAPI"


__all__ = [
    "CIPHERS",
    "LOGIN_PROPERTIES",
    "MECHANISMS",
    "librdkafka_properties",
    "mechanism_of",
    "refuse_unknown",
    "security_protocol",
]
