"""Open incidents of groups whose stored state is lost, or cannot be read: topics know them too."""

from collections.abc import Collection
from contextlib import suppress

import structlog
from warren.contracts import INCIDENTS, LAG, GroupIncidentEvent, LagEvent, Status, Topic
from warren.errors import ContractViolation, KafkaError
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME
from warren.settings import HomeSettings
from warren_core.judgement.state import Applied, GroupState

log = structlog.get_logger(__name__)
POLL = 0.5  # seconds


def read_incidents(
    home: HomeSettings, keys: Collection[bytes], partitions: Collection[int]
) -> dict[bytes, GroupState]:
    """By key, of groups that were not OK when last judged. Reads these partitions from beginning
    to end, which takes a while; empty when the cluster does not answer.
    """
    newest = _newest(home, LAG, partitions)
    found = {key: _incident(value) for key, (_, value) in newest.items() if key in keys}
    return {key: incident for key, incident in found.items() if incident is not None}


def read_folded(
    home: HomeSettings, partitions: Collection[int]
) -> dict[bytes, tuple[int, GroupIncidentEvent]]:
    """By key, the partition and the newest event of the group's incident; likewise."""
    found = {}
    for key, (partition, value) in _newest(home, INCIDENTS, partitions).items():
        with suppress(ContractViolation):  # of nobody's making
            found[key] = partition, GroupIncidentEvent.from_bytes(value)
    return found


def _newest(
    home: HomeSettings, of: Topic, partitions: Collection[int]
) -> dict[bytes, tuple[int, bytes]]:
    """Partition and value of each key's newest record that is no tombstone."""
    newest: dict[bytes, tuple[int, bytes | None]] = {}
    try:
        reader = TopicReader(
            HOME, "home", home, [of.full_name(home.topic_prefix)], partitions=partitions
        )
        try:
            while not reader.caught_up:
                for record in reader.poll(POLL):
                    if (key := record.key()) is not None:
                        newest[key] = record.partition() or 0, record.value()
        finally:
            reader.close()
    except KafkaError as error:
        log.warning("incidents of lost states are not known", problem=str(error))
    return {key: (number, value) for key, (number, value) in newest.items() if value is not None}


def _incident(value: bytes) -> GroupState | None:
    try:
        event = LagEvent.from_bytes(value)
    except ContractViolation:
        return None
    if event.incident is None:
        return None
    # Which source it was, the event does not say: any is newer by its time.
    applied = Applied("offsets_topic", -1, event.evaluated_at)
    return GroupState.new(applied, Status[event.status], event.incident.opened_at)
