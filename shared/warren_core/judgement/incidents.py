"""Identities of incidents, the times during which a group is not OK, and of status changes.

Nothing here is random: the same events give the same ids, so that a replay tells nobody anything
new.
"""

from __future__ import annotations

import uuid

from warren.contracts.lag_event import Incident
from warren.contracts.status import Status

from warren_core.judgement.state import Applied

_NAMESPACE = uuid.UUID("6d2a1f0e-5b0c-5f3a-9d7e-3a1c62f0b8d4")


def derived_id(*of: object) -> str:
    """Of whatever tells it from all others."""
    return str(uuid.uuid5(_NAMESPACE, "|".join(map(str, of))))


def incident_id(cluster: str, group: str, opened: int) -> str:
    return derived_id(cluster, group, opened)


def change_id(cluster: str, group: str, applied: Applied, previous: Status, status: Status) -> str:
    """Of a status change: one event cannot cause the same change twice."""
    cause = (applied.source, applied.position, applied.observed_at)
    return derived_id(cluster, group, *cause, previous.name, status.name)


def incident(cluster: str, group: str, opened: int | None) -> Incident | None:
    if opened is None:
        return None
    return Incident(id=incident_id(cluster, group, opened), opened_at=opened)
