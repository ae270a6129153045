"""Who has logged in: a sealed cookie, nothing here. So any copy of the API knows, and nobody can
be given a session that was not made for them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from warren.clock import Clock
from warren.settings import OidcSettings

from warren_api.http.callers import Person
from warren_api.login.cookies import Jar
from warren_api.login.sealing import Seal

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
