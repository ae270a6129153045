"""Trouble that lasts is told when it begins, now and then while it lasts, and once it is over."""

from __future__ import annotations

import structlog
from warren.clock import Clock
from warren.errors import KafkaError
from warren.kafka.connection import REPORT_EVERY, log_retry

log = structlog.get_logger(__name__)


class Trouble:
    """What keeps one cluster's events from being published, or one of its sources from answering.

    `over` is what is said in the end.
    """

    def __init__(self, cluster: str, clock: Clock, over: str = "publishing again") -> None:
        self._cluster = cluster
        self._clock = clock
        self._over = over
        self._kind: type[KafkaError] | None = None
        self._began_at = 0.0
        self._told_at = 0.0

    def tell(self, error: KafkaError) -> None:
        now = self._clock.monotonic()
        if self._kind is None:
            self._began_at = now
        if self._kind is not type(error) or now - self._told_at >= REPORT_EVERY:
            log_retry(error)
            self._kind, self._told_at = type(error), now

    def over(self) -> None:
        if self._kind is not None:
            self._kind = None
            seconds = round(self._clock.monotonic() - self._began_at, 1)
            log.info(self._over, cluster=self._cluster, after_seconds=seconds)
