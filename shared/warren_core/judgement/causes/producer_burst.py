"""Cause: much more is produced than before."""

from warren.words import utc

from warren_core.judgement.causes.catalogue import Found, against, cause, found_at_pace, times
from warren_core.judgement.facts import SAME, Facts

BURST = 2.0


@cause(
    "root",
    110,
    "Producer burst, falling behind",
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
        f"Producer burst: {against(pace)}{more}; caught up at {utc(at)} if it ends now",
        "Nothing to do if the burst will end; otherwise add consumers",
        pace,
        produced_before_per_s=pace.before,
        caught_up_at=at,
    )
