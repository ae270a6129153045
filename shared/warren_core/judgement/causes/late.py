"""Consequence: the group keeps its pace, and a backlog is left of what is over."""

from warren.words import duration, rate, records

from warren_core.judgement.causes.catalogue import Found, cause, found_at_pace
from warren_core.judgement.facts import Facts


@cause(
    "consequence",
    20,
    "Keeps pace, but stays behind",
    "all that is bad is behind; as much is produced as consumed, within a tenth; by other policies "
    "than `progress` the lag is more than 30 s of it",
)
def late(facts: Facts) -> Found | None:
    pace = facts.pace
    if pace is None or not pace.stays_behind or pace.nears:
        return None
    for_ms = f", {duration(facts.late_ms)} late" if facts.late_ms else ""
    return found_at_pace(
        f"Keeps pace at {rate(pace.produced)}, but stays {records(pace.lag)} behind{for_ms}",
        "Add consumers until it has caught up",
        pace,
        freshness_ms=facts.late_ms,
    )
