"""Lets through who may ask, refuses the others, and writes down who has changed something.

Tokens that nobody knows are counted, and told without them, so that guessing is seen.
"""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import quote

import structlog
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from warren.clock import Clock
from warren.metrics import api as metrics
from warren.settings.api import Role
from warren.words import shortened

from warren_api.http.access import (
    OPEN_PATHS,
    OPEN_PREFIX,
    READING,
    Access,
    Asker,
    Caller,
    Person,
    Reader,
    reads,
    token_in,
)
from warren_api.http.errors import Refusal
from warren_api.http.names import decoded_path, encoded_path
from warren_api.http.problem import ProblemKind

log = structlog.get_logger(__name__)

LONGEST_PATH = 200  # characters


LOGIN = "/login"
LOGIN_PATHS = (LOGIN, "/login/callback", "/logged-out", "/logout")
FRAGMENTS = "/fragments/"
CHALLENGE = 'Basic realm="warren", charset="UTF-8", Bearer realm="warren"'
# At Basic a browser would ask for a password on top of the page, where a script asked.
SCRIPTS_CHALLENGE = 'Bearer realm="warren"'
HIDDEN = "***"  # for a token, in the log
_RANK: Mapping[Role | None, int] = {None: 0, "read": 1, "admin": 2}


class AccessControl:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, access: Access, refusal: Refusal, clock: Clock) -> None:
        self._app = app
        self._access = access
        self._refusal = refusal
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in OPEN_PATHS or scope["path"].startswith(OPEN_PREFIX):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        person = self._access.person(scope, headers)
        reads(Reader(person, _login(scope) if self._access.has_login else ""))
        caller = None if person else self._access.caller(headers.get("Authorization"))
        needed: Role | None = "read" if scope["method"] in READING else "admin"
        if foreign := self._foreign(scope, headers, person, caller):
            await foreign(scope, receive, send)
            return
        if self._access.has_login and scope["path"] in LOGIN_PATHS:
            needed = None
        who = person or caller
        if who is None or _RANK[who.role] < _RANK[needed]:
            answer = self._refused(scope, headers, needed or "read", who)
            await answer(scope, receive, send)
            return
        if needed == "admin":
            await self._change(scope, receive, send, who)
        elif person is not None:
            await self._until(person.ends, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _foreign(
        self, scope: Scope, headers: Headers, person: Person | None, caller: Caller | None
    ) -> Response | None:
        """A page of another site stands behind it."""
        host, origin = headers.get("Host"), headers.get("Origin")
        if person is None and not self._access.is_trusted(caller, headers):
            return self._refusal(
                scope,
                ProblemKind.UNTRUSTED_HOST,
                f"{host} is no name of this API: see api.trusted_hosts.",
            )
        if scope["method"] in READING:
            return None
        # A browser that sends no Origin may say so.
        is_of_other_site = headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
        if self._access.is_foreign(origin, host) or (origin is None and is_of_other_site):
            return self._refusal(scope, ProblemKind.FOREIGN_ORIGIN, "A page of another site asked.")
        if person is not None and not self._access.is_own_page(headers):
            detail = "Who has logged in changes something on Warren's own pages only."
            return self._refusal(scope, ProblemKind.FOREIGN_ORIGIN, detail)
        return None

    def _refused(
        self, scope: Scope, headers: Headers, needed: Role, who: Caller | Person | None
    ) -> Response:
        method = scope["method"]
        if who is None:
            path = decoded_path(scope)
            if given := token_in(
                headers.get("Authorization", "")
            ):  # a client may put it there, too
                path = path.replace(given, HIDDEN)
            metrics.API_TOKENS_REFUSED.inc()
            said = _request_of(scope) | {"path": shortened(path, LONGEST_PATH)}
            log.warning("token refused", **said)
            return self._refusal(
                scope,
                ProblemKind.TOKEN_NEEDED,
                "The token is none of those that api.tokens knows.",
                {"WWW-Authenticate": CHALLENGE},
            )
        if who.name is not None:
            log.warning("refused to change something", **_named(who), **_request_of(scope))
            is_person = isinstance(who, Person)
            what = "Changing something needs the" if is_person else f"{method} needs a token with"
            detail = f"{what} role admin; {who.name} may only read."
            return self._refusal(scope, ProblemKind.ADMIN_NEEDED, detail)
        if self._access.has_login:
            is_page = "text/html" in headers.get("Accept", "")
            is_fragment = scope["path"].startswith(FRAGMENTS)
            if is_page and not is_fragment and method in READING:
                return RedirectResponse(_login(scope), HTTPStatus.SEE_OTHER)
            if is_page or is_fragment:
                return self._refusal(
                    scope,
                    ProblemKind.LOGIN_NEEDED,
                    "Nobody is logged in, or no longer.",
                    {"WWW-Authenticate": SCRIPTS_CHALLENGE},
                )
        return self._refusal(
            scope,
            ProblemKind.TOKEN_NEEDED,
            f"{method} needs a token with role {needed}, as bearer or as the password of basic.",
            {"WWW-Authenticate": CHALLENGE},
        )

    async def _change(
        self, scope: Scope, receive: Receive, send: Send, who: Caller | Person
    ) -> None:
        """What changes anything is one line in the log."""
        asker = Asker(who.name or "", is_person=isinstance(who, Person))
        scope.setdefault("state", {})["asker"] = asker
        is_written = False

        def write(status: int | None) -> None:
            nonlocal is_written
            is_written = True
            log.info("changing something", **_named(who), **_request_of(scope), status=status)

        async def send_noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                write(int(message["status"]))
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        finally:
            if not is_written:  # it has failed, and may have changed something all the same
                write(None)

    async def _until(self, ends: int, scope: Scope, receive: Receive, send: Send) -> None:
        """A stream ends with the session of who follows it."""
        has_begun = False

        async def send_noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            async with asyncio.timeout(ends - self._clock.now_ms() / 1000) as limit:
                await self._app(scope, receive, send_noted)
        except TimeoutError:
            if not limit.expired() or not has_begun:
                raise
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _login(scope: Scope) -> str:
    """Where a browser logs in, and from there back to what it asked for."""
    query = scope["query_string"].decode("latin-1")
    wanted = encoded_path(scope) + (f"?{query}" if query else "")
    return f"{LOGIN}?next={quote(wanted, safe='/')}"


def _named(who: Caller | Person) -> dict[str, str | None]:
    """Of a line of the log."""
    if isinstance(who, Person):
        return {"token": None, "person": who.name, "subject": who.subject, "role": who.role}
    return {"token": who.name, "role": who.role}


def _request_of(scope: Scope) -> dict[str, str | None]:
    client = scope.get("client")
    return {
        "method": scope["method"],
        "path": decoded_path(scope),
        "client": client[0] if client else None,
    }
