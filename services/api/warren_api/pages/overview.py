"""All groups in one answer: which are shown, in which order, what is to be said of them all, and
rows as HTML, made anew where something in them is another.

A page of them is asked for every few seconds, and few have changed by then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from jinja2 import Environment
from markupsafe import Markup

from warren_api.group_row import Asked, GroupRow, Kind
from warren_api.model.cluster import TROUBLE, ClusterView
from warren_api.model.group import GroupView, Rank
from warren_api.model.group_views import GroupName, Standing
from warren_api.model.read_model import ReadModel
from warren_api.model.status_history import RecordedChange
from warren_api.model.topics import TopicIndex
from warren_api.model.verdict import rank
from warren_api.pages.environment import age
from warren_api.pages.headline import Standings, Totals, no_groups, together
from warren_api.pages.lists import ListView, Paged, paged, place_of
from warren_api.pages.trends import Drawn, Trends, rates_of
from warren_api.search import Search

GROUPS_SHOWN = 50  # on one page
HOUR_MS = 3_600_000

Sort = Literal["worst", "name", "lag", "late", "loss", "since"]
# What is looked for first: the largest lag, but the nearest loss and what has just begun.
_FALLING = frozenset({"lag", "late", "since"})


_TABS: dict[str, Kind] = {f"is:{kind}": kind for kind in get_args(Kind)}


@dataclass(frozen=True)
class View(ListView):
    """Which groups are asked for."""

    falling = _FALLING
    one_way = frozenset({"worst"})

    sort: Sort = "worst"

    @property
    def tab(self) -> Kind | None:
        """Of which kind only; None for all of them."""
        return next((kind for word in self.q.split() if (kind := _TABS.get(word))), None)

    @property
    def rest(self) -> str:
        """What is searched for under every tab."""
        return " ".join(word for word in self.q.split() if word not in _TABS)

    def tab_url(self, kind: Kind) -> str:
        """The same search under another tab."""
        return self.found_url(f"{self.rest} is:{kind}".strip())


class Overview(NamedTuple):
    """`rows`: one page of those that match; all else but `tabs` is about all groups."""

    rows: list[GroupRow]
    first: int
    matching: int
    page: int
    pages: int
    by_cluster: dict[str, Totals]
    totals: Totals
    standings: Standings
    tabs: dict[Kind, int]
    """Groups of each kind, of those that the rest of the search finds."""


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
    standings = _standings(standing, asked, totals, clusters)
    return Overview(
        rows=shown.rows,
        first=shown.first,
        matching=shown.matching,
        page=shown.page,
        pages=shown.pages,
        by_cluster=by_cluster,
        totals=totals,
        standings=standings,
        tabs=_found_tabs(model, asked, view.rest) if view.rest else _all_tabs(standings),
    )


def _all_tabs(of: Standings) -> dict[Kind, int]:
    bad = of.urgent + of.warned + of.handled + of.unknown
    return {
        "action": of.urgent,
        "warning": of.warned,
        "handled": of.handled,
        "unknown": of.unknown,
        "ok": of.groups - bad,
    }


def _found_tabs(model: ReadModel, asked: Asked, words: str) -> dict[Kind, int]:
    search = Search(words)
    rows = map(asked.row, model.groups())
    found = Counter(row.kind for row in rows if search.finds(row))
    return {kind: found[kind] for kind in get_args(Kind)}


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
    if view.sort == "name":
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


KEPT = 2_000
DAY_MS = 86_400_000


class GroupRows:
    """`stale_after`: milliseconds until an evaluation is old."""

    def __init__(
        self,
        templates: Environment,
        trends: Trends,
        topics: TopicIndex,
        stale_after: int,
        is_stale: Callable[[GroupView], bool],
    ) -> None:
        self._templates = templates
        self._trends = trends
        self._topics = topics
        self._stale_after = stale_after
        self._is_stale = is_stale
        # With the view that it is of: its identity then is no other's.
        self._told = Drawn[tuple[GroupView, Markup]](KEPT)
        self._rows = Drawn[tuple[Markup, Markup]](KEPT)

    def html(self, row: GroupRow) -> Markup:
        view, now = row.view, row.asked.now
        name, macros = (view.cluster, view.group), self._macros()
        is_old = now - view.event.evaluated_at > self._stale_after
        is_stale = self._is_stale(view)
        spark = self._trends.spark(*name, now)
        moved = rates_of(self._topics, view) if row.verdict.status == "OK" else None
        measured_ago = _age(now, view.freshness.event.measured_at if view.freshness else None)
        version = (
            id(view),
            row.verdict,
            row.silence,
            row.acknowledgement,
            spark,
            moved,
            is_old,
            measured_ago if is_stale else "",
            now // DAY_MS,  # times of another day have the day
        )

        def draw_told() -> tuple[GroupView, Markup]:
            return view, macros.told(row, now, is_old, is_stale, spark, moved)

        _, told = self._told.get(name, version, draw_told)
        judged_ago = _age(now, view.event.evaluated_at) if is_old else ""
        ages = _age(now, row.since), _age(now, row.changed_since), judged_ago

        def draw() -> tuple[Markup, Markup]:
            return told, told + macros.since(row, now, is_old)

        return self._rows.get(name, (id(told), *ages), draw)[1]

    def _macros(self) -> Any:
        return self._templates.get_template("group_row.html").module


def _age(now: int, at: int | None) -> str:
    return "" if at is None else age(now - at)
