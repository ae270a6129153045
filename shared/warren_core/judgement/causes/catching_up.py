"""Consequence: the group reads faster than is written, and is still behind."""

from warren.words import duration, records, utc

from warren_core.judgement.causes.catalogue import Found, against, cause, found_at_pace
from warren_core.judgement.facts import Facts


@cause(
    "consequence",
    30,
    "Catching up, still behind",
    "as `late`, but more than a tenth more is consumed than produced",
)
def catching_up(facts: Facts) -> Found | None:
    pace = facts.pace
    if pace is None or not pace.stays_behind or not pace.nears:
        return None
    late = f", {duration(facts.late_ms)} late" if facts.late_ms else ""
    at = facts.now_ms + round(pace.lag * 1000 / (pace.consumed - pace.produced))
    return found_at_pace(
        f"Catching up: {records(pace.lag)} behind{late}, {against(pace)}; caught up at {utc(at)}",
        "Nothing to do if that is soon enough; otherwise add consumers for a while",
        pace,
        caught_up_at=at,
        freshness_ms=facts.late_ms,
    )
