"""What the terminal says of a group, an entry of `GET /api/v1/groups`, cell by cell. Pure."""

from collections.abc import Mapping
from typing import Any

from rich.text import Text
from warren.words import duration, grouped

Group = Mapping[str, Any]

_STYLES = {"OK": "green", "WARN": "yellow", "ERR": "bold red", "NOTFOUND": "dim", "UNKNOWN": "dim"}
_BAD = ("WARN", "ERR")
_SAID = {"silence": "silenced", "acknowledgement": "acked"}
_URGENT = "bold red"
_STALE = "yellow"
_NONE = "-"


def status_of(group: Group) -> Text:
    """With what people have said beside it; `-` of a group that is not judged."""
    shown = severity(group)
    status = Text().append(shown, style=_STYLES.get(shown, ""))
    said = [name for field, name in _SAID.items() if group.get(field)]
    return status.append(f" {', '.join(said)}", style="dim") if said else status


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
    return _measured((group["words"] or {}).get("late"), group)


def until_loss(group: Group) -> Text:
    """Records lost, or the time until retention may delete some; urgent where the API says so."""
    style = _URGENT if group.get("data_loss") is not None else ""
    return _measured((group["words"] or {}).get("loss"), group, style)


def _measured(text: str | None, group: Group, style: str = "") -> Text:
    """Marked when it was measured too long ago."""
    if not text:
        return Text(_NONE)
    value = Text().append(text, style=style)
    return value.append(" old", style=_STALE) if group.get("freshness_stale") else value


def worst_partition(group: Group) -> str:
    """The partition to look at; `-` when all are well."""
    worst = group["worst"]
    if worst is None or worst["status"] == "OK":
        return _NONE
    lag = "lag unknown" if worst["lag"] is None else f"lag {grouped(worst['lag'])}"
    return f"{worst['topic']}/{worst['partition']} {worst['status']}, {lag}"


def why(group: Group, _: int) -> str:
    """What is wrong, or why the status is not known. Empty when nothing is wrong."""
    return _unless_unknown(group, "why")


def reason(group: Group, _: int) -> str:
    """`why` in a few words."""
    return _unless_unknown(group, "short")


def _unless_unknown(group: Group, word: str) -> str:
    if group["status"] == "UNKNOWN":
        return str(group.get("explanation") or "")
    return str((group["words"] or {}).get(word, ""))


def incident(group: Group, now_ms: int) -> str:
    """The open incident: the first characters of its id and its age."""
    opened = group["incident"]
    return f"{opened['id'][:8]}, {duration(now_ms - opened['opened_at'])}" if opened else _NONE
