"""Ownership: whose a group is, its runbook and its labels, as `[[groups]]` says."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from warren.patterns import any_matches, expressions
from warren.settings import GroupSettings

MOST_GROUPS = 100_000  # whose owners are kept at hand


class Ownership(NamedTuple):
    """Of a group; None and () where nobody has said it."""

    owner: str | None = None
    runbook: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    """Names and values, by name."""

    def shown(self) -> dict[str, Any]:
        """As fields for people who ask."""
        return {"owner": self.owner, "runbook": self.runbook, "labels": dict(self.labels)}

    def fields(self) -> dict[str, Any]:
        """As fields of a status change: what nobody has said is not there."""
        return {name: value or None for name, value in self.shown().items()}


NOBODY_S = Ownership()


class OwnershipBook:
    """Which ownership a group has."""

    def __init__(self, settings: Sequence[GroupSettings]) -> None:
        entries = [_Entry(each) for each in settings]

        @functools.lru_cache(maxsize=MOST_GROUPS)
        def of(cluster: str, group: str) -> Ownership:
            found = [each.settings for each in entries if each.matches(cluster, group)]
            labels: dict[str, str] = {}
            for each in found:
                labels = {**each.labels, **labels}
            return Ownership(
                next((each.owner for each in found if each.owner), None),
                next((each.runbook for each in found if each.runbook), None),
                tuple(sorted(labels.items())),
            )

        self.of = of if entries else lambda _cluster, _group: NOBODY_S


class _Entry:
    """One of the settings, its expressions compiled. They are searched for, not anchored."""

    def __init__(self, settings: GroupSettings) -> None:
        self.settings = settings
        self._clusters = expressions(settings.clusters)
        self._groups = expressions(settings.groups)

    def matches(self, cluster: str, group: str) -> bool:
        return any_matches(self._clusters, cluster) and any_matches(self._groups, group)
