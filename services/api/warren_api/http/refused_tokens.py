"""Tokens that nobody knows: each is counted, and told without it, so that guessing is seen."""

from __future__ import annotations

import structlog
from warren.clock import Clock
from warren.metrics import api as metrics
from warren.words import shortened

from warren_api.http.shares import site_of

log = structlog.get_logger(__name__)

TELL_EVERY = 60.0  # seconds between two lines about the same address
LONGEST_PATH = 200  # characters
MOST_TOLD = 10  # addresses with a line of their own in that time


class RefusedTokens:
    """Used by the event loop only."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._told: dict[str, float] = {}
        self._unlogged = 0

    def note(self, address: str | None, method: str, path: str) -> None:
        """`unlogged`, in the line: how many had no line since the one before, from any address."""
        metrics.API_TOKENS_REFUSED.inc()
        now, site = self._clock.monotonic(), site_of(address)
        while self._told and now - next(iter(self._told.values())) >= TELL_EVERY:
            del self._told[next(iter(self._told))]
        if site in self._told or len(self._told) >= MOST_TOLD:
            self._unlogged += 1
            return
        self._told[site] = now
        unlogged, self._unlogged = self._unlogged, 0
        log.warning(
            "token refused",
            client=address,
            method=method,
            path=shortened(path, LONGEST_PATH),
            unlogged=unlogged,
        )
