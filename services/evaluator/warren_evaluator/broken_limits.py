"""Broken limits: series of what this worker's groups do not keep; of what is kept there is none."""

from collections.abc import Sequence

from warren.contracts.status import group_name
from warren.metrics.evaluator import EVALUATOR_OBJECTIVE_BROKEN as SINCE
from warren_core.objectives.limits import Limit
from warren_core.objectives.verdicts import Objectives

MOST_GROUPS = 10_000
"""Where more break something at once, no scrape is to fail of it. The others' turn comes later."""

Labels = tuple[str, str, str, str, str]
"""Cluster, group, objective, limit, status."""


class BrokenLimits:
    """Only those that are told: a limit that has just been broken has its `for` left."""

    def __init__(self, most_groups: int = MOST_GROUPS) -> None:
        self._most = most_groups
        self._shown: dict[tuple[str, str], set[Labels]] = {}

    def show(
        self, cluster: str, group: str, objectives: Objectives, limits: Sequence[Limit]
    ) -> None:
        """What else was shown of the group is taken back."""
        broken = _since(cluster, group, objectives, limits)
        for labels in self._shown.pop((cluster, group), set()) - broken.keys():
            SINCE.remove(*labels)
        if not broken or len(self._shown) >= self._most:
            return
        for labels, since in broken.items():
            SINCE.labels(*labels).set(since / 1000)
        self._shown[cluster, group] = set(broken)

    def clear(self) -> None:
        """Which groups are this worker's is about to be said anew."""
        self._shown.clear()
        SINCE.clear()


def _since(
    cluster: str, group: str, objectives: Objectives, limits: Sequence[Limit]
) -> dict[Labels, int]:
    """Unix milliseconds. Burn rates of an objective's limits are one: the oldest of them."""
    found: dict[Labels, int] = {}
    for limit in limits:
        standing = objectives.standings.get(limit.key)
        if standing is None or not standing.is_open or standing.broken_since is None:
            continue
        labels = (cluster, group, limit.objective, limit.name, group_name(limit.status))
        found[labels] = min(found.get(labels, standing.broken_since), standing.broken_since)
    return found
