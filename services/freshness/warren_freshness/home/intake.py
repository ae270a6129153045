"""Taking offset events in: folded, ignored or dead-lettered."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import structlog
from confluent_kafka import Message
from warren.clock import Clock
from warren.contracts import DeadLetter, OffsetEvent
from warren.errors import ContractViolation
from warren.metrics.freshness import FRESHNESS_EVENTS
from warren_core.judgement.observation import check_columns, check_ranges

from warren_freshness.positions.group_positions import GroupPositions

log = structlog.get_logger(__name__)

SERVICE = "freshness"


class Intake:
    """Folds messages of warren.offsets into positions; `clusters` are those that are watched."""

    def __init__(self, positions: GroupPositions, clusters: Collection[str], clock: Clock) -> None:
        self._positions = positions
        self._clusters = clusters
        self._clock = clock
        self._foreign: set[str] = set()

    def take(self, messages: Iterable[Message]) -> list[DeadLetter]:
        """What could not be used is returned, to be published."""
        refused: list[DeadLetter] = []
        for message in messages:
            try:
                event = OffsetEvent.from_bytes(message.value())
                check_ranges(event)
                check_columns(event)
            except ContractViolation as problem:
                refused.append(self._dead_letter(message, problem))
                result = "refused"
            else:
                result = self._fold(event, message.partition() or 0)
            FRESHNESS_EVENTS.labels(result).inc()
        return refused

    def _fold(self, event: OffsetEvent, home_partition: int) -> str:
        if event.cluster in self._clusters:
            return "applied" if self._positions.fold(event, home_partition) else "duplicate"
        if event.cluster not in self._foreign:
            self._foreign.add(event.cluster)
            log.warning(
                "events of a cluster that is not configured are ignored",
                cluster=event.cluster,
                setting=f"clusters.{event.cluster}",
            )
        return "foreign"

    def _dead_letter(self, message: Message, problem: ContractViolation) -> DeadLetter:
        topic, partition, offset = message.topic(), message.partition(), message.offset()
        log.warning(
            "event refused",
            topic=topic,
            partition=partition,
            offset=offset,
            problem=problem.reason,
        )
        return DeadLetter.of(
            service=SERVICE,
            topic=topic or "",
            partition=-1 if partition is None else partition,
            offset=-1 if offset is None else offset,
            reason=problem.reason,
            failed_at=self._clock.now_ms(),
            key=message.key(),
            value=message.value(),
        )
