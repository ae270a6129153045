"""Who may ask what: tokens with the roles read and admin.

Reading is GET, HEAD and OPTIONS; everything else changes something and needs admin. Health checks
and static files are for everyone: they tell nothing.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

import structlog
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send
from warren.errors import SettingsError
from warren.settings import ApiSettings
from warren.settings.api import Role

from warren_api.http.errors import Refusal
from warren_api.http.hosts import Hosts
from warren_api.http.problem import ProblemKind
from warren_api.http.raw_path import decoded_path
from warren_api.http.tokens import hash_of

log = structlog.get_logger(__name__)

OPEN_PATHS = ("/burrow/admin", "/burrow/admin/ready")
OPEN_PREFIX = "/static/"
READING = ("GET", "HEAD", "OPTIONS")
CHALLENGE = 'Basic realm="warren", charset="UTF-8", Bearer realm="warren"'
_RANK: Mapping[Role | None, int] = {None: 0, "read": 1, "admin": 2}


class Caller(NamedTuple):
    """Who asks: the token's name, None without one."""

    name: str | None
    role: Role | None


def caller_name(request: Request) -> str:
    """Whose token changes something; empty without one."""
    return getattr(request.state, "caller", None) or ""


class Access:
    """What the settings allow."""

    def __init__(self, api: ApiSettings, *, is_loopback: bool) -> None:
        """Raises SettingsError when anybody could ask anything, or nobody something."""
        self._tokens = api.tokens
        self._anyone = Caller(None, _without_token(api, is_loopback=is_loopback))
        self._origins = api.cors_origins
        self._hosts = Hosts(api.trusted_hosts, is_loopback=is_loopback)

    def caller(self, authorization: str | None) -> Caller | None:
        """None: there is a token, but it is none of those that the settings know."""
        if authorization is None:
            return self._anyone
        given = hash_of(_token_in(authorization))
        found = None
        for token in self._tokens:
            # All are compared, so that the time tells nothing.
            if hmac.compare_digest(token.hash, given):
                found = Caller(token.name, token.role)
        return found

    def is_trusted(self, caller: Caller | None, host: str | None, origin: str | None) -> bool:
        """Whether the name that the API was asked under is one of its own. It matters where much is
        allowed without a token: a page of another site whose name was made to point here has none.
        """
        if caller is None or caller.name is not None or caller.role is None:
            return True
        return self._hosts.trusts(host, is_browser=origin is not None)

    def is_foreign(self, origin: str | None, host: str | None) -> bool:
        """Whether a page of a site asks that is neither ours nor named: `*` names none."""
        if origin is None or origin in self._origins:
            return False
        try:
            return host is None or urlsplit(origin).netloc != host
        except ValueError:  # no site's: `http://[`
            return True


def _without_token(api: ApiSettings, *, is_loopback: bool) -> Role | None:
    if api.without_token in ("read", "admin"):
        return api.without_token
    if api.tokens:
        return None
    if api.without_token == "nothing":
        raise SettingsError("api.tokens", "there are none, so nobody could ask: `warren token`")
    if is_loopback:
        return "admin"
    raise SettingsError(
        "api.tokens",
        f"listening on {api.host} without tokens would let everyone in: make one with `warren "
        'token`, or set api.without_token = "read" where the network is private',
    )


def _token_in(authorization: str) -> str:
    """The token of `Bearer` or `Basic`; empty when there is none."""
    scheme, _, value = authorization.strip().partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() != "basic":
        return ""
    try:
        text = base64.b64decode(value.strip(), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return text.partition(":")[2]


class AccessControl:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, access: Access, refusal: Refusal) -> None:
        self._app = app
        self._access = access
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_open(scope["path"]):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        needed: Role = "read" if scope["method"] in READING else "admin"
        caller = self._access.caller(headers.get("Authorization"))
        if not self._access.is_trusted(caller, headers.get("Host"), headers.get("Origin")):
            answer = self._refusal(
                scope,
                ProblemKind.UNTRUSTED_HOST,
                f"{headers['Host']} is no name of this API: see api.trusted_hosts.",
            )
        elif needed == "admin" and self._access.is_foreign(
            headers.get("Origin"), headers.get("Host")
        ):
            answer = self._refusal(
                scope, ProblemKind.FOREIGN_ORIGIN, "A page of another site asked."
            )
        elif caller is None:
            answer = self._refusal(
                scope,
                ProblemKind.TOKEN_NEEDED,
                "The token is none of those that api.tokens knows.",
                {"WWW-Authenticate": CHALLENGE},
            )
        elif _RANK[caller.role] >= _RANK[needed]:
            if needed == "admin":
                log.info(
                    "changing something",
                    token=caller.name,
                    method=scope["method"],
                    path=decoded_path(scope),
                )
                scope.setdefault("state", {})["caller"] = caller.name
            await self._app(scope, receive, send)
            return
        elif caller.name is None:
            answer = self._refusal(
                scope,
                ProblemKind.TOKEN_NEEDED,
                f"{scope['method']} needs a token with role {needed}, as bearer or as the "
                "password of basic.",
                {"WWW-Authenticate": CHALLENGE},
            )
        else:
            answer = self._refusal(
                scope,
                ProblemKind.ADMIN_NEEDED,
                f"{scope['method']} needs a token with role admin; {caller.name} may only read.",
            )
        await answer(scope, receive, send)


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(OPEN_PREFIX)
