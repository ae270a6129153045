"""What is pending and what is remembered, as metrics."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from warren.clock import Clock
from warren.metrics import notifier as metrics

from warren_notifier.owned import Owned, OwnedSubjects
from warren_notifier.routing.routes import Grouping
from warren_notifier.state.telling import Telling

PART = 200  # states between two turns of everything else
SHARE = 50  # of so many seconds one is spent on looking at all states


@dataclass(slots=True)
class _Figures:
    """Of the states that were looked at; dictionaries are by channel."""

    states: int = 0
    bytes: int = 0
    open: int = 0
    pending: dict[str, int] = field(default_factory=dict)
    silenced: dict[str, int] = field(default_factory=dict)
    oldest: dict[str, int] = field(default_factory=dict)
    """Since when a delivery has been due, Unix ms."""


class Gauges:
    """Of one session."""

    def __init__(
        self, channels: Iterable[str], owned: OwnedSubjects, grouping: Grouping, clock: Clock
    ) -> None:
        self._channels = list(channels)
        self._owned = owned
        self._grouping = grouping
        self._clock = clock
        self._not_before = 0.0

    async def show(self) -> None:
        """In parts; not again at once where that takes long."""
        started = self._clock.monotonic()
        if started < self._not_before:
            return
        for _ in self._look():
            await asyncio.sleep(0)
        now = self._clock.monotonic()
        self._not_before = now + SHARE * (now - started)

    def show_at_once(self) -> None:
        for _ in self._look():
            pass

    def _look(self) -> Iterator[None]:
        zero = dict.fromkeys(self._channels, 0)
        figures = _Figures(pending=dict(zero), silenced=dict(zero))
        for number, owned in enumerate(self._owned.all(), 1):
            self._count(owned, figures)
            if number % PART == 0:
                yield
        self._set(figures)

    def _count(self, owned: Owned, figures: _Figures) -> None:
        figures.states += 1
        figures.bytes += owned.stored_bytes
        figures.open += owned.state.incident is not None and not owned.subject.is_whole
        for telling in owned.state.tellings.values():
            if telling.delivery is None:
                continue
            channel = telling.told.channel
            if telling.is_held:
                figures.silenced[channel] = figures.silenced.get(channel, 0) + 1
                continue
            figures.pending[channel] = figures.pending.get(channel, 0) + 1
            due = self._due(telling)
            figures.oldest[channel] = min(figures.oldest.get(channel, due), due)

    def _due(self, telling: Telling) -> int:
        """From when on a delivery is late; one that is told with others waits for them."""
        if telling.delivery is None:
            return self._clock.now_ms()
        pending, key = telling.delivery.pending, telling.told.digest
        due = pending.accepted_at if pending.attempts else pending.next_attempt_at
        return due if key is None else due + self._grouping.interval_ms(key)

    def _set(self, figures: _Figures) -> None:
        now = self._clock.now_ms()
        for channel, count in figures.pending.items():
            age = (now - figures.oldest.get(channel, now)) / 1000
            metrics.NOTIFIER_PENDING.labels(channel).set(count)
            metrics.NOTIFIER_OLDEST_PENDING.labels(channel).set(max(age, 0))
        for channel, count in figures.silenced.items():
            metrics.NOTIFIER_SILENCED.labels(channel).set(count)
        metrics.NOTIFIER_OPEN_INCIDENTS.set(figures.open)
        metrics.NOTIFIER_STATES.set(figures.states)
        metrics.NOTIFIER_STATE_BYTES.set(figures.bytes)
        metrics.NOTIFIER_PARTITIONS.set(len(self._owned.partitions))
