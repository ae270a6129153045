"""Cause: the group rebalances again and again, or never ends to."""

from warren.words import duration

from warren_core.evaluation.explanations import rebalanced_for
from warren_core.evaluation.presence import Presence
from warren_core.evaluation.track import Mark
from warren_core.judgement.causes.catalogue import Found, cause, found
from warren_core.judgement.facts import Facts
from warren_core.judgement.membership import MOST_REBALANCES

REBALANCES, REBALANCES_MS, LAST_REBALANCE_MS = 4, 5 * 60_000, 2 * 60_000
ENDLESS_MS = 2 * 60_000
_WHO_REBALANCES = "Check for members that crash and restart, or that exceed max.poll.interval.ms"


@cause(
    "root",
    30,
    "Rebalance loop",
    "4 rebalances within 5 minutes were seen, the last one within 2; or, by `progress`, it "
    "rebalances, and has for 2 min since anything was read",
)
def rebalance_loop(facts: Facts) -> Found | None:
    group = facts.membership
    times = (
        []
        if group is None
        else [at for at in group.rebalanced_at if 0 <= facts.now_ms - at <= REBALANCES_MS]
    )
    if group is None or len(times) < REBALANCES or facts.now_ms - times[-1] > LAST_REBALANCE_MS:
        # None is ever over, so that none is counted: each is cut short by the next member.
        rows = facts.standing()
        if facts.presence is not Presence.REBALANCING or facts.track is None or not rows:
            return None
        took_ms = int(facts.track.marks[Mark.REBALANCED, rows].max())
        if took_ms < ENDLESS_MS:
            return None
        return found(
            f"Rebalancing for {rebalanced_for(took_ms)} without an end, and nothing read since",
            _WHO_REBALANCES,
            within_ms=took_ms,
        )
    return found(
        f"Rebalance loop: {len(times)}{' or more' if len(times) >= MOST_REBALANCES else ''} in "
        f"{duration(REBALANCES_MS)}, the last {duration(facts.now_ms - times[-1])} ago",
        _WHO_REBALANCES,
        times=len(times),
        within_ms=REBALANCES_MS,
        members=len(group.members),
    )
