"""librdkafka's properties that say how to log in: what clients other than librdkafka take over."""

from __future__ import annotations

from collections.abc import Mapping

from warren.errors import AuthenticationFailed, SettingsError
from warren.settings import KafkaConnection

LOGIN_PROPERTIES = frozenset(
    {
        "enable.ssl.certificate.verification",
        "sasl.mechanism",
        "sasl.mechanisms",
        "sasl.oauthbearer.client.id",
        "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.method",
        "sasl.oauthbearer.scope",
        "sasl.oauthbearer.token.endpoint.url",
        "sasl.password",
        "sasl.username",
        "ssl.ca.location",
        "ssl.ca.pem",
        "ssl.certificate.location",
        "ssl.endpoint.identification.algorithm",
        "ssl.key.location",
        "ssl.key.password",
    }
)


def sasl_mechanism(properties: Mapping[str, str]) -> str:
    """As librdkafka chooses it."""
    return properties.get("sasl.mechanism") or properties.get("sasl.mechanisms") or "GSSAPI"


def unusable(
    setting: str, connection: KafkaConnection, problem: str, name: str = ""
) -> SettingsError | AuthenticationFailed:
    """The error for properties that no client can be made with. `setting` is the cluster's table,
    `name` the property.

    Files that were renewed since the service began may be half written: that is to be waited for.
    """
    where = f"{setting}.kafka{name and '.'}{name}"
    if connection.is_renewed:
        cluster = setting.removeprefix("clusters.")
        return AuthenticationFailed(
            cluster, where, f"renewed credentials cannot be used: {problem}"
        )
    return SettingsError(where, problem)


def needed(setting: str, properties: Mapping[str, str], name: str) -> str:
    """A property without which the mechanism cannot log in. Raises SettingsError."""
    if name not in properties:
        raise SettingsError(f"{setting}.kafka.{name}", "needed by this sasl.mechanism")
    return properties[name]


def unsupported(setting: str, mechanism: str) -> SettingsError:
    """The error for a mechanism that only librdkafka knows."""
    return SettingsError(
        f"{setting}.kafka.sasl.mechanism",
        f"{mechanism} is not supported; PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER are",
    )
