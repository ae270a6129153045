"""Logging in and out: authorization code flow with PKCE, state and nonce; and secrets that change
while the API runs, in files that settings name mostly.
"""

from __future__ import annotations

import secrets as random
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

import structlog
from anyio import CapacityLimiter
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from warren.clock import Clock
from warren.errors import SettingsError
from warren.settings import OidcSettings, Settings
from warren.settings.oidc import secret_lines

from warren_api.http.callers import Person
from warren_api.login.claims import (
    LONGEST_SUBJECT,
    Expected,
    LoginFailed,
    ProviderAway,
    UnknownKey,
    claim_at,
    cleaned,
    name_of,
    role_of,
    verified_claims,
)
from warren_api.login.cookies import LONGEST_COOKIE, Attempt, Attempts, Jar, Sessions, next_path
from warren_api.login.provider import Provider

log = structlog.get_logger(__name__)

LOOK_SECONDS = 10.0  # between two looks


class SecretsWatch:
    """Looks at the settings each time it is told to. What was found is taken up once it has stayed
    the same from one look to the next: a file may be half written.
    """

    def __init__(self, settings: OidcSettings, load: Callable[[], Settings]) -> None:
        self._in_force = self._seen = _secrets(settings)
        self._load = load
        self._refused = ""

    def look(self) -> OidcSettings | None:
        """Settings whose secrets are to be taken up; None when there is nothing to do. Blocks."""
        try:
            found = self._load().api.oidc
        except SettingsError as error:
            if str(error) != self._refused:
                log.error("settings refused, those before stay in force", problem=str(error))
            self._refused = str(error)
            return None
        self._refused = ""
        if found is None:
            return None
        seen, self._seen = self._seen, _secrets(found)
        if self._seen != seen or seen == self._in_force:
            return None
        self._in_force = seen
        log.info("new secrets taken up", setting="api.oidc")
        return found


def _secrets(settings: OidcSettings) -> tuple[str, str]:
    return (
        settings.client_secret.get_secret_value(),
        settings.session_secret.get_secret_value(),
    )


CALLBACK = "/login/callback"
LOGGED_OUT = "/logged-out"
AT_A_TIME = 8  # logins that the provider is asked about
LONGEST_LINE = 32  # logins that wait meanwhile; who comes then is asked to come again
HINT = "warren_hint"
LONGEST_CODE = 4096


class Redirect(NamedTuple):
    """Where to, and cookies to be set."""

    url: str
    cookies: list[str]


class Refused(NamedTuple):
    """Somebody whom the provider knows and who may nothing here."""

    name: str
    subject: str
    cookies: list[str]


class Login:
    """One for the process; used by one event loop only."""

    def __init__(self, settings: OidcSettings, clock: Clock) -> None:
        """Raises SettingsError for files that cannot be used."""
        self.settings = settings
        self.public_url = settings.public_url
        self._clock = clock
        self._jar = Jar(is_https=settings.is_https)
        self._drawn = random.token_urlsafe(32)
        secrets = self._session_secrets(settings)
        if secrets == [self._drawn]:
            log.warning(
                "sessions end with this process, and no other copy of the API knows them: set "
                "api.oidc.session_secret"
            )
        self._provider = Provider(settings, clock)
        self._attempts = Attempts(
            secrets, f"{settings.issuer} {settings.client_id}", self._jar, clock
        )
        self._exchanging = CapacityLimiter(AT_A_TIME)
        self.sessions = Sessions(settings, secrets, self._jar, clock)

    def renew(self, found: OidcSettings) -> None:
        """Takes up secrets that have changed, and nothing else."""
        secrets = {name: getattr(found, name) for name in ("client_secret", "session_secret")}
        self.settings = self.settings.model_copy(update=secrets)
        self.sessions.renew(self._session_secrets(found))
        self._attempts.renew(self._session_secrets(found))

    async def close(self) -> None:
        await self._provider.close()

    async def begin(self, wanted: str, cookies: Mapping[str, str], *, anew: bool) -> Redirect:
        """To the provider. `anew`: it is to ask who it is, whoever is logged in there. Raises
        ProviderAway.
        """
        endpoints = await self._provider.endpoints()
        attempt = Attempt.new(next_path(wanted))
        url = prepare_grant_uri(
            endpoints.authorization,
            self.settings.client_id,
            "code",
            redirect_uri=self.public_url + CALLBACK,
            scope=self.settings.scopes,
            state=attempt.state,
            nonce=attempt.nonce,
            code_challenge=create_s256_code_challenge(attempt.verifier),
            code_challenge_method="S256",
            prompt="login" if anew else None,
        )
        return Redirect(url, self._attempts.begin(attempt, cookies))

    async def finish(
        self, answer: Mapping[str, str], cookies: Mapping[str, str]
    ) -> tuple[Person, Redirect] | Refused:
        """The provider's answer, as the browser brings it. Raises LoginFailed, ProviderAway."""
        attempt = self._attempts.find(answer.get("state", ""), cookies)
        if attempt is None:
            raise LoginFailed(
                "This login was not begun in this browser, or too long ago.", "unknown state"
            )
        if answer.get("iss", self.settings.issuer) != self.settings.issuer:
            raise LoginFailed("Another identity provider answered.", "iss is another")
        if "error" in answer:
            said = answer.get("error_description") or answer["error"]
            raise LoginFailed(
                f"The identity provider refused: {cleaned(said, 300)}", cleaned(said, 300)
            )
        code = answer.get("code", "")
        if not code or len(code) > LONGEST_CODE:
            raise LoginFailed("The identity provider sent no code.", "no code")
        if self._exchanging.statistics().tasks_waiting >= LONGEST_LINE:
            raise ProviderAway(f"{AT_A_TIME + LONGEST_LINE} logins wait for it already")
        async with self._exchanging:
            token, claims = await self._exchange(code, attempt)
        done = [self._attempts.end(attempt)]
        role, name = role_of(claims, self.settings), name_of(claims)
        subject = cleaned(claims["sub"], LONGEST_SUBJECT)
        if role is None:
            return Refused(name, subject, [*done, *self.forget()])
        ends = self._clock.now_ms() // 1000 + int(self.settings.session)
        person = Person(name, role, subject, ends)
        set_ = [*done, self.sessions.begin(person), *self._hint(token)]
        return person, Redirect(attempt.next, set_)

    async def logout_url(self, cookies: Mapping[str, str]) -> str | None:
        """Where the provider ends its session too, if it does that and answers."""
        try:
            endpoint = (await self._provider.endpoints()).end_session
        except ProviderAway:
            return None
        if endpoint is None:
            return None
        asked = {
            "client_id": self.settings.client_id,
            "post_logout_redirect_uri": self.public_url + LOGGED_OUT,
        }
        if hint := cookies.get(self._jar.name(HINT, "/logout")):
            asked["id_token_hint"] = hint
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(asked)}"

    def forget(self) -> list[str]:
        """Cookies of whoever logs out."""
        return [self.sessions.end(), self._jar.remove(HINT, "/logout")]

    async def _exchange(self, code: str, attempt: Attempt) -> tuple[str, dict[str, Any]]:
        """The ID token, and what it and userinfo say."""
        endpoints = await self._provider.endpoints()
        answer = await self._token(endpoints.token, code, attempt)
        token, access_token = answer.get("id_token"), answer.get("access_token")
        if not isinstance(token, str):
            said = answer.get("error_description") or answer.get("error") or "no id_token"
            raise LoginFailed(
                "The identity provider did not take the login.", cleaned(str(said), 300)
            )
        usable = access_token if isinstance(access_token, str) else None
        claims = await self._verified(token, usable, attempt.nonce)
        missing = claim_at(claims, self.settings.roles_claim) is None
        if missing and usable and endpoints.userinfo:
            claims = await self._with_userinfo(claims, endpoints.userinfo, usable)
        return token, claims

    async def _with_userinfo(
        self, claims: dict[str, Any], url: str, access_token: str
    ) -> dict[str, Any]:
        """What the ID token says wins."""
        try:
            more = await self._provider.userinfo(url, access_token)
        except ProviderAway as away:
            log.warning("no userinfo", problem=away.detail)
            return claims
        if more.get("sub") != claims["sub"]:  # of somebody else it says nothing
            return claims
        return {**more, **claims}

    async def _token(self, url: str, code: str, attempt: Attempt) -> dict[str, Any]:
        body = prepare_token_request(
            "authorization_code",
            code=code,
            redirect_uri=self.public_url + CALLBACK,
            code_verifier=attempt.verifier,
        )
        client_id = self.settings.client_id
        secret = self.settings.client_secret.get_secret_value()
        method = f"client_secret_{self.settings.client_auth}" if secret else "none"
        if method == "client_secret_basic":  # RFC 6749, section 2.3.1: as in a form
            client_id, secret = quote(client_id, safe=""), quote(secret, safe="")
        headers = {
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        client = ClientAuth(client_id, secret, method)
        url, headers, body = client.prepare("POST", url, headers, body)
        return await self._provider.post(url, headers, body)

    async def _verified(self, token: str, access_token: str | None, nonce: str) -> dict[str, Any]:
        now = self._clock.now_ms() // 1000
        issuer, client_id = self.settings.issuer, self.settings.client_id
        expected = Expected(issuer, client_id, nonce, access_token, now)
        try:
            return verified_claims(token, await self._provider.keys(), expected)
        except UnknownKey:  # it may sign with a new one
            try:
                return verified_claims(token, await self._provider.new_keys(), expected)
            except UnknownKey as error:
                raise LoginFailed(
                    "What the identity provider says cannot be believed.", str(error)
                ) from None

    def _hint(self, token: str) -> list[str]:
        """The ID token, for the logout alone: with it the provider need not ask whose it is."""
        if len(token) > LONGEST_COOKIE - 200:
            return []
        return [self._jar.set(HINT, token, int(self.settings.session), "/logout")]

    def _session_secrets(self, settings: OidcSettings) -> list[str]:
        return secret_lines(settings.session_secret) or [self._drawn]
