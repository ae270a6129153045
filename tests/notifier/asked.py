"""Silences and acknowledgements as tests need them."""

from typing import Any

from notifier.builders import MINUTE, OPENED_AT
from warren.contracts import Acknowledgement, Silence
from warren.silences import Silences


def silence(id_: str = "quiet", **fields: Any) -> Silence:
    """Of all groups, for an hour from the time of the first event on."""
    values: dict[str, Any] = {
        "id": id_,
        "cluster": "",
        "group": ".*",
        "begins_at": OPENED_AT - MINUTE,
        "ends_at": OPENED_AT + 60 * MINUTE,
        "by": "ada",
        "why": "moving",
        "created_at": OPENED_AT - MINUTE,
    }
    return Silence(**(values | fields))


def acknowledgement(incident_id: str = "incident-1", **fields: Any) -> Acknowledgement:
    values: dict[str, Any] = {
        "incident_id": incident_id,
        "cluster": "prod",
        "group": "billing",
        "by": "ada",
        "why": "",
        "at": OPENED_AT,
    }
    return Acknowledgement(**(values | fields))


def put(silences: Silences, *asked: Silence | Acknowledgement) -> Silences:
    for one in asked:
        if isinstance(one, Silence):
            silences.apply(one.id.encode(), one.to_bytes())
        else:
            silences.apply_acknowledgement(one.incident_id.encode(), one.to_bytes())
    return silences
