"""Consequence: the group is well and not well by turns."""

from __future__ import annotations

from warren.words import duration

from warren_core.judgement.causes.catalogue import Found, cause, found
from warren_core.judgement.facts import Facts

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
    return found(
        f"not OK for the {_ordinal(len(times))} time within {duration(OPENINGS_MS)}: it recovers "
        "by itself each time",
        "what happens when it begins? Restarts, pauses and bursts of the producers are likely",
        times=len(times),
        within_ms=OPENINGS_MS,
    )


def _ordinal(number: int) -> str:
    return f"{number}{'rd' if number == 3 else 'th'}"
