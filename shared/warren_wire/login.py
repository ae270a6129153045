"""How a connection logs in, in aiokafka's words: for brokers asked one by one, and for Faust."""

from collections.abc import Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import SaslAuthenticationFailed
from warren.errors import TokenRefused
from warren.logins import CIPHERS, mechanism_of, refuse_unknown, security_protocol
from warren.logins.tls import ssl_context
from warren.settings import KafkaConnection

_TOKENS = "sasl_oauth_token_provider"
_LOGIN = frozenset({"ssl_context", "sasl_plain_username", "sasl_plain_password", _TOKENS})


class Tokens(AbstractTokenProvider):  # type: ignore[misc]  # untyped base
    """A mechanism's source of tokens, as aiokafka wants it."""

    def __init__(self, source: Any) -> None:
        self._source = source

    async def token(self) -> str:
        """Raises SaslAuthenticationFailed."""
        try:
            token: str = await self._source.token()
        except TokenRefused as error:
            raise SaslAuthenticationFailed(str(error)) from error
        return token


def aiokafka_options(setting: str, connection: KafkaConnection) -> dict[str, Any]:
    """Keyword arguments of aiokafka's clients.

    `setting` is the cluster's table, for errors. Raises SettingsError for what aiokafka cannot do:
    `ssl.` and `sasl.` properties beyond those known here. All other properties say how librdkafka
    works, not how to log in, and are left out. Raises AuthenticationFailed for renewed files that
    cannot be used yet.
    """
    properties = connection.librdkafka()
    protocol = security_protocol(properties)
    options: dict[str, Any] = {
        "bootstrap_servers": properties["bootstrap.servers"],
        "security_protocol": protocol,
    }
    if protocol.endswith("SSL"):
        options["ssl_context"] = ssl_context(setting, connection, properties)
    if mechanism := mechanism_of(setting, properties):
        options |= {"sasl_mechanism": mechanism.name, **mechanism.aiokafka(properties)}
    if _TOKENS in options:
        options[_TOKENS] = Tokens(options[_TOKENS])
    refuse_unknown(setting, properties, "the connections of Faust/aiokafka", CIPHERS)
    return options


def log_in_anew(client: AIOKafkaConsumer | AIOKafkaProducer, options: Mapping[str, Any]) -> None:
    """The client opens its next connections with these options; aiokafka has no hook for it."""
    network = client.client if isinstance(client, AIOKafkaProducer) else client._client
    for name in options.keys() & _LOGIN:
        setattr(network, f"_{name}", options[name])
