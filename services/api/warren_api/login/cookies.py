"""What a browser holds: sealed cookies of who has logged in and of logins that have begun.

They are out of reach of scripts, of other sites and, over https, of others; only we can read and
write them (Fernet: AES-CBC and HMAC-SHA256, keys from secrets). Nothing is kept here: any copy of
the API knows, and nobody can be given a session that was not made for them.
"""

from __future__ import annotations

import json
import secrets as random
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from warren.clock import Clock
from warren.settings import OidcSettings

from warren_api.http.callers import Person

HOME = "/"
LONGEST_PATH = 1500  # characters; cookies have to hold it
_OWN = ("/login", "/logout", "/logged-out")


def next_path(wanted: str) -> str:
    """The path that is wanted, or the first page where it could lead elsewhere.

    Browsers take `//host` and `/\\host` for another site, and take tabs and newlines out first.
    """
    if not wanted.startswith("/") or wanted.startswith("//") or len(wanted) > LONGEST_PATH:
        return HOME
    if "\\" in wanted or not wanted.isascii() or not wanted.isprintable() or " " in wanted:
        return HOME
    try:
        url = urlsplit(wanted)
    except ValueError:
        return HOME
    if url.scheme or url.netloc or url.path.startswith(_OWN):
        return HOME
    return wanted


LONGEST_COOKIE = 4096  # characters; browsers keep no longer cookie


class Seal:
    """`secrets`: the first seals, all open. What was sealed for another purpose stays closed."""

    def __init__(self, secrets: Sequence[str], purpose: str) -> None:
        self._keys = MultiFernet([_key(secret, purpose) for secret in secrets])

    def close(self, content: dict[str, Any], now: int) -> str:
        """`now`: Unix seconds."""
        text = json.dumps({**content, "at": now}, ensure_ascii=False, separators=(",", ":"))
        return self._keys.encrypt_at_time(text.encode(), now).decode()

    def open(self, sealed: str) -> dict[str, Any] | None:
        """None for what is not ours, whole and unchanged."""
        if len(sealed) > LONGEST_COOKIE:
            return None
        try:
            content: dict[str, Any] = json.loads(self._keys.decrypt(sealed.encode()))
        except (InvalidToken, ValueError):
            return None
        return content


def _key(secret: str, purpose: str) -> Fernet:
    derived = HKDF(SHA256(), 32, salt=None, info=b"warren " + purpose.encode())
    return Fernet(urlsafe_b64encode(derived.derive(secret.encode())))


@dataclass(frozen=True, slots=True)
class Jar:
    """Names and attributes. Over https names say that no other host has set the cookie
    (`__Host-`), which binds them to the path `/`.
    """

    is_https: bool

    def name(self, plain: str, path: str = "/") -> str:
        if not self.is_https:
            return plain
        return f"__Host-{plain}" if path == "/" else f"__Secure-{plain}"

    def set(self, plain: str, value: str, seconds: int, path: str = "/") -> str:
        """The value of Set-Cookie."""
        secure = "; Secure" if self.is_https else ""
        name = self.name(plain, path)
        return f"{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"

    def remove(self, plain: str, path: str = "/") -> str:
        return self.set(plain, "", 0, path)


PREFIX = "warren_login_"
LASTS = 600  # seconds to log in at the provider
MOST = 8  # that a browser keeps; beyond them all are forgotten


class Attempt(NamedTuple):
    """`state` comes back with the answer, `nonce` in the ID token, `verifier` proves that the code
    comes to who asked for it (PKCE), `next` is where to go then.
    """

    state: str
    nonce: str
    verifier: str
    next: str

    @classmethod
    def new(cls, next_: str) -> Attempt:
        token = random.token_urlsafe
        return cls(token(24), token(24), token(48), next_)

    @property
    def cookie(self) -> str:
        return PREFIX + self.state[:8]


class Attempts:
    def __init__(self, secrets: Sequence[str], binding: str, jar: Jar, clock: Clock) -> None:
        self._binding = binding
        self._jar = jar
        self._clock = clock
        self.renew(secrets)

    def renew(self, secrets: Sequence[str]) -> None:
        self._seal = Seal(secrets, f"login {self._binding}")

    def begin(self, attempt: Attempt, cookies: Mapping[str, str]) -> list[str]:
        """Set-Cookie, one or more."""
        prefix = self._jar.name(PREFIX)
        stale = [name.removeprefix(prefix) for name in cookies if name.startswith(prefix)]
        removed = [self._jar.remove(PREFIX + rest) for rest in stale if len(stale) >= MOST]
        sealed = self._seal.close(attempt._asdict(), self._now)
        return [*removed, self._jar.set(attempt.cookie, sealed, LASTS)]

    def find(self, state: str, cookies: Mapping[str, str]) -> Attempt | None:
        """The one that this browser has begun."""
        sealed = cookies.get(self._jar.name(PREFIX + state[:8]))
        content = self._seal.open(sealed) if sealed else None
        if content is None or content.pop("at") <= self._now - LASTS:
            return None
        attempt = Attempt(**content)
        is_same = random.compare_digest(attempt.state.encode(), state.encode(errors="replace"))
        return attempt if is_same else None

    def end(self, attempt: Attempt) -> str:
        return self._jar.remove(attempt.cookie)

    @property
    def _now(self) -> int:
        return self._clock.now_ms() // 1000


COOKIE = "warren_session"


class Sessions:
    """Used by the event loop only. Other settings of who may what end all sessions."""

    def __init__(
        self, settings: OidcSettings, secrets: Sequence[str], jar: Jar, clock: Clock
    ) -> None:
        self._settings = settings
        self._jar = jar
        self._clock = clock
        self._seal = self._sealed_with(secrets)

    def renew(self, secrets: Sequence[str]) -> None:
        self._seal = self._sealed_with(secrets)

    def person(self, cookies: Mapping[str, str]) -> Person | None:
        """Whose session it is, unless it is over."""
        sealed = cookies.get(self._jar.name(COOKIE))
        content = self._seal.open(sealed) if sealed else None
        if content is None or content["ends"] <= self._now:
            return None
        return Person(content["name"], content["role"], content["sub"], content["ends"])

    def begin(self, person: Person) -> str:
        """Set-Cookie."""
        content = {
            "sub": person.subject,
            "name": person.name,
            "role": person.role,
            "ends": person.ends,
        }
        lasts = max(1, person.ends - self._now)
        return self._jar.set(COOKIE, self._seal.close(content, self._now), lasts)

    def end(self) -> str:
        return self._jar.remove(COOKIE)

    @property
    def _now(self) -> int:
        return self._clock.now_ms() // 1000

    def _sealed_with(self, secrets: Sequence[str]) -> Seal:
        s = self._settings
        binding = [s.issuer, s.client_id, s.public_url, s.roles_claim, s.viewers, s.admins]
        return Seal(secrets, f"session {json.dumps(binding)}")
