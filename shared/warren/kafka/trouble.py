"""Trouble that lasts is told when it begins, now and then while it lasts, and once it is over."""

from collections.abc import Iterable

import structlog

from warren.clock import Clock
from warren.errors import AuthorizationFailed, KafkaError
from warren.kafka.connection import REPORT_EVERY, log_retry
from warren.standstill import Look, obstacle

log = structlog.get_logger(__name__)


class Trouble:
    """What keeps some work with a cluster from being done. Written by one thread, read by any."""

    def __init__(self, cluster: str, clock: Clock, over: str = "publishing again") -> None:
        """`over` is what is said in the end."""
        self._cluster = cluster
        self._clock = clock
        self._over = over
        self._problem: KafkaError | None = None
        self._began_at = 0.0
        self._told_at = 0.0

    @property
    def problem(self) -> KafkaError | None:
        """What was told last; None when it is over."""
        return self._problem

    def look(self) -> Look:
        """Look at the work: while there is trouble, none of it is done."""
        return obstacle(self._problem)

    def tell(self, error: KafkaError) -> None:
        """The work was tried in vain: one line when that begins, changes its kind, or lasts."""
        now, before = self._clock.monotonic(), self._problem
        self.note(error)
        if type(before) is not type(error) or now - self._told_at >= REPORT_EVERY:
            log_retry(error)
            self._told_at = now

    def note(self, error: KafkaError) -> None:
        """The same, of what somebody else has told already."""
        if self._problem is None:
            self._began_at = self._clock.monotonic()
        self._problem = error

    def over(self) -> None:
        """The work was done: one line where there was trouble."""
        if self._problem is not None:
            self._problem = None
            seconds = round(self._clock.monotonic() - self._began_at, 1)
            log.info(self._over, cluster=self._cluster, after_seconds=seconds)


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
