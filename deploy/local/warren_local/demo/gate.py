"""The demo's groups commit only once somebody watches.

A collector that starts on a cluster takes what was committed before as state, not as commits: a
group that stopped early would never get a window.
"""

from __future__ import annotations

import threading
import urllib.error
import urllib.request

PATIENCE = 30.0  # seconds; after that the demo starts anyway
LOOK_EVERY = 0.2


class Gate:
    """Opens when a URL answers 200."""

    def __init__(self, url: str) -> None:
        self._url = url

    def wait(self, stop: threading.Event, patience: float = PATIENCE) -> bool:
        """True when it opened; False after `patience` seconds, or when `stop` was set."""
        for _ in range(round(patience / LOOK_EVERY)):
            if self._is_open():
                return True
            if stop.wait(LOOK_EVERY):
                return False
        return False

    def _is_open(self) -> bool:
        try:
            with urllib.request.urlopen(self._url, timeout=LOOK_EVERY * 5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False
