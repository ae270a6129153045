"""Which groups are watched: one allow and one deny list per cluster, for the whole system."""

from __future__ import annotations

import re
from collections.abc import Sequence

from warren.errors import SettingsError


class GroupFilter:
    """Regular expressions that are searched for anywhere in the name (`^`, `$` anchor them).

    An empty allow list allows every group; a group that a deny expression matches is never watched.
    """

    def __init__(self, allow: Sequence[str], deny: Sequence[str], setting: str = "") -> None:
        """`setting` is the cluster's table. Raises SettingsError for a bad expression."""
        self._allow = _compile(allow, f"{setting}.groups_allow")
        self._deny = _compile(deny, f"{setting}.groups_deny")

    def accepts(self, group: str) -> bool:
        if self._allow and not any(pattern.search(group) for pattern in self._allow):
            return False
        return not any(pattern.search(group) for pattern in self._deny)


def _compile(expressions: Sequence[str], setting: str) -> list[re.Pattern[str]]:
    patterns = []
    for expression in expressions:
        try:
            patterns.append(re.compile(expression))
        except re.error as error:
            raise SettingsError(setting, f"{expression!r} is not valid: {error}") from None
    return patterns
