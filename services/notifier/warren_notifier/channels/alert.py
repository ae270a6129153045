"""An incident as Prometheus and Alertmanager know alerts: labels, annotations, times. Pure.

https://prometheus.io/docs/alerting/latest/alerts_api/: labels identify an alert, annotations are
those that were sent last; times are RFC 3339.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, StringConstraints
from warren.contracts import EVENT_TYPES, GroupStatusName
from warren.words import moment, shortened, visible

from warren_notifier.channels.channel import Delivered, Result
from warren_notifier.channels.http import HttpChannelSettings
from warren_notifier.channels.incident_text import IncidentText

LONGEST = 4_000  # characters of an annotation
SEVERITIES: dict[GroupStatusName, str] = {"WARN": "warning", "ERR": "critical"}
NAMES: dict[str, str] = dict(
    zip(
        EVENT_TYPES,
        ("WarrenGroupStatus", "WarrenGroupFreshness", "WarrenGroupRetention"),
        strict=True,
    )
)
_FNV_OFFSET, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3

Labels = dict[str, str]
LabelName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]


class AlertSettings(HttpChannelSettings):
    """A channel that speaks of alerts."""

    labels: dict[LabelName, str] = Field(
        default_factory=dict,
        description="Labels to add to alertname, cluster, consumer_group, severity and owner",
    )


def alert_labels(text: IncidentText, status: GroupStatusName, more: Mapping[str, str]) -> Labels:
    """What tells the incident at a severity from all other alerts; names as Kafka has them."""
    change = text.change
    found = {
        **more,
        **(change.labels or {}),
        "alertname": NAMES.get(text.event_type, "WarrenGroup"),
        "cluster": change.cluster,
        "consumer_group": change.group,
        "severity": SEVERITIES.get(status, "critical"),
    }
    return found | {"owner": text.owner} if text.owner else found


def alert_annotations(text: IncidentText) -> Labels:
    """What people are told; nothing that is empty."""
    change = text.change
    cause = change.cause if change.cause is not None and change.cause.is_known else None
    also = cause.also if cause is not None else []
    found = {
        "summary": text.title,
        "description": text.sentences,
        "cause": text.dated(visible(cause.sentence)) if cause is not None else "",
        "action": visible((cause.action if cause is not None else "") or ""),
        "also": text.dated(visible("; ".join(each.sentence for each in also))),
        "runbook_url": text.runbook_link,
        "lateness_seconds": _seconds(text.lateness_ms),
        "time_to_loss_seconds": _seconds(text.time_to_loss_ms),
    }
    return {name: shortened(value, LONGEST) for name, value in found.items() if value}


def alert(text: IncidentText, of: Labels, ends_at: int) -> dict[str, Any]:
    """As the API takes it. `ends_at`: Unix milliseconds; what lies behind is over."""
    found = {
        "labels": of,
        "annotations": alert_annotations(text),
        "startsAt": rfc3339(text.change.opened_at),
        "endsAt": rfc3339(max(ends_at, text.change.opened_at)),
    }
    return found | {"generatorURL": text.link} if text.link else found


def firing(
    text: IncidentText, receipt: str | None, more: Mapping[str, str]
) -> tuple[Labels | None, list[Labels]]:
    """The labels of the alert that fires now, None for none, and of those that are over.

    `receipt`: the labels of the one that fired until now, as JSON. With another severity or owner
    it is another alert. Where it is not known which one fires, all that may are over at the end.
    """
    fired = _fired(receipt)
    if not text.is_open:
        possible = [alert_labels(text, status, more) for status in SEVERITIES]
        return None, [fired] if fired else possible
    now = alert_labels(text, text.change.status, more)
    return now, [fired] if fired and fired != now else []


def with_receipt(result: Result, fires: Labels | None) -> Result:
    """What is delivered leaves the labels of the alert that fires now."""
    if isinstance(result, Delivered) and fires is not None:
        return Delivered(result.detail, json.dumps(fires))
    return result


def fingerprint(of: Labels) -> str:
    """Prometheus' fingerprint of labels: FNV-1a, 64 bits, over names and values in order."""
    value = _FNV_OFFSET
    for name, said in sorted(of.items()):
        for byte in b"".join((name.encode(), b"\xff", said.encode(), b"\xff")):
            value = ((value ^ byte) * _FNV_PRIME) & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def rfc3339(milliseconds: int) -> str:
    return moment(milliseconds).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _seconds(milliseconds: int | None) -> str:
    return "" if milliseconds is None else f"{milliseconds / 1000:g}"


def _fired(receipt: str | None) -> Labels:
    """Empty where there is no receipt, or that of another kind of channel."""
    try:
        found = json.loads(receipt or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
