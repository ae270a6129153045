"""librdkafka's connection properties in the Java client's words: Spark's Kafka source uses it."""

from __future__ import annotations

from pathlib import Path

from warren.errors import SettingsError
from warren.kafka.login_properties import (
    LOGIN_PROPERTIES,
    needed,
    sasl_mechanism,
    unsupported,
    unusable,
)
from warren.settings import KafkaConnection

_LOGIN = "org.apache.kafka.common.security"
_SAME_NAME = (
    "sasl.kerberos.service.name",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
    "sasl.oauthbearer.token.endpoint.url",
)
# How librdkafka works.
_IGNORED_PREFIXES = ("client.", "socket.", "broker.", "metadata.", "reconnect.", "log.", "debug")
_KNOWN = LOGIN_PROPERTIES | {"bootstrap.servers", "security.protocol", *_SAME_NAME}


def kafka_options(setting: str, connection: KafkaConnection) -> dict[str, str]:
    """Java client properties, without Spark's `kafka.` in front.

    `setting` is the cluster's table, for errors. Raises SettingsError for what Java cannot do.
    """
    properties = connection.librdkafka()
    protocol = properties.get("security.protocol", "plaintext").upper()
    options = {
        "bootstrap.servers": properties["bootstrap.servers"],
        "security.protocol": protocol,
        **{name: properties[name] for name in _SAME_NAME if name in properties},
    }
    if protocol.endswith("SSL"):
        options |= _tls(setting, connection, properties)
    if protocol.startswith("SASL"):
        options |= _sasl(setting, properties)
    for name in sorted(properties.keys() - _KNOWN):
        if name.startswith(("ssl.", "sasl.")):
            raise SettingsError(f"{setting}.kafka.{name}", "not supported for Spark's connections")
        if not name.startswith(_IGNORED_PREFIXES):
            options[name] = properties[name]
    return options


def _tls(setting: str, connection: KafkaConnection, properties: dict[str, str]) -> dict[str, str]:
    if properties.get("enable.ssl.certificate.verification", "true") == "false":
        raise SettingsError(
            f"{setting}.kafka.enable.ssl.certificate.verification",
            "Java's client always verifies certificates: give ssl.ca.location",
        )
    options: dict[str, str] = {}
    authority = properties.get("ssl.ca.pem") or _read(
        setting, connection, properties, "ssl.ca.location"
    )
    if authority:
        options |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": authority}
    certificate = _read(setting, connection, properties, "ssl.certificate.location")
    key = _read(setting, connection, properties, "ssl.key.location")
    if certificate and key:
        options |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": certificate,
            "ssl.keystore.key": key,
        }
    return options


def _read(setting: str, connection: KafkaConnection, properties: dict[str, str], name: str) -> str:
    """Text of a PEM file. Its contents are passed on: executors need not have the file."""
    if not properties.get(name):
        return ""
    try:
        return Path(properties[name]).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise unusable(setting, connection, f"cannot be read: {error}", name) from None


def _sasl(setting: str, properties: dict[str, str]) -> dict[str, str]:
    mechanism = sasl_mechanism(properties)
    match mechanism:
        case "PLAIN":
            login = _password_login(setting, properties, f"{_LOGIN}.plain.PlainLoginModule")
        case "SCRAM-SHA-256" | "SCRAM-SHA-512":
            login = _password_login(setting, properties, f"{_LOGIN}.scram.ScramLoginModule")
        case "OAUTHBEARER":
            return _oauth(setting, properties)
        case _:
            raise unsupported(setting, mechanism)
    return {"sasl.mechanism": mechanism, "sasl.jaas.config": login}


def _password_login(setting: str, properties: dict[str, str], module: str) -> str:
    user = needed(setting, properties, "sasl.username")
    password = needed(setting, properties, "sasl.password")
    return _jaas(module, {"username": user, "password": password})


def _oauth(setting: str, properties: dict[str, str]) -> dict[str, str]:
    """OAuth 2.0 client credentials: librdkafka's `sasl.oauthbearer.method=oidc` (KIP-768)."""
    needed(setting, properties, "sasl.oauthbearer.token.endpoint.url")
    credentials = {
        "clientId": needed(setting, properties, "sasl.oauthbearer.client.id"),
        "clientSecret": needed(setting, properties, "sasl.oauthbearer.client.secret"),
    }
    if scope := properties.get("sasl.oauthbearer.scope"):
        credentials["scope"] = scope
    package = f"{_LOGIN}.oauthbearer"
    return {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": _jaas(f"{package}.OAuthBearerLoginModule", credentials),
        "sasl.login.callback.handler.class": f"{package}.OAuthBearerLoginCallbackHandler",
    }


def _jaas(module: str, options: dict[str, str]) -> str:
    quoted = (
        '{}="{}"'.format(name, value.replace("\\", "\\\\").replace('"', '\\"'))
        for name, value in options.items()
    )
    return f"{module} required {' '.join(quoted)};"
