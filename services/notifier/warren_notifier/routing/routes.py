"""Routes: which changes go to which channels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from warren.contracts import TEST_CLUSTER
from warren.patterns import Expression, expressions
from warren.settings.notifier import RouteSettings

from warren_notifier.routing.change import Change, Severity


class Route:
    """A route of the settings, its expressions compiled. They are searched for, not anchored."""

    def __init__(self, settings: RouteSettings, *, is_test: bool = False) -> None:
        """`is_test`: it is for tests, and nothing else is."""
        self._is_test = is_test
        self.name = settings.name
        self.channels = tuple(dict.fromkeys(settings.channels))
        self.minimum_severity = Severity[settings.minimum_severity]
        self.send_resolved = settings.send_resolved
        self.repeat_interval_ms = round(settings.repeat_interval * 1000)
        self.continue_matching = settings.continue_matching
        self.mute = tuple(settings.mute)
        self.escalate_after_ms = round(settings.escalate_after * 1000)
        self.escalate_to = tuple(dict.fromkeys(settings.escalate_to))
        self.group_by = settings.group_by
        self.group_wait = settings.group_wait
        self.group_interval = settings.group_interval
        self._event_types = frozenset(settings.event_types)
        self._clusters = expressions(settings.clusters)
        self._groups_allow = expressions(settings.groups_allow)
        self._groups_deny = expressions(settings.groups_deny)

    def matches(self, change: Change) -> bool:
        """Whether the change is for this route, its severity included."""
        subject = change.subject
        return (
            change.severity >= self.minimum_severity
            and (not self._event_types or subject.event_type in self._event_types)
            and (not self._clusters or _any(self._clusters, subject.cluster))
            and (not self._groups_allow or _any(self._groups_allow, subject.group))
            and not _any(self._groups_deny, subject.group)
            and (subject.cluster == TEST_CLUSTER) == self._is_test
        )

    def mismatch(self, change: Change) -> str | None:
        """Why `matches` says no, for people; None where it says yes."""
        subject = change.subject
        if change.severity < self.minimum_severity:
            return f"minimum_severity is {self.minimum_severity.name}"
        if self._event_types and subject.event_type not in self._event_types:
            return f"event_types has no {subject.event_type}"
        if self._clusters and not _any(self._clusters, subject.cluster):
            return "clusters has no expression that matches"
        if self._groups_allow and not _any(self._groups_allow, subject.group):
            return "groups_allow has no expression that matches"
        if (denied := _first(self._groups_deny, subject.group)) is not None:
            return f"groups_deny has {denied}"
        if (subject.cluster == TEST_CLUSTER) != self._is_test:
            return f"cluster {TEST_CLUSTER} is for tests"
        return None

    def reasons(self, change: Change) -> Iterator[str]:
        """What of the settings makes `matches` say yes, for people."""
        subject = change.subject
        yield f"{change.severity.name} reaches minimum_severity {self.minimum_severity.name}"
        if self._event_types:
            yield f"event_types has {subject.event_type}"
        cluster = _first(self._clusters, subject.cluster)
        group = _first(self._groups_allow, subject.group)
        yield "all clusters" if cluster is None else f"clusters has {cluster}"
        yield "all groups" if group is None else f"groups_allow has {group}"


def matching(routes: Sequence[Route], change: Change) -> list[Route]:
    """The first route that matches, and more as long as they ask to continue."""
    found = []
    for route in routes:
        if route.matches(change):
            found.append(route)
            if not route.continue_matching:
                break
    return found


def _first(patterns: Iterable[Expression], text: str) -> str | None:
    """The expression that matches; None: none does."""
    return next((pattern.pattern for pattern in patterns if pattern.search(text)), None)


def _any(patterns: Iterable[Expression], text: str) -> bool:
    return any(pattern.search(text) for pattern in patterns)
