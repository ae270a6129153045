"""How many series /metrics has: counted from the catalogue."""

from collections.abc import Iterator

from warren.metrics import API_FAMILIES
from warren.metrics.family import DETAILS, Detail, Family, Origin

#: An installation to count for: groups, topics of groups, partitions of groups.
GROUPS, TOPICS, PARTITIONS = 500, 1_000, 10_000
_OF_EACH: dict[Detail, int] = {"group": GROUPS, "topic": TOPICS, "partition": PARTITIONS}


def series_count(detail: Detail, origins: tuple[Origin, ...]) -> int:
    """At most: every figure known, no two groups on a partition."""
    return sum(
        _OF_EACH[family.detail] for family in _of_groups(origins) if family.is_within(detail)
    )


def table(origins: tuple[Origin, ...]) -> Iterator[str]:
    """Rows by `metrics_detail`, all names and Warren's alone."""
    yield '| metrics_detail | all names | `metrics_origins = ["warren"]` |'
    yield "|---|---|---|"
    for detail in DETAILS:
        counts = (series_count(detail, origins), series_count(detail, ("warren",)))
        yield f"| {detail} | {counts[0]:,} | {counts[1]:,} |"


def _of_groups(origins: tuple[Origin, ...]) -> Iterator[Family]:
    return (family for family in API_FAMILIES if family.labels and family.origin in origins)
