"""What some records lead to, written together before any of it is sent."""

from __future__ import annotations

from dataclasses import dataclass, field

from warren.clock import Clock
from warren.kafka.batched_writer import Record

from warren_notifier.routing.change import Subject
from warren_notifier.silences.holds import Holds, HoldsAt
from warren_notifier.state.delivery import Delivery
from warren_notifier.state.subject_state import SubjectState
from warren_notifier.state.telling import Telling


@dataclass(slots=True)
class Batch:
    """States that changed, records beside them, and what is to be told then."""

    records: list[Record] = field(default_factory=list)
    news: list[tuple[Telling, Delivery]] = field(default_factory=list)
    states: dict[tuple[int, Subject], SubjectState] = field(default_factory=dict)
    _holds: HoldsAt | None = None

    def holds(self, holds: Holds, clock: Clock) -> HoldsAt:
        """What holds, the same for all of the batch."""
        if self._holds is None:
            self._holds = holds.at(clock.now_ms())
        return self._holds
