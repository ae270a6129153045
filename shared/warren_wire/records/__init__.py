"""Decoding of the group coordinator's records (`__consumer_offsets`): pure, bytes in, records out.

Field layouts are those of Kafka's schema files, group-coordinator/src/main/resources/common/message
(checked against Kafka 4.3.0).
"""

from warren_wire.records.assignment import Subscription
from warren_wire.records.key import (
    GroupMetadata,
    GroupRecord,
    Malformed,
    Member,
    Skipped,
)

__all__ = [
    "GroupMetadata",
    "GroupRecord",
    "Malformed",
    "Member",
    "Skipped",
    "Subscription",
]
