"""An objective that is not kept, with the figures of now where they can be read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from warren_core.objectives.lag import GroupLag
from warren_core.objectives.limits import Limit
from warren_core.objectives.readings import read

from warren_api.model.group import BrokenObjective, GroupView


class Said(NamedTuple):
    """A sentence. `at`: when it was said (Unix milliseconds); None: with the figures of now."""

    sentence: str
    at: int | None = None


def broken_now(
    broken: BrokenObjective, view: GroupView, limits: Iterable[Limit], *, is_stale: bool
) -> Said:
    """What is wrong by the newest measurement; as it was told where that says nothing, or the limit
    is kept by now. `limits`: the group's; `is_stale`: measured too long ago.
    """
    breach = broken.breach
    told = Said(breach.sentence, broken.told_at)
    if view.freshness is None or is_stale:
        return told
    for limit in limits:
        is_it = (limit.objective, limit.name) == (breach.objective, breach.limit)
        if is_it and limit.target_of is None:  # a burn rate is of hours, which are not known here
            reading = read(limit, view.freshness.event, lambda: _lag(view))
            return Said(reading.sentence) if reading.verdict == "broken" else told
    return told


def _lag(view: GroupView) -> GroupLag:
    return GroupLag(
        {
            topic: (sum(lag or 0 for lag in columns.lag), None not in columns.lag)
            for topic, columns in view.event.topics.items()
        }
    )
