"""Incidents: the times during which a group is not OK, and their identities.

Nothing here is random: the same events give the same ids, so that a replay tells nobody anything
new.
"""

from __future__ import annotations

import uuid

from warren.contracts.lag_event import Incident
from warren.contracts.status import Status

from warren_core.judgement.state import Applied

MOST_OPENINGS = 6
_NAMESPACE = uuid.UUID("6d2a1f0e-5b0c-5f3a-9d7e-3a1c62f0b8d4")


def opened_at(previous: int | None, status: Status, now_ms: int) -> int | None:
    """When the incident that is open now began; None when the group is OK."""
    if status is Status.OK:
        return None
    return now_ms if previous is None else previous


def openings(known: tuple[int, ...], opened: int | None) -> tuple[int, ...]:
    """When the last incidents opened, with that of the one that is open now."""
    if opened is None or (known and known[-1] == opened):
        return known
    return (*known, opened)[-MOST_OPENINGS:]


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
