"""Causes that the pace tells: how fast is read, and how fast is written."""

from warren.words import counted, duration, rate, records, utc

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
    if pace is None or pace.trend != "falls behind" or pace.before < 0:
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


LITTLE = 1.05  # times as much are said as 1.1 times, or more


@cause(
    "root",
    120,
    "Too slow, falling behind",
    "all that is bad falls behind, and a tenth more is produced than consumed; by `progress` its "
    "average lag has grown, by more than chance does",
)
def too_slow(facts: Facts) -> Found | None:
    pace = facts.pace
    if pace is None or pace.trend != "falls behind":
        return None
    members = 0 if facts.membership is None else len(facts.membership.members)
    more = "Add consumers, or speed up processing"
    partitions = len(facts.state.layout)
    if members and members >= partitions:
        more = (
            f"{counted(partitions, 'partition')}, {counted(members, 'member')}: speed up "
            "processing, or add partitions and consumers"
        )
    said = "the lag has grown"
    if pace.produced > pace.consumed * LITTLE:
        said = f"{against(pace)}, needs {times(pace.produced / pace.consumed)} the throughput"
    elif pace.produced >= pace.consumed:
        said = f"{against(pace)}, and {said}"
    return found_at_pace(
        f"Too slow: {said}",
        more,
        pace,
        members=members or None,
    )


@cause(
    "consequence",
    20,
    "Keeps pace, but stays behind",
    "all that is bad is behind; as much is produced as consumed, within a tenth; by other policies "
    "than `progress` the lag is more than 30 s of it",
)
def late(facts: Facts) -> Found | None:
    pace = facts.pace
    if pace is None or not pace.stays_behind or pace.trend == "nears":
        return None
    for_ms = f", {duration(facts.late_ms)} late" if facts.late_ms else ""
    return found_at_pace(
        f"Keeps pace at {rate(pace.produced)}, but stays {records(pace.lag)} behind{for_ms}",
        "Add consumers until it has caught up",
        pace,
        freshness_ms=facts.late_ms,
    )


@cause(
    "consequence",
    30,
    "Catching up, still behind",
    "as `late`, but more than a tenth more is consumed than produced",
)
def catching_up(facts: Facts) -> Found | None:
    pace = facts.pace
    if pace is None or not pace.stays_behind or pace.trend != "nears":
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
