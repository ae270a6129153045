"""The home cluster's connection in Faust's words."""

from collections.abc import Iterator
from typing import Any

import faust
import structlog
from faust.auth import Credentials
from warren.errors import AuthenticationFailed, SettingsError
from warren.logins import MECHANISMS
from warren.settings import KafkaConnection
from warren_wire.brokers import aiokafka_options, log_in_anew


def broker_urls(connection: KafkaConnection) -> list[str]:
    """Bootstrap servers as Faust's URLs."""
    servers = (server.strip() for server in connection.bootstrap.split(","))
    return [f"kafka://{server}" for server in servers if server]


def credentials(setting: str, connection: KafkaConnection) -> Credentials | None:
    """None for plain text. `setting` is the cluster's table. Raises SettingsError."""
    options = aiokafka_options(setting, connection)
    protocol = options["security_protocol"]
    if protocol == "PLAINTEXT":
        return None
    if protocol == "SSL":
        return faust.SSLCredentials(options["ssl_context"])
    if protocol not in ("SASL_PLAINTEXT", "SASL_SSL"):
        raise SettingsError(f"{setting}.kafka.security.protocol", f"{protocol} is not known")
    found: Credentials = MECHANISMS[options["sasl_mechanism"]].faust(options)
    return found


# Renewed credentials are taken up while the worker runs: its clients log in with them.


log = structlog.get_logger(__name__)


class CredentialsWatch:
    """Looks at the files with the home cluster's credentials each time it is told to."""

    def __init__(self, setting: str, connection: KafkaConnection, app: faust.App) -> None:
        """`setting` is the cluster's table, `app` runs with what the files have said just now."""
        self._setting = setting
        self._connection = connection
        self._app = app
        self._version = connection.login_version

    def look(self) -> None:
        """Take up what was renewed. Files that do not fit together yet are looked at again."""
        version = self._connection.login_version
        if version == self._version:
            return
        try:
            renewed = credentials(self._setting, self._connection)
            options = aiokafka_options(self._setting, self._connection)
        except AuthenticationFailed as error:
            log.warning("renewed credentials cannot be used yet", problem=str(error))
            return
        self._version = version
        self._app.conf.broker_credentials = renewed
        for client in _clients(self._app):
            log_in_anew(client, options)
        log.info("credentials renewed", setting=f"{self._setting}.kafka")


def _clients(app: faust.App) -> Iterator[Any]:
    """aiokafka's clients, which Faust does not hand out: of the consumer, and of the producer."""
    consumer: Any = getattr(getattr(app.consumer, "_thread", None), "_consumer", None)
    producer: Any = getattr(app.producer, "_producer", None)
    yield from (client for client in (consumer, producer) if client is not None)
