"""Who may ask what: tokens with the roles read and admin, people who have logged in, and the names
that the API may be asked under without a token.

Reading is GET, HEAD and OPTIONS; everything else changes something and needs admin. Health checks
and static files are for everyone: they tell nothing.

A site may make a name of its own point to an address in here (DNS rebinding); browsers then let its
pages ask, and show them the answers. They cannot help sending that name as Host.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Mapping
from contextvars import ContextVar
from ipaddress import ip_address
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Scope
from warren.api_tokens import hash_of
from warren.errors import SettingsError
from warren.settings import ApiSettings
from warren.settings.api import Role

ANY = "*"
BROWSERS_OWN = "sec-"  # no script can set or remove such a header (Fetch, forbidden names)


OPEN_PATHS = ("/burrow/admin", "/burrow/admin/ready")
OPEN_PREFIX = "/static/"
READING = ("GET", "HEAD", "OPTIONS")


class Sessions(Protocol):
    """Of people who have logged in."""

    def person(self, session: Mapping[str, Any]) -> Person | None:
        """Whose session it is, unless it is over."""


class Access:
    """What the settings allow."""

    def __init__(
        self, api: ApiSettings, *, is_loopback: bool, sessions: Sessions | None = None
    ) -> None:
        """`sessions`: None where nobody logs in. Raises SettingsError when anybody could ask
        anything, or nobody something.
        """
        self._tokens = api.tokens
        self._sessions = sessions
        self._own_origin = api.oidc.public_url if api.oidc else None
        self._anyone = Caller(None, _without_token(api, is_loopback=is_loopback))
        self._origins = api.cors_origins
        self._trusted = {name.lower() for name in api.trusted_hosts}  # without a port
        self._is_loopback = is_loopback
        self.has_login = sessions is not None

    @property
    def reads_under_any_name(self) -> bool:
        """Whether a page of another site may read, by a name of its own that points here, though
        no setting says so.
        """
        return self._anyone.role is not None and not self._trusted and not self._is_loopback

    def person(self, scope: Scope, headers: Headers) -> Person | None:
        """Who has logged in. A token that comes along counts instead."""
        if self._sessions is None or "Authorization" in headers:
            return None
        return self._sessions.person(scope["session"])

    def caller(self, authorization: str | None) -> Caller | None:
        """None: there is a token, but it is none of those that the settings know."""
        if authorization is None:
            return self._anyone
        given = hash_of(token_in(authorization))
        found = None
        for token in self._tokens:
            # All are compared, so that the time tells nothing.
            if hmac.compare_digest(token.hash, given):
                found = Caller(token.name, token.role)
        return found

    def is_trusted(self, caller: Caller | None, headers: Headers) -> bool:
        """Whether the name that the API was asked under is one of its own. It matters where much is
        allowed without a token: a page of another site whose name was made to point here has none.
        """
        host = headers.get("Host")  # no browser leaves it out
        if caller is None or caller.name is not None or caller.role is None:
            return True
        if host is None or ANY in self._trusted:
            return True
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        except ValueError:
            return False
        if name == "localhost" or name in self._trusted:
            return True
        try:
            address = ip_address(name)
        except ValueError:
            # Beyond loopback nobody knows all names of a machine: unless some are given, only
            # requests that say that a browser sent them need one. Browsers leave Origin out of most
            # GETs, and send Sec-Fetch-Site and its like over HTTPS and to this machine only: over
            # plain HTTP reading says nothing, and only names that are given help.
            is_browser = "Origin" in headers or any(n.startswith(BROWSERS_OWN) for n in headers)
            return not self._is_loopback and not self._trusted and not is_browser
        return address.is_loopback or not self._is_loopback  # nobody can make an address point here

    def is_foreign(self, origin: str | None, host: str | None) -> bool:
        """Whether a page of a site asks that is neither ours nor named: `*` names none."""
        return origin is not None and origin not in self._origins and not self._is_own(origin, host)

    def is_own_page(self, headers: Headers) -> bool:
        """Whether one of our own pages asks. It has to say so where a browser adds by itself who
        asks, as it does with a session's cookie: a site that may ask with a token may not with it.
        """
        origin = headers.get("Origin")
        if origin is None:
            return headers.get("Sec-Fetch-Site") == "same-origin"
        return self._is_own(origin, headers.get("Host"))

    def _is_own(self, origin: str, host: str | None) -> bool:
        if origin == self._own_origin:  # a proxy in front may ask us under another name
            return True
        try:
            return host is not None and urlsplit(origin).netloc == host
        except ValueError:  # no site's: `http://[`
            return False


def _without_token(api: ApiSettings, *, is_loopback: bool) -> Role | None:
    if api.without_token in ("read", "admin"):
        return api.without_token
    if api.tokens or api.oidc:
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


def token_in(authorization: str) -> str:
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


class Caller(NamedTuple):
    """Who asks: the token's name, None without one."""

    name: str | None
    role: Role | None


class Person(NamedTuple):
    """Somebody who has logged in; `subject` is what the provider knows them by, `ends` is when
    they have to log in again, Unix seconds.
    """

    name: str
    role: Role
    subject: str
    ends: int


class Asker(NamedTuple):
    """Who changes something: the name of a person or a token, empty without both."""

    name: str = ""
    is_person: bool = False

    def signs(self, said: str) -> str:
        """Under which name it stands. A machine may say for whom it asks, a person is who they
        are.
        """
        return self.name if self.is_person else said or self.name


ANYBODY = Asker()


class Reader(NamedTuple):
    """Whoever gets a page; `login` is where they can log in and come back from, if at all."""

    person: Person | None = None
    login: str = ""

    @property
    def may_change(self) -> bool:
        """As far as a login decides it."""
        return self.person.role == "admin" if self.person else not self.login


NOBODY = Reader()
_reader: ContextVar[Reader] = ContextVar("reader")
# For what every page says of whoever reads it; routes are told what they need.
reads = _reader.set


def who_reads() -> Reader:
    return _reader.get(NOBODY)


def asker(request: Request) -> Asker:
    """Who changes something with this request."""
    found: Asker = getattr(request.state, "asker", ANYBODY)
    return found
