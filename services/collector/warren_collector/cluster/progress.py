"""How far the rebuilding of state is: a log line every few seconds, with when it will be done."""

from __future__ import annotations

import structlog
from warren.clock import Clock

log = structlog.get_logger(__name__)

EVERY = 2.0  # seconds


class Progress:
    """Tells operators of a large cluster that the silence is work."""

    def __init__(self, cluster: str, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock
        self._began_at: float | None = None
        self._told_at = 0.0
        self._behind = 0

    def tell(self, behind: int, groups: int, positions: int) -> None:
        """`behind`: offsets still to read; 0 once there is nothing to rebuild."""
        now = self._clock.monotonic()
        if behind == 0:
            self._finish(now, groups, positions)
            return
        if self._began_at is None:
            self._began_at = self._told_at = now
            self._behind = behind
            return
        if now - self._told_at < EVERY:
            return
        rate = (self._behind - behind) / (now - self._told_at)
        log.info(
            "rebuilding state",
            cluster=self._cluster,
            records_left=behind,
            records_per_second=round(rate),
            seconds_left=round(behind / rate) if rate > 0 else None,
            groups=groups,
            positions=positions,
        )
        self._told_at, self._behind = now, behind

    def _finish(self, now: float, groups: int, positions: int) -> None:
        if self._began_at is not None:
            log.info(
                "state rebuilt",
                cluster=self._cluster,
                seconds=round(now - self._began_at, 1),
                groups=groups,
                positions=positions,
            )
            self._began_at = None
