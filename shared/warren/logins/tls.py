"""TLS in the words of clients other than librdkafka."""

import ssl
from pathlib import Path

from warren.errors import AuthenticationFailed, SettingsError
from warren.files import why_unread
from warren.logins.mechanism import Properties
from warren.settings import KafkaConnection

_VERIFIES = "enable.ssl.certificate.verification"
_HOST = "ssl.endpoint.identification.algorithm"
_KEY_PASSWORD = "ssl.key.password"
_AUTHORITY = "ssl.ca.location"
_CERTIFICATE = "ssl.certificate.location"
_KEY = "ssl.key.location"
TLS = frozenset({_VERIFIES, _HOST, _KEY_PASSWORD, _AUTHORITY, "ssl.ca.pem", _CERTIFICATE, _KEY})
"""The properties that all clients take over."""
CIPHERS = "ssl.cipher.suites"
"""This one only Python's take over."""


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


def ssl_context(
    setting: str, connection: KafkaConnection, properties: Properties
) -> ssl.SSLContext:
    """For Python's clients. Raises what `unusable` makes."""
    try:
        context = ssl.create_default_context(
            cafile=properties.get(_AUTHORITY), cadata=properties.get("ssl.ca.pem")
        )
        if certificate := properties.get(_CERTIFICATE):
            context.load_cert_chain(
                certificate, properties.get(_KEY), properties.get(_KEY_PASSWORD)
            )
        if ciphers := properties.get(CIPHERS):
            context.set_ciphers(ciphers)
    except (OSError, ssl.SSLError) as error:
        raise unusable(setting, connection, f"TLS files cannot be used: {error}") from None
    if properties.get(_HOST, "https").lower() in ("", "none"):
        context.check_hostname = False
    if properties.get(_VERIFIES, "true") == "false":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def java_tls(setting: str, connection: KafkaConnection, properties: Properties) -> dict[str, str]:
    """For Java's client. Raises SettingsError for what it cannot do, and what `unusable` makes."""
    if properties.get(_VERIFIES, "true") == "false":
        raise SettingsError(
            f"{setting}.kafka.{_VERIFIES}",
            "Java's client always verifies certificates: give ssl.ca.location",
        )
    options = {name: properties[name] for name in (_KEY_PASSWORD, _HOST) if name in properties}
    authority = properties.get("ssl.ca.pem") or _read(setting, connection, properties, _AUTHORITY)
    if authority:
        options |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": authority}
    certificate = _read(setting, connection, properties, _CERTIFICATE)
    key = _read(setting, connection, properties, _KEY)
    if certificate and key:
        options |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": certificate,
            "ssl.keystore.key": key,
        }
    return options


def _read(setting: str, connection: KafkaConnection, properties: Properties, name: str) -> str:
    """Text of a PEM file. Its contents are passed on: executors need not have the file."""
    if not properties.get(name):
        return ""
    try:
        return Path(properties[name]).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise unusable(setting, connection, f"cannot be read: {why_unread(error)}", name) from None
