"""All groups in one answer: which are shown, in which order, and what is to be said of them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from warren_api.group_row import Asked, GroupRow
from warren_api.model.cluster import TROUBLE, ClusterView
from warren_api.model.group import Rank
from warren_api.model.group_views import GroupName, Standing
from warren_api.model.read_model import ReadModel
from warren_api.model.status_history import RecordedChange
from warren_api.model.verdict import rank
from warren_api.pages.headline import Standings
from warren_api.pages.list_view import ListView, Paged, paged, place_of
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
    """`rows`: one page of those that match; all else is about all groups."""

    rows: list[GroupRow]
    first: int
    matching: int
    page: int
    pages: int
    by_cluster: dict[str, Totals]
    totals: Totals
    standings: Standings


class LastChanges(NamedTuple):
    """The newest change of all, and how many incidents ended within the last hour."""

    newest: RecordedChange | None
    ended: int


def overview(
    model: ReadModel,
    standing: Standing,
    asked: Asked,
    search: Search,
    view: View,
    clusters: Sequence[ClusterView] = (),
) -> Overview:
    """What is said of them all follows from `standing`: few are looked at."""
    by_cluster = _by_cluster(standing)
    shown = _page(model, standing, asked, search, view)
    totals = together(by_cluster.values())
    return Overview(
        rows=shown.rows,
        first=shown.first,
        matching=shown.matching,
        page=shown.page,
        pages=shown.pages,
        by_cluster=by_cluster,
        totals=totals,
        standings=_standings(standing, asked, totals, clusters),
    )


def _standings(
    standing: Standing, asked: Asked, totals: Totals, clusters: Sequence[ClusterView]
) -> Standings:
    unknown = {id(each) for each in standing.unknown}
    known = [each for each in standing.troubled if id(each) not in unknown]
    urgent = [asked.row(each) for each in known if each.needs_somebody]
    endangered = [row for row in urgent if row.view.is_losing and not row.view.lost_records]
    return Standings(
        groups=sum(totals.values()),
        urgent=sum(not row.is_looked_after for row in urgent),
        handled=sum(row.is_looked_after for row in urgent),
        warned=len(known) - len(urgent),
        losing=sum(row.view.lost_records > 0 for row in urgent),
        endangered=len(endangered),
        first_loss_at=min((at for row in endangered if (at := row.first_loss_at)), default=None),
        unknown=totals["UNKNOWN"],
        away=[(one.cluster, one.state) for one in clusters if one.state in TROUBLE],
        clusters=len(clusters),
    )


def _by_cluster(standing: Standing) -> dict[str, Totals]:
    by_cluster: dict[str, Totals] = {}
    for (cluster, status), count in standing.judged.items():
        totals = by_cluster.setdefault(cluster, no_groups())
        totals[status] = totals.get(status, 0) + count
    for each in standing.unknown:
        by_cluster[each.cluster][each.event.status] -= 1
        by_cluster[each.cluster]["UNKNOWN"] += 1
    return by_cluster


def _page(
    model: ReadModel, standing: Standing, asked: Asked, search: Search, view: View
) -> Paged[GroupRow]:
    if search.text or view.sort != "worst":
        rows = (asked.row(each) for each in model.groups())
        found = _sorted([row for row in rows if search.finds(row)], view)
        return paged(found, view.page, GROUPS_SHOWN)
    bad = {id(each): each for each in (*standing.troubled, *standing.unknown)}
    worst = sorted((asked.row(each) for each in bad.values()), key=_rank)
    fine = standing.fine
    matching = len(worst) + len(fine)
    first, page, pages = place_of(view.page, matching, GROUPS_SHOWN)
    numbers = range(first, min(first + GROUPS_SHOWN, matching))
    if view.order == "desc":
        numbers = range(matching - 1 - first, matching - 1 - first - len(numbers), -1)
    shown = [
        worst[n] if n < len(worst) else _row(model, asked, fine[n - len(worst)]) for n in numbers
    ]
    return Paged([row for row in shown if row], first, matching, page, pages)


def _row(model: ReadModel, asked: Asked, name: GroupName) -> GroupRow | None:
    """None where it has gone meanwhile."""
    view = model.group(*name)
    return None if view is None else asked.row(view)


def _rank(row: GroupRow) -> Rank:
    return rank(row.view, row.verdict)


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
            rows = sorted(rows, key=_rank)
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
