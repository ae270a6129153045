"""The newest freshness events of groups, as this instance or another one published them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

import structlog
from warren.clock import Clock
from warren.contracts import FreshnessEvent
from warren.contracts.topics import FRESHNESS
from warren.errors import ContractViolation
from warren.kafka.topic_reader import TopicReader
from warren.settings import HomeSettings

from warren_freshness.home.offsets_feed import HOME

log = structlog.get_logger(__name__)

# What was read by then is used: an older event of a group knows less of it, but nothing wrong.
MOST_SECONDS = 60.0
_POLL_SECONDS = 0.5


class LastEvents:
    """Reads partitions of warren.freshness to their ends. Blocks; needs no consumer group."""

    def __init__(self, home: HomeSettings, clock: Clock) -> None:
        self._home = home
        self._topic = FRESHNESS.full_name(home.topic_prefix)
        self._clock = clock

    def read(self, partitions: Collection[int]) -> dict[int, list[FreshnessEvent]]:
        """By partition; deleted groups are not there. Raises what the home cluster refuses."""
        newest: dict[int, dict[bytes, bytes]] = defaultdict(dict)
        reader = TopicReader(HOME, HOME, self._home, [self._topic], partitions=partitions)
        until = self._clock.monotonic() + MOST_SECONDS
        try:
            while not reader.caught_up:
                for message in reader.poll(_POLL_SECONDS):
                    of_partition = newest[message.partition() or 0]
                    key, value = message.key() or b"", message.value()
                    if value is None:
                        of_partition.pop(key, None)
                    else:
                        of_partition[key] = value
                if self._clock.monotonic() > until:
                    log.warning("not all of the last figures are read", seconds=MOST_SECONDS)
                    break
        finally:
            reader.close()
        return {p: _events(newest[p].values()) for p in partitions}


def _events(values: Collection[bytes]) -> list[FreshnessEvent]:
    """Those that this version can read."""
    events = []
    for value in values:
        try:
            events.append(FreshnessEvent.from_bytes(value))
        except ContractViolation as problem:
            log.warning("a last figure cannot be read", problem=problem.reason)
    return events
