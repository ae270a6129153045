"""Logins that have begun: what they are recognised by is with the browser that began them, sealed,
a cookie each, so that several tabs may log in at a time.
"""

from __future__ import annotations

import secrets as random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from warren.clock import Clock

from warren_api.login.cookies import Jar
from warren_api.login.sealing import Seal

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
