"""Open incidents of groups whose stored state cannot be read: `warren.lag` knows them too."""

from collections.abc import Collection

import structlog
from warren.contracts import LagEvent, Status
from warren.contracts.topics import LAG
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
    topic = LAG.full_name(home.topic_prefix)
    newest: dict[bytes, bytes | None] = {}
    try:
        reader = TopicReader(HOME, "home", home, [topic], partitions=partitions)
        try:
            while not reader.caught_up:
                for record in reader.poll(POLL):
                    if (key := record.key()) is not None and key in keys:
                        newest[key] = record.value()
        finally:
            reader.close()
    except KafkaError as error:
        log.warning("incidents of unreadable states are not known", problem=str(error))
    found = {key: _incident(value) for key, value in newest.items() if value is not None}
    return {key: incident for key, incident in found.items() if incident is not None}


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
