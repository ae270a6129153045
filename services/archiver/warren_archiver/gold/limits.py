"""What objectives ask of groups and topics, as rows that SQL joins. No Spark."""

from collections.abc import Iterable, Sequence

from warren.settings import ObjectiveSettings
from warren_core.objectives.limits import ObjectiveBook

LIMITS = (
    "cluster string, `group` string, topic string, objective string, `limit` string, "
    "wanted double, target double"
)
"""Their columns."""
_COUNTED = ("max_freshness", "max_lag", "min_produce_rate", "min_time_to_loss")


def limits_of(
    topics: Iterable[tuple[str, str, str]], objectives: Sequence[ObjectiveSettings]
) -> list[tuple[object, ...]]:
    """A row for each limit that covers one of these clusters, groups and topics. The objective that
    every group has is left out: it asks for no share of time."""
    book = ObjectiveBook(objectives)
    targets = {each.name: each.target for each in objectives}
    return [
        (cluster, group, topic, limit.objective, limit.name, float(limit.wanted), target)
        for cluster, group, topic in topics
        for limit in book.limits_for(cluster, group)
        if limit.name in _COUNTED and limit.objective in targets and limit.covers(topic)
        for target in [targets[limit.objective]]
    ]
