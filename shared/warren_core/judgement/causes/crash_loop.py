"""Cause: the group stops again and again."""

import numpy as np
from warren.words import duration

from warren_core.evaluation.explanations import loop_told
from warren_core.evaluation.loops import A_LOOP, FURTHEST_MS, apart_ms, loops
from warren_core.evaluation.track import Mark
from warren_core.judgement.causes.catalogue import Found, cause, found, listed
from warren_core.judgement.facts import Facts


@cause(
    "root",
    15,
    "Crash loop: stops again and again",
    f"all that is not OK has stopped {A_LOOP} times and more, each at most "
    f"{duration(FURTHEST_MS)} after the one before, and the next stop is not overdue; only by "
    "policy `progress`",
)
def crash_loop(facts: Facts) -> Found | None:
    if facts.track is None or not facts.bad:
        return None
    marks = facts.track.marks[:, facts.bad]
    if not loops(marks, facts.now_ms).all():
        return None
    most = int(np.argmax(marks[Mark.STOPS]))
    return found(
        f"{listed(facts, facts.bad)} {loop_told(marks[:, most].tolist())}",
        "Find out why the consumers exit: exit codes, memory, the last lines of their logs",
        partitions=len(facts.bad),
        since=int(marks[Mark.LOOP_SINCE, most]),
        times=int(marks[Mark.STOPS, most]),
        within_ms=int(apart_ms(marks)[most] * (marks[Mark.STOPS, most] - 1)),
    )
