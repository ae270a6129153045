"""What is pending and what is remembered, as metrics."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator

from warren.contracts import DigestKey
from warren.metrics import notifier as metrics

from warren_notifier.delivery.outcomes import Outcomes
from warren_notifier.state.telling import Delivery

PART = 200  # states between two turns of everything else
SHARE = 50  # of so many seconds one is spent on looking at all states


class Gauges:
    """Of one session."""

    def __init__(self, channels: Iterable[str], outcomes: Outcomes) -> None:
        self._channels = list(channels)
        self._outcomes, self._clock = outcomes, outcomes.clock
        self._not_before = 0.0

    async def show(self) -> None:
        """In parts; not again at once where that takes long."""
        started = self._clock.monotonic()
        if started < self._not_before:
            return
        for _ in self.look():
            await asyncio.sleep(0)
        now = self._clock.monotonic()
        self._not_before = now + SHARE * (now - started)

    def look(self) -> Iterator[None]:
        """Part by part; what was seen is shown at the end."""
        due: dict[str, list[int]] = {channel: [] for channel in self._channels}
        silenced = Counter(dict.fromkeys(self._channels, 0))
        states = size = opened = 0
        for states, owned in enumerate(self._outcomes.owned.all(), 1):
            size += owned.stored_bytes
            opened += owned.state.incident is not None
            for telling in owned.state.tellings.values():
                if telling.is_held:
                    silenced[telling.notified.channel] += 1
                elif telling.delivery is not None:
                    due.setdefault(telling.notified.channel, []).append(
                        self._due(telling.delivery, telling.notified.digest)
                    )
            if states % PART == 0:
                yield
        now = self._clock.now_ms()
        for channel, times in due.items():
            age = (now - min(times, default=now)) / 1000
            metrics.NOTIFIER_PENDING.labels(channel).set(len(times))
            metrics.NOTIFIER_OLDEST_PENDING.labels(channel).set(max(age, 0))
        for channel, count in silenced.items():
            metrics.NOTIFIER_SILENCED.labels(channel).set(count)
        metrics.NOTIFIER_OPEN_INCIDENTS.set(opened)
        metrics.NOTIFIER_STATES.set(states)
        metrics.NOTIFIER_STATE_BYTES.set(size)
        metrics.NOTIFIER_PARTITIONS.set(len(self._outcomes.owned.partitions))

    def _due(self, delivery: Delivery, key: DigestKey | None) -> int:
        """From when on a delivery is late; one that is told with others waits for them."""
        pending = delivery.pending
        due = pending.accepted_at if pending.attempts else pending.next_attempt_at
        return due if key is None else due + self._outcomes.router.grouping.interval_ms(key)
