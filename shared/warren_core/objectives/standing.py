"""Standing: how a group stands to a limit over time: hysteresis, in event time."""

from __future__ import annotations

from typing import NamedTuple

from warren_core.objectives.limits import Limit
from warren_core.objectives.readings import Reading


class Standing(NamedTuple):
    """Times in Unix milliseconds. `value` and what follows are as last read broken."""

    broken_since: int | None = None
    is_open: bool = False
    kept_since: int | None = None
    """While it is open: all has been well since then."""
    value: float | None = None
    sentence: str = ""
    topic: str | None = None
    partition: int | None = None

    def after(self, reading: Reading, limit: Limit, now: int) -> Standing:
        """What nobody knows opens nothing and closes nothing."""
        if reading.verdict == "broken":
            # A time that is still to come was that of an event that was dated ahead.
            since = now if self.broken_since is None else min(self.broken_since, now)
            lasts = now - since >= limit.for_ms
            return Standing(since, self.is_open or lasts, None, *reading[1:5])
        if reading.verdict == "unknown":
            return self._replace(kept_since=None)
        if not self.is_open:
            return NEVER
        kept = now if self.kept_since is None else min(self.kept_since, now)
        if now - kept >= limit.clear_after_ms:
            return NEVER
        return self._replace(kept_since=kept)


NEVER = Standing()
