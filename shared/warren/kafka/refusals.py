"""Topics or groups that a cluster does not let Warren see: each is told once, when it is news."""

from __future__ import annotations

from collections.abc import Iterable

from warren.errors import AuthorizationFailed
from warren.kafka.connection import log_retry


class Refusals:
    """Of one right on one kind of thing; what is granted meanwhile is news when refused again."""

    def __init__(self, cluster: str, setting: str, right: str, kind: str, consequence: str) -> None:
        """`setting` is the cluster's table, `right` an ACL operation, `kind` a resource type."""
        self._cluster = cluster
        self._setting = f"{setting}.kafka"
        self._right = right
        self._kind = kind
        self._consequence = consequence
        self._refused: frozenset[str] = frozenset()

    def observe(self, refused: Iterable[str], asked: Iterable[str] | None = None) -> None:
        """`asked`: names that the answer is about; None for all that there are."""
        now = frozenset(refused)
        news = sorted(now - self._refused)
        self._refused = now if asked is None else self._refused.difference(asked) | now
        if news:
            more = f" and {len(news) - 1} more {self._kind}s" if len(news) > 1 else ""
            problem = f"not authorised: {self._right} on {self._kind} {news[0]}{more}"
            log_retry(
                AuthorizationFailed(self._cluster, self._setting, f"{problem}; {self._consequence}")
            )
