"""All groups in one answer: which are shown, in which order, and what is to be said of them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from warren_api.group_row import Asked, GroupRow
from warren_api.model.group import GroupView
from warren_api.model.status_history import RecordedChange
from warren_api.model.verdict import rank
from warren_api.pages.list_view import ListView, paged
from warren_api.pages.totals import Totals, no_groups, together
from warren_api.search import Search

GROUPS_SHOWN = 50  # on one page
HOUR_MS = 3_600_000

Sort = Literal["worst", "group", "lag", "late", "loss", "since"]
# What is looked for first: the largest lag, but the nearest loss and what has just begun.
_FALLING = frozenset({"lag", "late", "since"})


@dataclass(frozen=True)
class View(ListView):
    """Which groups are asked for."""

    falling = _FALLING
    one_way = frozenset({"worst"})

    sort: Sort = "worst"


class Overview(NamedTuple):
    """`rows`: one page of those that match; all else is about all groups. `losing` have lost
    records, `endangered` will within the hour, the first at `first_loss_at` (Unix milliseconds).
    """

    rows: list[GroupRow]
    first: int
    matching: int
    page: int
    pages: int
    by_cluster: dict[str, Totals]
    totals: Totals
    urgent: int
    looked_after: int
    losing: int
    endangered: int
    first_loss_at: int | None

    @property
    def groups(self) -> int:
        return sum(self.totals.values())


class LastChanges(NamedTuple):
    """The newest change of all, and how many incidents ended within the last hour."""

    newest: RecordedChange | None
    ended: int


def overview(views: Sequence[GroupView], asked: Asked, search: Search, view: View) -> Overview:
    """`views`: worst first, as long as all are known."""
    by_cluster: dict[str, Totals] = {}
    urgent, are_known = [], True
    for each in views:
        verdict = asked.verdicts(each)
        if (counts := by_cluster.get(each.cluster)) is None:
            counts = by_cluster[each.cluster] = no_groups()
        counts[verdict.status] = counts.get(verdict.status, 0) + 1
        if not verdict.is_known:
            are_known = False
        elif each.needs_somebody:
            urgent.append(GroupRow(each, verdict, asked))
    matching = _matching(views, asked, search, view, are_known=are_known)
    shown = paged(matching, view.page, GROUPS_SHOWN)
    endangered = [row for row in urgent if row.view.is_losing and not row.view.lost_records]
    return Overview(
        rows=[asked.row(each) for each in shown.rows],
        first=shown.first,
        matching=shown.matching,
        page=shown.page,
        pages=shown.pages,
        by_cluster=by_cluster,
        totals=together(by_cluster.values()),
        urgent=sum(not row.is_looked_after for row in urgent),
        looked_after=sum(row.is_looked_after for row in urgent),
        losing=sum(row.view.lost_records > 0 for row in urgent),
        endangered=len(endangered),
        first_loss_at=min((at for row in endangered if (at := row.first_loss_at)), default=None),
    )


def _matching(
    views: Sequence[GroupView], asked: Asked, search: Search, view: View, *, are_known: bool
) -> Sequence[GroupView]:
    """In order. Rows are made of all only where a search or an order looks at them."""
    if not search.text and view.sort == "worst" and are_known:
        return views[::-1] if view.order == "desc" else views
    rows = (asked.row(each) for each in views)
    return [row.view for row in _sorted([row for row in rows if search.finds(row)], view)]


def last_changes(changes: Iterable[RecordedChange], now: int) -> LastChanges:
    newest: RecordedChange | None = None
    ended = set()
    for recorded in changes:
        if newest is None or recorded.at >= newest.at:
            newest = recorded
        if recorded.change.status in ("OK", "NOTFOUND") and recorded.at > now - HOUR_MS:
            ended.add(recorded.change.incident_id)
    return LastChanges(newest, len(ended))


def _sorted(rows: list[GroupRow], view: View) -> list[GroupRow]:
    if view.sort == "worst":
        if any(not row.verdict.is_known for row in rows):
            rows = sorted(rows, key=lambda row: rank(row.view, row.verdict))
        return rows[::-1] if view.order == "desc" else rows
    if view.sort == "group":
        return sorted(rows, key=_name, reverse=view.is_falling)
    measure = _MEASURES[view.sort]
    known = [(measured, row) for row in rows if (measured := measure(row)) is not None]
    known.sort(key=lambda pair: pair[0], reverse=view.is_falling)
    return [row for _, row in known] + [row for row in rows if measure(row) is None]


def _name(row: GroupRow) -> tuple[str, str]:
    return row.view.group.casefold(), row.view.cluster


_MEASURES: dict[Sort, Callable[[GroupRow], int | None]] = {
    "lag": lambda row: row.view.event.total_lag,
    "late": lambda row: row.late_ms,
    "loss": lambda row: -row.view.lost_records or row.view.time_to_loss_ms,
    "since": lambda row: row.since,
}
