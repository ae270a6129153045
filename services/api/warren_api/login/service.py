"""Logging in and out by Authlib: authorization code flow with PKCE, state and nonce.

Who has logged in, and a login that has begun, are in a signed cookie (SessionMiddleware of
starlette) and nowhere else: any copy of the API knows, and nobody can be given a session that was
not made for them. The provider is asked when somebody logs in and never before: it may be away.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2
import structlog
from authlib.integrations.base_client import OAuthError
from authlib.integrations.starlette_client import StarletteIntegration, StarletteOAuth2App
from joserfc.errors import JoseError
from starlette.requests import Request
from starlette.responses import Response
from warren.clock import Clock
from warren.errors import SettingsError
from warren.settings import OidcSettings
from warren.settings.api import ANYBODY, Role
from warren.words import shortened, visible

from warren_api.http.access import Person


class LoginFailed(Exception):
    """The text is for whoever wanted to log in; `detail` for the log."""

    def __init__(self, text: str, detail: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.detail = detail


class ProviderAway(LoginFailed):
    """The identity provider does not answer, or nothing that can be used."""

    def __init__(self, detail: str) -> None:
        super().__init__("The identity provider does not answer as it should.", detail)


Claims = Mapping[str, Any]
NAMES = ("preferred_username", "email", "name", "sub")
LONGEST_NAME = 100  # characters, as records have it
LONGEST_SUBJECT = 255  # OpenID Connect Core, section 2


def claim_at(claims: Claims, path: str) -> object:
    """The claim of that name, or one in another: `realm_access.roles`. Names may have dots."""
    if path in claims:
        return claims[path]
    at = path.find(".")
    while at >= 0:
        inner = claims.get(path[:at])
        if isinstance(inner, Mapping) and (found := claim_at(inner, path[at + 1 :])) is not None:
            return found
        at = path.find(".", at + 1)
    return None


def role_values(claims: Claims, path: str) -> frozenset[str]:
    """Texts of the claim: one, or those of a list. An address counts only where it is verified:
    at some providers people may write any into their profile.
    """
    if path == "email" and claims.get("email_verified") is not True:
        return frozenset()
    value = claim_at(claims, path)
    found = value if isinstance(value, list) else [value]
    return frozenset(text for text in found if isinstance(text, str))


def role_of(claims: Claims, settings: OidcSettings) -> Role | None:
    """What somebody may; None for nothing."""
    values = role_values(claims, settings.roles_claim)
    if not values.isdisjoint(settings.admins):
        return "admin"
    if ANYBODY in settings.viewers or not values.isdisjoint(settings.viewers):
        return "read"
    return None


def name_of(claims: Claims) -> str:
    """As it may be shown and written down."""
    for name in NAMES:
        said = claim_at(claims, name)
        if isinstance(said, str) and said.strip():
            return cleaned(said, LONGEST_NAME)
    return "?"


def cleaned(text: str, longest: int) -> str:
    return shortened(visible(text[: longest + 1].strip()), longest)


log = structlog.get_logger(__name__)

CALLBACK = "/login/callback"
LOGGED_OUT = "/logged-out"
DISCOVERY = "/.well-known/openid-configuration"
DEADLINE = 5.0  # seconds for one answer of the provider
LARGEST = 512 * 1024  # bytes of one
LEEWAY = 60  # seconds that clocks may differ
HOME = "/"
LONGEST_PATH = 1500  # characters; the cookie has to hold it
_OWN = ("/login", "/logout", "/logged-out")
# Of public keys only: `none` is no signature, and who knows a public key could make an HS256.
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)


def next_path(wanted: str) -> str:
    """The path that is wanted, or the first page where it could lead elsewhere.

    Browsers take `//host` and `/\\host` for another site, and take tabs and newlines out first.
    """
    if not wanted.startswith("/") or wanted.startswith("//") or len(wanted) > LONGEST_PATH:
        return HOME
    if "\\" in wanted or not wanted.isascii() or not wanted.isprintable() or " " in wanted:
        return HOME
    return HOME if urlsplit(wanted).path.startswith(_OWN) else wanted


class NoRole(Exception):
    """Somebody whom the provider knows and who may nothing here."""

    def __init__(self, name: str, subject: str) -> None:
        super().__init__(name)
        self.name = name
        self.subject = subject


class _Bounded(httpx2.AsyncHTTPTransport):
    """Answers whole, in time, and not too large. Shared by all clients: none of them closes it."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = bytearray()
        async with asyncio.timeout(DEADLINE):
            answer = await super().handle_async_request(request)
            try:
                async for piece in answer.aiter_raw():
                    body += piece
                    if len(body) > LARGEST:
                        raise httpx2.ReadError(f"more than {LARGEST} bytes")
            finally:
                await answer.aclose()
        return httpx2.Response(answer.status_code, headers=answer.headers, content=bytes(body))

    async def __aenter__(self) -> _Bounded:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


@contextmanager
def _failures() -> Iterator[None]:
    """As what people and the log are told."""
    try:
        yield
    except OAuthError as error:
        said = cleaned(str(error.description or error.error), 300)
        raise LoginFailed(f"The identity provider did not take the login: {said}", said) from None
    except (JoseError, TypeError) as error:
        detail = f"{type(error).__name__}: {error}"
        text = "What the identity provider says cannot be believed."
        raise LoginFailed(text, detail) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, OSError) as error:
        raise ProviderAway(str(error) or type(error).__name__) from None
    except (ValueError, KeyError, RuntimeError) as error:
        raise ProviderAway(f"no usable answer: {type(error).__name__}: {error}") from None


class Login:
    """One for the process. Redirects are not followed: secrets would go with them."""

    def __init__(self, settings: OidcSettings, clock: Clock) -> None:
        """Raises SettingsError for authorities that cannot be used."""
        self.settings = settings
        self.public_url = settings.public_url
        self._clock = clock
        secret, method = settings.client_secret.get_secret_value(), settings.client_auth
        if method == "basic":  # RFC 6749, section 2.3.1: as in a form
            secret = quote(secret, safe="")
        seldom = httpx2.Limits(max_keepalive_connections=0)
        self._app = StarletteOAuth2App(
            StarletteIntegration("warren"),
            name="warren",
            client_id=settings.client_id,
            client_secret=secret,
            server_metadata_url=settings.issuer.rstrip("/") + DISCOVERY,
            client_kwargs={
                "scope": " ".join(settings.scopes),
                "code_challenge_method": "S256",
                "token_endpoint_auth_method": f"client_secret_{method}" if secret else "none",
                "transport": _Bounded(verify=_authorities(settings.tls_ca), limits=seldom),
                "timeout": DEADLINE,
            },
        )

    def session_options(self) -> dict[str, Any]:
        """Of SessionMiddleware. Other settings of who may what end all sessions; over https the
        name says that no other host has set it.
        """
        s = self.settings
        binding = [s.issuer, s.client_id, s.public_url, s.roles_claim, s.viewers, s.admins]
        secret = s.session_secret.get_secret_value() or secrets.token_urlsafe(32)
        return {
            "secret_key": sha256(f"{secret} {json.dumps(binding)}".encode()).hexdigest(),
            "session_cookie": "__Host-warren_session" if s.is_https else "warren_session",
            "max_age": int(s.session),
            "https_only": s.is_https,
        }

    def person(self, session: Mapping[str, Any]) -> Person | None:
        """Whose session it is, unless it is over."""
        known = session.get("person")
        if known is None or known[-1] <= self._clock.now_ms() // 1000:
            return None
        return Person(*known)

    async def metadata(self) -> dict[str, Any]:
        """What the provider says of itself. Raises ProviderAway."""
        with _failures():
            found: dict[str, Any] = await self._app.load_server_metadata()
        if found.get("issuer") != self.settings.issuer:
            # A provider of several tenants would else speak for all of them.
            self._app.server_metadata = {}
            raise ProviderAway(
                f"it calls itself {str(found.get('issuer'))[:300]!r}: api.oidc.issuer has to be "
                "exactly that"
            )
        supported = found.get("id_token_signing_alg_values_supported") or ["RS256"]
        found["id_token_signing_alg_values_supported"] = [a for a in supported if a in ALGORITHMS]
        return found

    async def begin(self, request: Request, wanted: str, *, anew: bool) -> Response:
        """To the provider. `anew`: it is to ask who it is, whoever is logged in there. Raises
        ProviderAway.
        """
        await self.metadata()
        extra = {"prompt": "login"} if anew else {}
        with _failures():
            answer: Response = await self._app.authorize_redirect(
                request, self.public_url + CALLBACK, **extra
            )
        request.session["next"] = next_path(wanted)
        answer.status_code = HTTPStatus.SEE_OTHER
        return answer

    async def finish(self, request: Request) -> tuple[Person, str]:
        """Who it is, and where to go. Raises LoginFailed, ProviderAway, NoRole."""
        if request.query_params.get("iss", self.settings.issuer) != self.settings.issuer:
            raise LoginFailed("Another identity provider answered.", "iss is another")
        issuer, client_id = self.settings.issuer, self.settings.client_id
        options = {
            "iss": {"essential": True, "value": issuer},
            "aud": {"essential": True, "value": client_id},
            "exp": {"essential": True},
            "nonce": {"essential": True},
        }
        await self.metadata()
        with _failures():
            token = await self._app.authorize_access_token(
                request, claims_options=options, leeway=LEEWAY
            )
        claims = token.get("userinfo")
        if not claims or not isinstance(claims.get("sub"), str) or not claims["sub"]:
            raise LoginFailed("The identity provider did not say who it is.", "no id_token or sub")
        claims = await self._with_userinfo(dict(claims), token)
        role, name = role_of(claims, self.settings), name_of(claims)
        subject, wanted = cleaned(claims["sub"], LONGEST_SUBJECT), request.session.get("next", HOME)
        request.session.clear()
        if role is None:
            raise NoRole(name, subject)
        ends = self._clock.now_ms() // 1000 + int(self.settings.session)
        person = Person(name, role, subject, ends)
        request.session["person"] = list(person)
        return person, wanted

    async def logout_url(self) -> str | None:
        """Where the provider ends its session too, if it does that and answers."""
        try:
            if not (await self.metadata()).get("end_session_endpoint"):
                return None
            with _failures():
                made = await self._app.create_logout_url(
                    self.public_url + LOGGED_OUT, client_id=self.settings.client_id
                )
        except LoginFailed:
            return None
        return str(made["url"])

    async def _with_userinfo(
        self, claims: dict[str, Any], token: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Asked where the ID token does not say the role; what that says wins."""
        if claim_at(claims, self.settings.roles_claim) is not None:
            return claims
        try:
            with _failures():
                more = await self._app.userinfo(token=token)
        except LoginFailed as away:
            log.warning("no userinfo", problem=away.detail)
            return claims
        # Of somebody else it says nothing.
        return {**more, **claims} if more.get("sub") == claims["sub"] else claims


def _authorities(file: str) -> ssl.SSLContext | bool:
    if not file:
        return True
    try:
        return ssl.create_default_context(cafile=file)
    except OSError as error:
        problem = error.strerror or str(error)
        raise SettingsError("api.oidc.tls_ca", f"{file} cannot be used: {problem}") from None
