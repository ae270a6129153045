"""librdkafka's connection properties in aiokafka's words (Faust and ListOffsets use aiokafka)."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import SaslAuthenticationFailed
from warren.errors import SettingsError
from warren.kafka.login_properties import (
    LOGIN_PROPERTIES,
    needed,
    sasl_mechanism,
    unsupported,
    unusable,
)
from warren.settings import KafkaConnection

if TYPE_CHECKING:
    import httpx


class ClientCredentialsToken(AbstractTokenProvider):  # type: ignore[misc]  # untyped base
    """OAuth 2.0 client credentials (RFC 6749, 4.4): librdkafka's `sasl.oauthbearer.method=oidc`."""

    def __init__(self, url: str, client_id: str, client_secret: str, scope: str | None) -> None:
        self._url = url
        self._form = {"grant_type": "client_credentials", **({"scope": scope} if scope else {})}
        basic = base64.b64encode(f"{client_id}:{client_secret}".encode()).decode()
        self._headers = {"Authorization": f"Basic {basic}"}
        self._lock = asyncio.Lock()

    async def token(self) -> str:
        """A fresh access token; asked for at each (re-)authentication.

        Raises SaslAuthenticationFailed.
        """
        import httpx  # a quarter of a second at the start of services that do not need it

        async with self._lock, httpx.AsyncClient(timeout=10) as client:
            try:
                response = await client.post(self._url, data=self._form, headers=self._headers)
                response.raise_for_status()
            except httpx.HTTPError as error:
                raise SaslAuthenticationFailed(f"the token endpoint: {error}") from error
            return _access_token(response)


def _access_token(response: httpx.Response) -> str:
    """Raises SaslAuthenticationFailed for what is no token: a proxy's page, say."""
    try:
        token = response.json()["access_token"]
    except (ValueError, KeyError, TypeError):
        token = None
    if not isinstance(token, str):
        kind = response.headers.get("content-type", "no content type")
        raise SaslAuthenticationFailed(f"the token endpoint answers without a token ({kind})")
    return token


def aiokafka_options(setting: str, connection: KafkaConnection) -> dict[str, Any]:
    """Keyword arguments of aiokafka's clients.

    `setting` is the cluster's table, for errors. Raises SettingsError for what aiokafka cannot do:
    `ssl.` and `sasl.` properties beyond those known here. All other properties say how librdkafka
    works, not how to log in, and are left out. Raises AuthenticationFailed for renewed files that
    cannot be used yet.
    """
    properties = connection.librdkafka()
    protocol = properties.pop("security.protocol", "plaintext").upper()
    options: dict[str, Any] = {
        "bootstrap_servers": properties.pop("bootstrap.servers"),
        "security_protocol": protocol,
    }
    if protocol.endswith("SSL"):
        options["ssl_context"] = _ssl_context(setting, connection, properties)
    if protocol.startswith("SASL"):
        options |= _sasl(setting, properties)
    unknown = [n for n in properties if n.startswith(("ssl.", "sasl.")) and n not in _KNOWN]
    if unknown:
        raise SettingsError(
            f"{setting}.kafka.{unknown[0]}", "not supported for the connections of Faust/aiokafka"
        )
    return options


def log_in_anew(client: AIOKafkaConsumer | AIOKafkaProducer, options: Mapping[str, Any]) -> None:
    """The client opens its next connections with these options; aiokafka has no hook for it."""
    network = client.client if isinstance(client, AIOKafkaProducer) else client._client
    for name in options.keys() & _PASSED_ON:
        setattr(network, f"_{name}", options[name])


_PASSED_ON = {
    "ssl_context",
    "sasl_plain_username",
    "sasl_plain_password",
    "sasl_oauth_token_provider",
}
_KNOWN = LOGIN_PROPERTIES | {"ssl.cipher.suites"}


def _ssl_context(
    setting: str, connection: KafkaConnection, properties: dict[str, str]
) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(
            cafile=properties.get("ssl.ca.location"), cadata=properties.get("ssl.ca.pem")
        )
        if certificate := properties.get("ssl.certificate.location"):
            context.load_cert_chain(
                certificate, properties.get("ssl.key.location"), properties.get("ssl.key.password")
            )
        if ciphers := properties.get("ssl.cipher.suites"):
            context.set_ciphers(ciphers)
    except (OSError, ssl.SSLError) as error:
        raise unusable(setting, connection, f"TLS files cannot be used: {error}") from None
    if properties.get("ssl.endpoint.identification.algorithm", "https").lower() in ("", "none"):
        context.check_hostname = False
    if properties.get("enable.ssl.certificate.verification", "true") == "false":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _sasl(setting: str, properties: dict[str, str]) -> dict[str, Any]:
    mechanism = sasl_mechanism(properties)
    if mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"):
        return {
            "sasl_mechanism": mechanism,
            "sasl_plain_username": needed(setting, properties, "sasl.username"),
            "sasl_plain_password": needed(setting, properties, "sasl.password"),
        }
    if mechanism == "OAUTHBEARER":
        return {
            "sasl_mechanism": mechanism,
            "sasl_oauth_token_provider": ClientCredentialsToken(
                needed(setting, properties, "sasl.oauthbearer.token.endpoint.url"),
                needed(setting, properties, "sasl.oauthbearer.client.id"),
                needed(setting, properties, "sasl.oauthbearer.client.secret"),
                properties.get("sasl.oauthbearer.scope"),
            ),
        }
    raise unsupported(setting, mechanism)
