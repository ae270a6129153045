"""Consequence: the group is well and not well by turns."""

from warren.words import counted, duration

from warren_core.judgement.causes.catalogue import Found, cause, found
from warren_core.judgement.facts import Facts
from warren_core.judgement.state import MOST_OPENINGS

OPENINGS, OPENINGS_MS = 3, 30 * 60_000


@cause(
    "consequence",
    40,
    "Fails and recovers by turns",
    "this is the third incident within 30 minutes",
)
def flapping(facts: Facts) -> Found | None:
    times = [at for at in facts.state.openings if facts.now_ms - at <= OPENINGS_MS]
    if len(times) < OPENINGS:
        return None
    # Of more than are remembered nobody knows how many there were.
    known = counted(len(times), "incident")
    incidents = f"at least {known}" if len(times) >= MOST_OPENINGS else known
    return found(
        f"Flapping: {incidents} in {duration(OPENINGS_MS)}, each recovered without help",
        "Check what happens when an incident opens: a restart, a pause or a producer burst",
        times=len(times),
        within_ms=OPENINGS_MS,
    )
