"""Where the tests' servers come from: given, in containers, or embedded."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from enum import StrEnum
from urllib.parse import urlsplit


class Provider(StrEnum):
    GIVEN = "given"
    CONTAINER = "container"
    EMBEDDED = "embedded"


def choose_provider(
    variable: str, environ: Mapping[str, str], docker_is_reachable: Callable[[], bool]
) -> Provider:
    """A server named by the variable wins; Docker is asked only when there is none."""
    if environ.get(variable):
        return Provider.GIVEN
    return Provider.CONTAINER if docker_is_reachable() else Provider.EMBEDDED


def docker_is_reachable() -> bool:
    """Whether containers may be used: something listens where Docker's clients look (DOCKER_HOST,
    else the usual socket), and WARREN_TEST_CONTAINERS=0 does not refuse them.
    """
    if os.environ.get("WARREN_TEST_CONTAINERS") == "0":
        return False
    host = os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    address = urlsplit(host)
    try:
        if address.scheme == "unix":
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as daemon:
                daemon.connect(address.path)
        else:
            socket.create_connection((address.hostname, address.port or 2375), timeout=5).close()
    except OSError:
        return False
    return True
