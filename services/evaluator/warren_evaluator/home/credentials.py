"""The home cluster's connection in Faust's words."""

from __future__ import annotations

import faust
from faust.auth import Credentials
from warren.errors import SettingsError
from warren.logins import MECHANISMS
from warren.settings import KafkaConnection
from warren_wire.login import aiokafka_options


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
