"""Which groups and topics are watched: allow and deny lists, of all clusters and of each."""

from collections.abc import Sequence
from dataclasses import dataclass

from warren.patterns import exactly, expressions
from warren.settings import WARREN_GROUPS, Settings


class NameFilter:
    """Regular expressions that are searched for anywhere in the name (`^`, `$` anchor them).

    An empty allow list allows every name; one that a deny expression matches is never watched.
    """

    def __init__(self, allow: Sequence[str], deny: Sequence[str]) -> None:
        self._allow = expressions(allow)
        self._deny = expressions(deny)

    def accepts(self, name: str) -> bool:
        if self._allow and not any(pattern.search(name) for pattern in self._allow):
            return False
        return not any(pattern.search(name) for pattern in self._deny)


@dataclass(frozen=True, slots=True)
class _Lists:
    """A name is watched if every filter accepts it."""

    groups: tuple[NameFilter, ...]
    topics: tuple[NameFilter, ...]


class ClusterFilters:
    """The filters of all clusters and those of one; may be replaced while others ask."""

    def __init__(self, settings: Settings, cluster: str) -> None:
        self._cluster = cluster
        self._lists = _lists(settings, cluster)

    def replace(self, settings: Settings) -> None:
        self._lists = _lists(settings, self._cluster)

    def accepts_group(self, group: str) -> bool:
        return all(each.accepts(group) for each in self._lists.groups)

    def accepts_topic(self, topic: str) -> bool:
        return all(each.accepts(topic) for each in self._lists.topics)


def _lists(settings: Settings, cluster: str) -> _Lists:
    both = (settings.filters, settings.clusters[cluster])
    # Who leaves the expression out of a list of their own wants to see them.
    own = (
        [NameFilter([], _own_groups(settings))]
        if (WARREN_GROUPS in settings.clusters[cluster].groups_deny)
        else []
    )
    return _Lists(
        groups=(*own, *(NameFilter(each.groups_allow, each.groups_deny) for each in both)),
        topics=tuple(NameFilter(each.topics_allow, each.topics_deny) for each in both),
    )


def _own_groups(settings: Settings) -> list[str]:
    configured = (
        settings.collector.group_id,
        settings.evaluator.app_id,
        settings.freshness.group_id,
        settings.notifier.group_id,
    )
    return [settings.home.installation.groups, *(exactly(each) for each in configured if each)]
