"""Incidents of groups whose fold is lost, or cannot be read: their topic knows them, too."""

from collections.abc import Collection
from contextlib import suppress

import structlog
from warren.contracts import INCIDENTS, GroupIncidentEvent
from warren.errors import ContractViolation, KafkaError
from warren.kafka.topic_reader import newest_values
from warren.settings import HomeSettings

log = structlog.get_logger(__name__)


def read_folded(
    home: HomeSettings, partitions: Collection[int]
) -> dict[bytes, tuple[int, GroupIncidentEvent]]:
    """By key, the partition and the newest event of the group's incident. Reads these partitions
    from beginning to end, which takes a while; empty when the cluster does not answer.
    """
    found = {}
    try:
        for partition, values in newest_values(home, INCIDENTS, partitions).items():
            for key, value in values.items():
                with suppress(ContractViolation):  # of nobody's making
                    found[key] = partition, GroupIncidentEvent.from_bytes(value)
    except KafkaError as error:
        log.warning("incidents of lost states are not known", problem=str(error))
    return found
