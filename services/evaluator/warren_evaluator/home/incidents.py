"""Incidents of groups whose fold is lost, or cannot be read: their topic knows them, too."""

from collections.abc import Collection
from contextlib import suppress

import structlog
from warren.contracts import INCIDENTS, GroupIncidentEvent
from warren.errors import ContractViolation, KafkaError
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME
from warren.settings import HomeSettings

log = structlog.get_logger(__name__)
POLL = 0.5  # seconds


def read_folded(
    home: HomeSettings, partitions: Collection[int]
) -> dict[bytes, tuple[int, GroupIncidentEvent]]:
    """By key, the partition and the newest event of the group's incident. Reads these partitions
    from beginning to end, which takes a while; empty when the cluster does not answer.
    """
    newest: dict[bytes, tuple[int, bytes | None]] = {}
    try:
        reader = TopicReader(
            HOME, "home", home, [INCIDENTS.full_name(home.topic_prefix)], partitions=partitions
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
    found = {}
    for key, (partition, value) in newest.items():
        with suppress(ContractViolation):  # of nobody's making, or a tombstone
            found[key] = partition, GroupIncidentEvent.from_bytes(value)
    return found
