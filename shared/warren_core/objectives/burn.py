"""Burn rate: how fast a group uses up the time for which it may break a limit with a target.

Of a target of 99 % one hundredth of the time may be spent. Chronic lateness spends it, though each
time may be too short to be told of. It is told when it is spent several times as fast as it may be,
over a long window, and over a short one: so it still goes on. The pairs of windows and factors are
usual for objectives of a month: 2 % of its budget in an hour, 5 % in 6 hours, 10 % in 3 days. Time
in which nobody knows counts as if the limit was kept.

Standing: how a group stands to a limit over time: hysteresis, in event time.
"""

from __future__ import annotations

from typing import NamedTuple

from warren.words import duration

from warren_core.objectives.limits import Limit
from warren_core.objectives.readings import KEPT, UNKNOWN, Reading, Verdict


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
        return NEVER if now - kept >= limit.clear_after_ms else self._replace(kept_since=kept)


NEVER = Standing()


MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
FINE_MS, COARSE_MS = 5 * MINUTE_MS, HOUR_MS
MOST_BUCKETS = 75  # of each size
MOST_APART_MS = 2 * MINUTE_MS
"""What was measured last says nothing of later."""

Buckets = tuple[tuple[int, int], ...]
"""Number of the bucket since 1970, milliseconds in it for which the limit was broken."""


class Windows(NamedTuple):
    """It burns when more than `factor` times what is allowed was spent in each of both."""

    long_ms: int
    short_ms: int
    factor: float


PAIRS = (
    Windows(HOUR_MS, 5 * MINUTE_MS, 14.4),
    Windows(6 * HOUR_MS, 30 * MINUTE_MS, 6.0),
    Windows(72 * HOUR_MS, 6 * HOUR_MS, 1.0),
)


class History(NamedTuple):
    """Of one limit: the last verdict, and how long it was broken in the last three days."""

    at: int
    verdict: Verdict
    fine: Buckets = ()
    coarse: Buckets = ()

    def after(self, verdict: Verdict, now: int) -> History:
        lasted = min(now - self.at, MOST_APART_MS) if self.verdict == "broken" else 0
        if lasted <= 0:
            return self._replace(at=now, verdict=verdict)
        return History(
            now,
            verdict,
            _add(self.fine, FINE_MS, lasted, now),
            _add(self.coarse, COARSE_MS, lasted, now),
        )

    def burns(self, target: float, what: str) -> Reading:
        """`what`: the limit's name."""
        for long_ms, short_ms, factor in PAIRS:
            burn = min(self._share(long_ms), self._share(short_ms)) / (1 - target)
            if burn >= factor:
                spent = min(self._broken(long_ms), long_ms)
                said = (
                    f"{what} was not kept for {duration(spent)} of the last {duration(long_ms)}: "
                    f"{burn:.1f} times as much as a target of {target:.5g} allows"
                )
                return Reading("broken", round(burn, 3), said)
        return UNKNOWN if self.verdict == "unknown" else KEPT

    def _share(self, window_ms: int) -> float:
        return min(self._broken(window_ms) / window_ms, 1.0)

    def _broken(self, window_ms: int) -> int:
        """Milliseconds, in whole buckets: while the limit is kept it only shrinks."""
        is_long = window_ms > 6 * HOUR_MS  # fine buckets go back so far
        buckets, size = (self.coarse, COARSE_MS) if is_long else (self.fine, FINE_MS)
        first = (self.at - window_ms) // size
        return sum(spent for number, spent in buckets if number >= first)


def _add(buckets: Buckets, size: int, milliseconds: int, now: int) -> Buckets:
    number = now // size
    if buckets and buckets[-1][0] == number:
        return (*buckets[:-1], (number, buckets[-1][1] + milliseconds))
    return (*buckets, (number, milliseconds))[-MOST_BUCKETS:]
