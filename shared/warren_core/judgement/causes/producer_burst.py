"""Cause: much more is produced than before."""

from __future__ import annotations

from warren.words import rate, utc

from warren_core.judgement.causes.catalogue import Found, cause, found_at_pace, times
from warren_core.judgement.facts import SAME, Facts

BURST = 2.0


@cause(
    "root",
    110,
    "Much more is produced than before",
    "all that is bad falls behind; more is produced than twice of what was a minute and a half "
    "ago, and with that the group would keep up",
)
def producer_burst(facts: Facts) -> Found | None:
    """More than before, when the group would have kept up with that."""
    pace = facts.pace
    if pace is None or not pace.falls_behind or pace.before < 0:
        return None
    if pace.produced < BURST * pace.before or pace.before * SAME > pace.consumed:
        return None
    more = f", {times(pace.produced / pace.before)} as much as before" if pace.before else ""
    at = facts.now_ms + round(pace.lag * 1000 / (pace.consumed - pace.before))
    return found_at_pace(
        f"{rate(pace.produced)} are produced{more}, and {rate(pace.consumed)} consumed; caught "
        f"up at {utc(at)} if it ends now",
        "nothing, if it is to end; else more consumers",
        pace,
        produced_before_per_s=pace.before,
        caught_up_at=at,
    )
