"""A connection's properties in the Java client's words: Spark's Kafka source uses it."""

from __future__ import annotations

from warren.logins import LOGIN_PROPERTIES, mechanism_of, refuse_unknown, security_protocol
from warren.logins.tls import java_tls
from warren.settings import KafkaConnection

# How librdkafka works.
_IGNORED_PREFIXES = ("client.", "socket.", "broker.", "metadata.", "reconnect.", "log.", "debug")


def kafka_options(setting: str, connection: KafkaConnection) -> dict[str, str]:
    """Java client properties, without Spark's `kafka.` in front.

    `setting` is the cluster's table, for errors. Raises SettingsError for what Java cannot do.
    """
    properties = connection.librdkafka()
    protocol = security_protocol(properties)
    options = {
        name: text
        for name, text in properties.items()
        if name not in LOGIN_PROPERTIES and not name.startswith(_IGNORED_PREFIXES)
    }
    options["security.protocol"] = protocol
    if protocol.endswith("SSL"):
        options |= java_tls(setting, connection, properties)
    if mechanism := mechanism_of(setting, properties):
        options |= {"sasl.mechanism": mechanism.name, **mechanism.java(properties)}
    refuse_unknown(setting, properties, "Spark's connections")
    return options
