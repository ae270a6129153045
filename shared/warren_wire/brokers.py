"""Connections to a cluster's brokers: requests that name the broker that shall answer.

aiokafka's connections without its client: that one asks for metadata in a way that creates topics
which have just been deleted, and for that of all topics whenever a connection breaks.

How a connection logs in, in aiokafka's words: for brokers asked one by one, and for Faust.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.abc import AbstractTokenProvider
from aiokafka.conn import AIOKafkaConnection, collect_hosts, create_conn
from aiokafka.errors import (
    IllegalSaslStateError,
    KafkaConnectionError,
    KafkaError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)
from warren.errors import (
    AuthenticationFailed,
    BrokerUnreachable,
    ClusterUnreachable,
    TokenRefused,
)
from warren.logins import CIPHERS, mechanism_of, refuse_unknown, security_protocol
from warren.logins.tls import ssl_context
from warren.settings import KafkaConnection

from warren_wire.metadata import TopicMetadataRequest

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


REQUEST_TIMEOUT_MS = 5000
QUIET_SECONDS = 30.0  # so long nobody waits again for a broker that has let others wait
METADATA_SECONDS = 20.0  # after which no further broker is asked, where many do not answer
UNANSWERED = (OSError, KafkaError)
_REFUSED = (
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
    IllegalSaslStateError,
)
_Address = tuple[str, int]


class Brokers:
    """One connection per broker, opened when first needed and again after it broke."""

    def __init__(self, cluster: str, setting: str, connection: KafkaConnection) -> None:
        """Raises SettingsError for what aiokafka cannot do."""
        self._cluster = cluster
        self._setting = setting
        self._connection_settings = connection
        self._login_version = connection.login_version
        self._options = self._login()
        hosts = collect_hosts(connection.bootstrap)
        self._bootstrap: list[_Address] = [(host, port) for host, port, _ in hosts]
        self._addresses: dict[int, _Address] = {}
        self._connections: dict[_Address, AIOKafkaConnection] = {}
        self._opening: defaultdict[_Address, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._unanswered: dict[int, float] = {}
        """Brokers that did not answer last, and until when they are not asked again (monotonic)."""
        self.received_bytes = 0
        """What came over the sockets, answers that nobody waited for any more included."""

    @property
    def ids(self) -> list[int]:
        """The brokers, as the newest metadata names them."""
        return list(self._addresses)

    @property
    def problem(self) -> BrokerUnreachable | None:
        """Which brokers did not answer last, while others do."""
        silent = [
            f"broker {broker} at {host}:{port}"
            for broker, (host, port) in sorted(self._addresses.items())
            if broker in self._unanswered
        ]
        if not silent or len(silent) == len(self._addresses):
            return None
        one = len(silent) == 1
        return BrokerUnreachable(
            self._cluster,
            f"{self._setting}.bootstrap, and advertised.listeners of the broker",
            f"{', '.join(silent)} {'does' if one else 'do'} not answer from here, others do: what "
            f"{'it leads' if one else 'they lead'} is not read",
        )

    async def metadata(self, topics: Sequence[str] | None) -> Any:
        """The MetadataResponse for these topics, None for all; creates none of them.

        Raises ClusterUnreachable when no broker answers, AuthenticationFailed.
        """
        problem: Exception | None = None
        given_up_at = time.monotonic() + METADATA_SECONDS
        by_answer = sorted(self._addresses, key=self._unanswered.__contains__)
        known = [self._addresses[broker] for broker in by_answer]
        for address in dict.fromkeys([*known, *self._bootstrap]):
            if problem is not None and time.monotonic() > given_up_at:
                break
            try:
                connection = await self._connection(address)
                response = await connection.send(TopicMetadataRequest(topics))
            except UNANSWERED as error:
                problem = error
                continue
            self._addresses = {
                broker[0]: (str(broker[1]), int(broker[2])) for broker in response.brokers
            }
            return response
        said = str(problem) or type(problem).__name__
        raise ClusterUnreachable(
            self._cluster, f"{self._setting}.bootstrap", f"no broker answers: {said}"
        )

    async def send(self, broker: int, request: Any) -> Any:
        """The broker's response. Raises one of UNANSWERED, or AuthenticationFailed."""
        address = self._addresses.get(broker)
        if address is None:
            raise KafkaConnectionError(f"broker {broker} is not known")
        if self._unanswered.get(broker, 0) > time.monotonic():
            raise KafkaConnectionError(f"broker {broker} did not answer a moment ago")
        try:
            connection = await self._connection(address)
            answer = await connection.send(request)
        except UNANSWERED as error:
            is_late = isinstance(error, TimeoutError)
            self._unanswered[broker] = time.monotonic() + (QUIET_SECONDS if is_late else 0)
            # What comes late must not be taken for the answer to a later request.
            if is_late and (late := self._connections.get(address)) is not None:
                late.close()
            raise
        self._unanswered.pop(broker, None)
        return answer

    async def send_to_any(self, request: Any) -> Any:
        """The response of a broker that answers. Raises one of UNANSWERED, AuthenticationFailed."""
        problem: Exception = KafkaConnectionError("no broker is known")
        for broker in list(self._addresses):
            try:
                return await self.send(broker, request)
            except UNANSWERED as error:
                problem = error
        raise problem

    async def close(self) -> None:
        closing = [connection.close() for connection in self._connections.values()]
        await asyncio.gather(*(closed for closed in closing if closed is not None))
        self._connections.clear()

    async def _connection(self, address: _Address) -> AIOKafkaConnection:
        async with self._opening[address]:
            return await self._open(address)

    async def _open(self, address: _Address) -> AIOKafkaConnection:
        connection = self._connections.get(address)
        if connection is None or not connection.connected():
            self._connections.pop(address, None)
            host, port = address
            # Before each connection. Files that do not fit together are being written: those
            # before stay in force until the next connection.
            version = self._connection_settings.login_version
            if version != self._login_version:
                with suppress(AuthenticationFailed):
                    self._options = self._login()
                    self._login_version = version
            try:
                connection = await create_conn(
                    host,
                    port,
                    request_timeout_ms=REQUEST_TIMEOUT_MS,
                    **self._options,
                )
            except _REFUSED as error:
                raise AuthenticationFailed(
                    self._cluster, f"{self._setting}.kafka", f"authentication failed: {error}"
                ) from None
            self._count(connection)
            self._connections[address] = connection
        return connection

    def _login(self) -> dict[str, Any]:
        options = aiokafka_options(self._setting, self._connection_settings)
        del options["bootstrap_servers"]
        return {**options, "client_id": self._connection_settings.client_id}

    def _count(self, connection: Any) -> None:
        """Counts what a connection receives from now on, as it comes in."""
        reader = connection._reader  # aiokafka has no hook
        take = reader.feed_data

        def count_and_take(data: bytes) -> None:
            self.received_bytes += len(data)
            take(data)

        reader.feed_data = count_and_take
