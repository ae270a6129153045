"""Secrets of the login that change while the API runs: in files that settings name, mostly."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from warren.errors import SettingsError
from warren.settings import OidcSettings, Settings

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
