"""The form of bootstrap servers: host:port[,host:port].

Each client reads more than that, and each something else: what one takes ends the other.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address

from warren.errors import SettingsError

_SERVER = re.compile(r"(?:\[(?P<ipv6>[^\[\]]+)\]|[^\s/:@\[\]]+):(?P<port>[0-9]{1,5})")


def bootstrap_servers(written: str) -> str:
    """The servers as all clients read them: without blanks and empty parts.

    Raises ValueError, which says how to write it.
    """
    servers = [server for part in written.split(",") if (server := part.strip())]
    if not servers:
        raise ValueError("names no server: write host:port[,host:port]")
    for server in servers:
        _check(server)
    return ",".join(servers)


def named_servers(setting: str, written: str) -> str:
    """The same. Raises SettingsError with that setting."""
    try:
        return bootstrap_servers(written)
    except ValueError as error:
        raise SettingsError(setting, str(error)) from None


def _check(server: str) -> None:
    if "://" in server:
        raise ValueError(
            f"{server!r} begins with a scheme: write host:port, and the protocol as the property "
            "security.protocol of the table kafka"
        )
    found = _SERVER.fullmatch(server)
    if found is None or not 1 <= int(found["port"]) <= 65535 or not _is_ipv6(found["ipv6"]):
        raise ValueError(
            f"{server!r} is not host:port: write for example kafka-1:9092, or [::1]:9092 for an "
            "IPv6 address; ports are 1 to 65535"
        )


def _is_ipv6(address: str | None) -> bool:
    """None, for no brackets, is none that is wrong."""
    try:
        return address is None or bool(IPv6Address(address))
    except ValueError:
        return False
