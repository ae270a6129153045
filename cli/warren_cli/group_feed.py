"""The API's groups, asked for again and again by a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

from warren.errors import WarrenError

from warren_cli.api_client import sent_token
from warren_cli.resources.catalogue import GROUPS
from warren_cli.resources.listing import Listing, fetch

INTERVAL = 1.0  # seconds between two requests
PATIENCE = 5.0  # seconds for an answer that is under way at the end


class GroupFeed:
    """Calls `on_answer` for each answer and `on_silence` for each request without one.

    Raises SettingsError for a token that cannot be sent.
    """

    def __init__(
        self, url: str, *, on_answer: Callable[[Listing], None], on_silence: Callable[[], None]
    ) -> None:
        sent_token()
        self._url = url
        self._on_answer = on_answer
        self._on_silence = on_silence
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="group-feed", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """No call comes any more once this returns."""
        self._stop.set()
        self._thread.join(PATIENCE)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                answer = fetch(GROUPS, self._url, {})
            except WarrenError:
                answer = None
            if self._stop.is_set():
                return
            if answer is None:
                self._on_silence()
            else:
                self._on_answer(answer)
            self._stop.wait(INTERVAL)
