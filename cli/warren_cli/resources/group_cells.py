"""What the terminal says of a group, an entry of `GET /api/v1/groups`, cell by cell. Pure."""

from collections.abc import Mapping
from typing import Any

from rich.text import Text
from warren.reason_words import BREACHES, LOSS_UNKNOWN, broken_in_short, in_short
from warren.words import as_of, duration, grouped, visible

Group = Mapping[str, Any]

_STYLES = {"OK": "green", "WARN": "yellow", "ERR": "bold red", "NOTFOUND": "dim", "UNKNOWN": "dim"}
_BAD = ("WARN", "ERR")
_SAID = {"silence": "silenced", "acknowledgement": "acked"}
_URGENT = "bold red"
_STALE = "yellow"
_NONE = "-"
SECOND_MS = 1000


def status_of(group: Group) -> Text:
    """With what is broken beside it, and what people have said; `-` of a group that is not judged:
    a share group, or one without a commit.
    """
    shown = severity(group)
    status = Text().append(shown, style=_STYLES.get(shown, ""))
    if broken := worst_broken(group):
        what = BREACHES.get(broken.get("limit", "")) or broken["objective"]
        status.append(f" +{visible(what)}", style=_STYLES.get(broken["status"], ""))
    said = [name for field, name in _SAID.items() if group.get(field)]
    return status.append(f" {', '.join(said)}", style="dim") if said else status


def worst_broken(group: Group) -> Group | None:
    """The objective whose limit is broken worst."""
    return next(iter(group["broken_objectives"] or ()), None)


def severity(group: Group) -> str:
    """The worst of its own status and of the objectives that it does not keep."""
    return group["severity"] or group["status"] or _NONE


def known(lag: int | None) -> str:
    """Records; `-` where nobody knows."""
    return _NONE if lag is None else grouped(lag)


def lag(row: Group) -> str:
    """Of a group or a cluster: records, `≥` where that of some partition is unknown."""
    least = row["total_lag_at_least"]
    return f"≥ {grouped(least)}" if least else known(row["total_lag"])


def since(group: Group, now_ms: int) -> str:
    """How long the group has not been OK, or has its status; `-` when it never had another."""
    opened = (group.get("incident") or {}).get("opened_at") if severity(group) in _BAD else None
    at = group["since"] if opened is None else opened
    return _NONE if at is None else duration(now_ms - at)


def late(group: Group) -> Text:
    """Age of the oldest record not consumed; `>` before it where some partition's is unknown."""
    at_least, exactly = group.get("freshness_at_least_ms"), group.get("freshness_ms")
    if at_least is not None:
        return _measured(f"> {duration(at_least)}", group)
    return Text(_NONE) if exactly is None else _measured(duration(exactly), group)


def until_loss(group: Group, now_ms: int) -> Text:
    """Records lost, or the time from now until retention may delete some; urgent where the API says
    so.
    """
    is_urgent = group.get("data_loss") is not None
    lost, left = group.get("lost_records"), group.get("time_to_loss_ms")
    if lost:
        return _measured(f"lost {grouped(lost)}", group, _URGENT)
    reason = group.get("time_to_loss_reason")
    if left is None:
        return _measured("unknown", group) if reason else Text(_NONE)
    if reason in LOSS_UNKNOWN and not is_urgent:
        return _measured("unknown", group)  # of some partition: this is no lower bound
    left -= max(now_ms - (group.get("freshness_measured_at") or now_ms), 0)
    in_time = "now" if left < SECOND_MS else duration(left)
    return _measured(in_time, group, _URGENT if is_urgent else "")


def _measured(text: str, group: Group, style: str = "") -> Text:
    """Marked when it was measured too long ago."""
    value = Text().append(text, style=style)
    return value.append(" old", style=_STALE) if group.get("freshness_stale") else value


def worst_partition(group: Group) -> str:
    """The partition to look at; `-` when all are well."""
    worst = group["worst"]
    if worst is None or worst["status"] == "OK":
        return _NONE
    lag = "lag unknown" if worst["lag"] is None else f"lag {grouped(worst['lag'])}"
    return f"{worst['topic']}/{worst['partition']} {worst['status']}, {lag}"


def why(group: Group, now_ms: int) -> str:
    """The cause; else what is wrong with the worst partition, or why the status is not known; of
    who is OK, which objective is not kept. Empty when nothing is wrong, or that is unknown.
    """
    if group["status"] == "OK" and (broken := worst_broken(group)):
        return f"{broken['objective']}: {as_told(broken, now_ms)}"
    own = group.get("explanation") or ""
    if group["status"] == "UNKNOWN":
        return str(own)
    cause = group.get("cause")
    if cause and cause["name"] != "unknown":
        return said_of(cause)
    return (group["worst"] or {}).get("explanation") or own


def reason(group: Group, now_ms: int) -> str:
    """`why` in a few words, where somebody has put it so."""
    if group["status"] == "OK" and (broken := worst_broken(group)):
        said = broken_in_short(broken["objective"], broken.get("limit", ""))
        return said or why(group, now_ms)
    if group["status"] != "UNKNOWN":
        cause = group.get("cause") or {"name": "unknown"}
        if cause["name"] != "unknown" and cause.get("short"):
            return str(cause["short"])
        if cause["name"] == "unknown" and group.get("status_reason"):
            return in_short(group["status_reason"])
    return why(group, now_ms)


def said_of(cause: Group) -> str:
    """All sentences, the cause's first, then those of its consequences."""
    return "; also: ".join(str(each["sentence"]) for each in (cause, *(cause.get("also") or ())))


def as_told(broken: Group, now_ms: int) -> str:
    """What is wrong with an objective, with the time where it was told before: figures of then."""
    at = broken.get("told_at")
    return str(broken["sentence"]) if at is None else as_of(broken["sentence"], at, now_ms)


def incident(group: Group, now_ms: int) -> str:
    """The open incident: the first characters of its id and its age."""
    opened = group["incident"]
    return f"{opened['id'][:8]}, {duration(now_ms - opened['opened_at'])}" if opened else _NONE
