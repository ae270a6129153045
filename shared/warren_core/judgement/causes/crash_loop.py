"""Cause: the group stops again and again."""

from warren.contracts.status import Status
from warren.words import duration

from warren_core.judgement.causes.catalogue import Found, cause, found, listed
from warren_core.judgement.facts import Facts

STOPS, WITHIN_MS = 3, 4 * 3_600_000


@cause(
    "root",
    15,
    "Crash loop: stops again and again",
    f"all that is not OK has stopped, and it is the third incident within {duration(WITHIN_MS)}",
)
def crash_loop(facts: Facts) -> Found | None:
    rows = facts.with_status(Status.STOP)
    if not rows or len(rows) < len(facts.bad):
        return None
    times = [at for at in facts.state.openings if facts.now_ms - at <= WITHIN_MS]
    if len(times) < STOPS:
        return None
    within = times[-1] - times[0]
    return found(
        f"{listed(facts, rows)} stopped; {len(times)} incidents in {duration(within)}",
        "Find out why the consumers exit: exit codes, memory, the last lines of their logs",
        partitions=len(rows),
        since=times[0],
        times=len(times),
        within_ms=within,
    )
