"""Somebody else's identity provider as a process: oidc-provider-mock, on Authlib's server."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from support.waiting import eventually
from warren_local.server import free_port


class Registered(NamedTuple):
    """A provider that knows a client."""

    issuer: str
    client_id: str
    client_secret: str


@contextmanager
def mock_provider(log: Path, public_url: str, *people: dict[str, Any]) -> Iterator[Registered]:
    """It asks who one is, of `people`: their claims."""
    port = free_port()
    issuer = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    command += ["--require-registration", "true", "--require-nonce", "true"]
    for claims in people:
        command += ["--user-claims", json.dumps(claims)]
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, stdout=output, stderr=output, env={**os.environ, "NO_COLOR": "1"}
        ) as process,
    ):
        try:
            eventually(lambda: _answers(issuer), message="the identity provider answers")
            registered = httpx.post(
                f"{issuer}/oauth2/clients", json={"redirect_uris": [f"{public_url}/login/callback"]}
            ).json()
            yield Registered(issuer, registered["client_id"], registered["client_secret"])
        finally:
            process.kill()


def _answers(issuer: str) -> bool:
    try:
        return httpx.get(f"{issuer}/.well-known/openid-configuration").is_success
    except httpx.TransportError:
        return False
