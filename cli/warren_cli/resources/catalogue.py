"""The resources: groups, topics, clusters, incidents, silences.

And what the terminal says of a group, an entry of `GET /api/v1/groups`, cell by cell. Pure.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rich.text import Text
from warren.reason_words import in_short
from warren.words import duration, grouped

Group = Mapping[str, Any]

_STYLES = {"OK": "green", "WARN": "yellow", "ERR": "bold red", "NOTFOUND": "dim", "UNKNOWN": "dim"}
_NOT_OK = ("WARN", "ERR", "UNKNOWN")
_SAID = {"silence": "silenced", "acknowledgement": "acked"}
_URGENT = "bold red"
_STALE = "yellow"


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
    opened = (group.get("incident") or {}).get("opened_at") if severity(group) in _NOT_OK else None
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
    """What is wrong, or was as far as is known, and why the status is not known. Empty when nothing
    is wrong.
    """
    return _or_unknown(group, "why")


def reason(group: Group, _: int) -> str:
    """`why` in a few words."""
    return _or_unknown(group, "short")


def _or_unknown(group: Group, word: str) -> str:
    unknown = group.get("explanation") if group["status"] == "UNKNOWN" else ""
    return "; ".join(filter(None, ((group["words"] or {}).get(word), unknown)))


def incident(group: Group, now_ms: int) -> str:
    """The open incident: the first characters of its id and its age."""
    opened = group["incident"]
    return f"{opened['id'][:8]}, {duration(now_ms - opened['opened_at'])}" if opened else _NONE


_NONE = "-"
SHORT_ID = 8
"""Characters of an incident's id in tables: commands take the beginning of one."""
Row = Mapping[str, Any]


class Column(NamedTuple):
    """`cell`: a row and now (Unix milliseconds) to text; None where nobody knows. `wide`: only with
    `-o wide`, `short`: only without. Where a terminal is narrow, `name`s and `text` are cut, and
    what is neither a name nor `kept` is left out, the last first, which is said; what is `spare`
    goes before a name is cut.
    """

    title: str
    cell: Callable[[Row, int], str | Text | None]
    right: bool = False
    wide: bool = False
    name: bool = False
    kept: bool = False
    text: bool = False
    short: bool = False
    spare: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    """`name`: of the path `/api/v1/NAME` and of the list in its body, plural."""

    name: str
    columns: tuple[Column, ...]
    identity: Callable[[Row], str]
    """What `-o name` prints, one line; `warren describe` takes it."""


def path_name(row: Row, kind: str) -> str:
    """CLUSTER/NAME."""
    return f"{row['cluster']}/{row[kind]}"


def ago(at: int | None, now_ms: int) -> str:
    """`-` for never."""
    return _NONE if at is None else duration(now_ms - at)


def rate(value: float | None) -> str:
    """Records per second."""
    return _NONE if value is None else f"{value:,.1f}/s"


def count(value: int | None) -> str:
    return _NONE if value is None else grouped(value)


def counts(by_status: Row) -> str:
    """`2 ERR, 1 WARN`; `-` when there is none."""
    return ", ".join(f"{n} {status}" for status, n in by_status.items() if n) or _NONE


def _said(row: Row) -> str:
    acknowledgement = row.get("acknowledgement")
    return _NONE if acknowledgement is None else acknowledgement["by"] or "somebody"


def _ends(row: Row, now_ms: int) -> str:
    if row["ends_at"] <= now_ms:
        return f"{ago(row['ends_at'], now_ms)} ago"
    if row["begins_at"] > now_ms:
        return f"begins in {duration(row['begins_at'] - now_ms)}"
    return f"in {duration(row['ends_at'] - now_ms)}"


def because(change: Row, *, brief: bool = False) -> str | None:
    """Why a status changed: the cause, or what is known else; `brief`: in a few words."""
    cause = change.get("cause")
    if cause and cause["name"] != "unknown":
        if brief:
            return str(cause.get("short") or cause["sentence"])
        return "; also: ".join(each["sentence"] for each in (cause, *(cause.get("also") or ())))
    if brief and change["reason"]:
        return in_short(change["reason"])
    found = change["explanation"] or (change["reason"] or "").replace("_", " ")
    return found or None


GROUPS = Resource(
    "groups",
    (
        Column("cluster", lambda row, _: row["cluster"], name=True),
        Column("group", lambda row, _: row["group"], name=True),
        Column("status", lambda row, _: status_of(row), kept=True),
        Column("why", reason, text=True, short=True),
        Column("late", lambda row, _: late(row), right=True),
        Column("loss in", lambda row, _: until_loss(row), right=True, spare=True),
        Column("since", since),
        Column("lag", lambda row, _: lag(row), right=True),
        Column("state", lambda row, _: row.get("state"), wide=True),
        Column("members", lambda row, _: count(row.get("member_count")), right=True, wide=True),
        Column("partitions", lambda row, _: counts(row["partition_counts"]), wide=True),
        Column("worst partition", lambda row, _: worst_partition(row), wide=True),
        Column("incident", incident, wide=True),
        Column("why", why, wide=True),
    ),
    lambda row: path_name(row, "group"),
)

STATUS = Resource(
    "groups",
    (Column("group", lambda row, _: path_name(row, "group"), name=True), *GROUPS.columns[2:]),
    GROUPS.identity,
)
"""As `warren status` shows them."""

TOPICS = Resource(
    "topics",
    (
        Column("cluster", lambda row, _: row["cluster"], name=True),
        Column("topic", lambda row, _: row["topic"], name=True),
        Column("partitions", lambda row, _: count(row["partition_count"]), right=True),
        Column("groups", lambda row, _: count(row["group_count"]), right=True),
        Column("produced", lambda row, _: rate(row["produce_rate"]), right=True),
        Column("consumed", lambda row, _: rate(row["consume_rate"]), right=True),
        Column("largest lag", lambda row, _: count(row["max_lag"]), right=True),
    ),
    lambda row: path_name(row, "topic"),
)

CLUSTERS = Resource(
    "clusters",
    (
        Column("cluster", lambda row, _: row["cluster"], name=True),
        Column("state", lambda row, _: row["state"], kept=True),
        Column("since", lambda row, now: ago(row["state_since"], now)),
        Column("groups", lambda row, _: counts(row["status_counts"])),
        Column("losing data", lambda row, _: count(row["losing"]), right=True),
        Column("will lose data", lambda row, _: count(row.get("endangered")), right=True),
        Column("topics", lambda row, _: count(row["topics"]), right=True),
        Column("lag", lambda row, _: lag(row), right=True),
        Column("not judged", lambda row, _: count(row["not_judged"]), right=True, wide=True),
        Column("partitions", lambda row, _: count(row["partitions"]), right=True, wide=True),
        Column("problem", lambda row, _: row["problem"], wide=True),
    ),
    lambda row: str(row["cluster"]),
)

INCIDENTS = Resource(
    "incidents",
    (
        Column("incident", lambda row, _: row["id"][:SHORT_ID], kept=True, short=True),
        Column("incident", lambda row, _: row["id"], kept=True, wide=True),
        Column("cluster", lambda row, _: row["cluster"], name=True),
        Column("group", lambda row, _: row["group"], name=True),
        Column("worst", lambda row, _: row["worst"], kept=True),
        Column("why", lambda row, _: row["short"], text=True, short=True),
        Column("started", lambda row, now: f"{ago(row['opened_at'], now)} ago"),
        Column(
            "duration",
            lambda row, _: (
                "ongoing" if row["closed_at"] is None else ago(row["opened_at"], row["closed_at"])
            ),
        ),
        Column("acked by", lambda row, _: _said(row)),
        Column("lag now", lambda row, _: count((row["now"] or {}).get("total_lag")), right=True),
        Column("largest lag", lambda row, _: count(row["max_total_lag"]), right=True, wide=True),
        Column("changes", lambda row, _: count(len(row["changes"])), right=True, wide=True),
        Column("why", lambda row, _: row["why"], wide=True),
    ),
    lambda row: str(row["id"]),
)

SILENCES = Resource(
    "silences",
    (
        Column("silence", lambda row, _: row["id"], kept=True),
        Column("cluster", lambda row, _: row["cluster"] or "all", name=True),
        Column("group", lambda row, _: row["group"] or "all", name=True),
        Column("owner", lambda row, _: row.get("owner") or "any", name=True),
        Column("why", lambda row, _: row["why"], text=True),
        Column("ends", _ends, kept=True),
        Column("by", lambda row, _: row["by"]),
    ),
    lambda row: str(row["id"]),
)
