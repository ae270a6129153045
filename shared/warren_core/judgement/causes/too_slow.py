"""Cause: less is consumed than is produced."""

from warren.words import counted

from warren_core.judgement.causes.catalogue import Found, against, cause, found_at_pace, times
from warren_core.judgement.facts import Facts

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
    if pace is None or not pace.falls_behind:
        return None
    members = 0 if facts.membership is None else len(facts.membership.members)
    more = "Add consumers, or speed up processing"
    partitions = len(facts.layout)
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
