"""The application and an identity provider, both listening, and a client with cookies."""

from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from time import time
from typing import Any

import httpx
from api.served_api import NOW, Api, served
from support.identity_provider import CLIENT_ID, CLIENT_SECRET, IdentityProvider
from warren.api_tokens import hash_of, new_token
from warren.settings import ApiSettings
from warren_local.server import free_port

SECRET = "a secret that both copies of the API know"
ADMIN_TOKEN = new_token()
TOKENS = [{"name": "ops", "role": "admin", "hash": hash_of(ADMIN_TOKEN)}]
PAGE = {"Accept": "text/html"}


class Lab:
    """One API that people log in to. `oidc`: other settings of the login."""

    def __init__(self, provider: IdentityProvider | None = None, **oidc: Any) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.provider = provider or IdentityProvider(self.url, now=lambda: int(time()))
        self.provider.claims.setdefault("groups", ["oncall"])
        settings = {
            "issuer": self.provider.issuer,
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            "public_url": self.url,
            "viewers": ["staff"],
            "admins": ["oncall"],
            "session_secret": SECRET,
            **oidc,
        }
        self.api = Api(api=ApiSettings.model_validate({"oidc": settings, "tokens": TOKENS}))
        self.api.put("billing", status="ERR", incident={"id": "i-1", "opened_at": NOW - 1_000})
        self.api.change("billing", "ERR", NOW - 1_000, incident_id="i-1")

    @contextmanager
    def serving(self) -> Iterator[httpx.Client]:
        with self.provider.serving(), self.serving_alone() as client:
            yield client

    @contextmanager
    def serving_alone(self) -> Iterator[httpx.Client]:
        """The provider is away."""
        with served(self.api, self.port), self.client() as client:
            yield client

    def client(self) -> httpx.Client:
        """A browser without anything yet."""
        return httpx.Client(base_url=self.url, headers=PAGE, timeout=30, verify=False)


def log_in(client: httpx.Client, path: str = "/") -> httpx.Response:
    """The page that was asked for, or what is said instead."""
    return client.get(path, follow_redirects=True)


def begun(client: httpx.Client) -> str:
    """A login is begun: where the provider sends the browser back to."""
    at_provider = client.get("/login").headers["Location"]
    return httpx.get(at_provider, verify=False).headers["Location"]


def session_of(client: httpx.Client) -> str | None:
    """The cookie, where it says who has logged in."""
    cookie = client.cookies.get("warren_session")
    is_somebody = cookie and b'"person"' in b64decode(cookie.strip('"').partition(".")[0])
    return cookie if is_somebody else None
