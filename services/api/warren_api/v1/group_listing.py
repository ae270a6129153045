"""Which groups a list shows and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Literal

from warren.words import visible

from warren_api.context import Verdicts
from warren_api.http.patterns import matcher
from warren_api.model.group import GroupView
from warren_api.model.membership import Membership
from warren_api.model.shown_status import ShownStatusName
from warren_api.model.verdict import rank
from warren_api.v1.paging import Entry, Key, largest_first

GroupRow = GroupView | Membership
GroupSort = Literal["worst", "lag", "time_lag", "status_age", "name"]


def wanted(
    rows: Iterable[GroupRow],
    verdicts: Verdicts,
    *,
    cluster: str | None = None,
    status: Iterable[ShownStatusName] = (),
    regex: str | None = None,
    topic: str | None = None,
    finds: Callable[[GroupRow], bool] | None = None,
) -> list[GroupRow]:
    """Those that match everything that is given.

    Raises ValueError when `regex` is no regular expression.
    """
    if cluster is None and not status and regex is None and topic is None and finds is None:
        return list(rows)
    matches = matcher(regex) if regex else None
    statuses = set(status)
    return [
        row
        for row in rows
        if (cluster is None or row.cluster == cluster)
        and (not statuses or (isinstance(row, GroupView) and verdicts(row).status in statuses))
        and (matches is None or matches(row.group))
        and (topic is None or topic in _topics(row))
        and (finds is None or finds(row))
    ]


def unread(rows: Iterable[GroupRow], topic: str, cluster: str | None) -> list[str]:
    """What to say of a topic that none of the groups reads, with names that may have been meant."""
    here = (row for row in rows if cluster is None or row.cluster == cluster)
    read = {each for row in here for each in _topics(row)}
    if topic in read:
        return []
    near = get_close_matches(topic, read)
    meant = f" Did you mean {' or '.join(map(visible, near))}?" if near else ""
    return [f"No group reads the topic {visible(topic)}.{meant}"]


def entries(rows: Iterable[GroupRow], sort: GroupSort, verdicts: Verdicts) -> list[Entry[GroupRow]]:
    """Ready to be sorted: the largest lag, time lag or status age first, unknown ones last."""
    if sort == "worst":
        return [Entry((row.cluster, row.group), _worst(row, verdicts), row) for row in rows]
    key = _KEYS[sort]
    return [
        Entry((row.cluster, row.group), (*key(row, verdicts), row.cluster, row.group), row)
        for row in rows
    ]


def _topics(row: GroupRow) -> Iterable[str]:
    return row.event.topics if isinstance(row, GroupView) else row.topics


def _worst(row: GroupRow, verdicts: Verdicts) -> Key:
    """As the pages show them, with the name; what is not judged comes last."""
    if isinstance(row, Membership):
        return (2, 0, 0, 0, row.cluster, row.group)
    return rank(row, verdicts(row))


def _lag(row: GroupRow, _: Verdicts) -> Key:
    return largest_first(row.event.total_lag if isinstance(row, GroupView) else None)


def _time_lag(row: GroupRow, _: Verdicts) -> Key:
    """What the group is late at least, where only that is known."""
    measured = row.freshness if isinstance(row, GroupView) else None
    return largest_first(measured.late_ms if measured else None)


def _status_age(row: GroupRow, verdicts: Verdicts) -> Key:
    since = verdicts(row).since if isinstance(row, GroupView) else None
    return largest_first(None if since is None else -since)


def _name(*_: object) -> Key:
    return ()


_KEYS: dict[str, Callable[[GroupRow, Verdicts], Key]] = {
    "lag": _lag,
    "time_lag": _time_lag,
    "status_age": _status_age,
    "name": _name,
}
