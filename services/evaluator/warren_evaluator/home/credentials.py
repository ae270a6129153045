"""The home cluster's connection in Faust's words."""

from __future__ import annotations

from typing import Any

import faust
from faust.auth import Credentials
from warren.errors import SettingsError
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
    context = options.get("ssl_context")
    if protocol == "PLAINTEXT":
        return None
    if protocol == "SSL":
        return faust.SSLCredentials(context)
    if protocol not in ("SASL_PLAINTEXT", "SASL_SSL"):
        raise SettingsError(f"{setting}.kafka.security.protocol", f"{protocol} is not known")
    return _sasl(options, context)


def _sasl(options: dict[str, Any], context: Any) -> Credentials:
    mechanism = options["sasl_mechanism"]
    if mechanism == "OAUTHBEARER":
        return faust.OAuthCredentials(
            oauth_cb=options["sasl_oauth_token_provider"], ssl_context=context
        )
    return faust.SASLCredentials(
        username=options["sasl_plain_username"],
        password=options["sasl_plain_password"],
        ssl_context=context,
        mechanism=mechanism,
    )
