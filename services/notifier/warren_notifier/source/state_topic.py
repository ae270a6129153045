"""`warren.notifier-state`, read back when partitions are assigned."""

from collections.abc import Collection
from dataclasses import dataclass

import structlog
from warren.contracts import NotifierState
from warren.contracts.topics import NOTIFIER_STATE
from warren.errors import ContractViolation
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME
from warren.settings import HomeSettings

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class StateTopic:
    """Reads whole partitions; the newest record per key counts, a tombstone removes it."""

    home: HomeSettings

    def read(self, partitions: Collection[int]) -> dict[int, list[NotifierState]]:
        """States by partition, oldest first.

        Raises TopicMissing, ClusterUnreachable, AuthenticationFailed or AuthorizationFailed.
        """
        newest: dict[int, dict[bytes, bytes]] = {number: {} for number in partitions}
        topic = NOTIFIER_STATE.full_name(self.home.topic_prefix)
        reader = TopicReader(HOME, HOME, self.home, [topic], partitions=partitions)
        try:
            while not reader.caught_up:
                for message in reader.poll(POLL_SECONDS):
                    values = newest[message.partition() or 0]
                    key, value = message.key() or b"", message.value()
                    values.pop(key, None)
                    if value is not None:
                        values[key] = value
        finally:
            reader.close()
        return {
            number: [state for value in values.values() for state in _parsed(number, value)]
            for number, values in newest.items()
        }


def _parsed(partition: int, value: bytes) -> list[NotifierState]:
    """A record that is no state is nothing that a notifier has written: named, and left alone."""
    try:
        return [NotifierState.from_bytes(value)]
    except ContractViolation as violation:
        log.error("state refused", partition=partition, reason=violation.reason)
        return []
