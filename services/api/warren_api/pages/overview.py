"""All groups in one answer: which are shown, in which order, and what is to be said of them all.
Pure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, NamedTuple, get_args

from warren.contracts import STATUS_CHANGED, EndReasonName
from warren.reason_words import in_short

from warren_api.group_row import GroupRow, Present
from warren_api.model.cluster import TROUBLE, ClusterView
from warren_api.model.incidents import IncidentRecord
from warren_api.model.read_model import ReadModel
from warren_api.model.status_history import RecordedChange
from warren_api.model.verdict import Kind
from warren_api.pages.headline import Standings, Totals, no_groups
from warren_api.pages.lists import ListView, Paged, by_measure, paged
from warren_api.search import GroupSearch

GROUPS_SHOWN = 50  # on one page
HOUR_MS = 3_600_000

By = Literal["", "owner", "cluster", "cause", "topic"]
Sort = Literal["worst", "name", "lag", "late", "loss", "since"]
# What is looked for first: the largest lag, but the nearest loss and what has just begun.
_FALLING = frozenset({"lag", "late", "since"})


_TABS: dict[str, Kind] = {f"is:{kind}": kind for kind in get_args(Kind)}
EVERYTHING = "is:any"


@dataclass(frozen=True)
class View(ListView):
    """Which groups are asked for."""

    falling = _FALLING
    one_way = frozenset({"worst"})

    sort: Sort = "worst"
    by: By = ""
    """What groups stand together that have the same."""

    @property
    def tab(self) -> Kind | None:
        """Of which kind only; None for all of them."""
        return next((kind for word in self.q.split() if (kind := _TABS.get(word))), None)

    @property
    def rest(self) -> str:
        """What is searched for under every tab."""
        return " ".join(w for w in self.q.split() if w not in _TABS and w != EVERYTHING)

    def tab_url(self, kind: Kind | Literal["any"]) -> str:
        """The same search under another tab."""
        return self.found_url(f"{self.rest} is:{kind}".strip())

    def has(self, term: str) -> bool:
        return term in self.q.split()

    def toggled_url(self, term: str) -> str:
        """The same search with that term, under all tabs; without it where it has it."""
        others = [word for word in self.rest.split() if word != term]
        return self.found_url(" ".join([*others, EVERYTHING if self.has(term) else term]))

    def grouped_url(self, by: By) -> str:
        return replace(self, by=by, page=1).url

    def opened(self, tabs: Mapping[Kind, int]) -> View:
        """Where nothing is searched for: the first tab that has something."""
        kind = next((kind for kind, count in tabs.items() if count), None)
        return self if self.q or kind is None else replace(self, q=f"is:{kind}")


class Section(NamedTuple):
    """Groups that have the same of what they stand together by. `title`: empty where nothing is
    said of them; `q`: finds them; `size`: of all pages.
    """

    title: str
    q: str
    size: int
    rows: list[GroupRow]


class Overview(NamedTuple):
    """`view`: which part is shown, of which `rows` are one page; `search`: what finds it; all else
    is about what is found under every tab.
    """

    view: View
    search: GroupSearch
    sections: list[Section]
    rows: list[GroupRow]
    first: int
    matching: int
    page: int
    pages: int
    by_cluster: dict[str, Totals]
    totals: Totals
    standings: Standings
    tabs: dict[Kind, int]
    """Groups of each kind."""


class LastChanges(NamedTuple):
    """The newest change of a group's status, and how many incidents ended within the last hour."""

    newest: RecordedChange | None
    ended: int

    @property
    def how(self) -> str:
        """`OK → ERR`; of one whose offsets are gone, that: it has not recovered."""
        if self.newest is None:
            return ""
        change = self.newest.change
        if change.reason is not None and change.reason in get_args(EndReasonName):
            return in_short(change.reason).lower()
        return f"{change.previous} → {change.status}"


def overview(
    model: ReadModel,
    present: Present,
    view: View,
    clusters: Sequence[ClusterView] = (),
    hints: Sequence[str] = (),
) -> Overview:
    """`hints`: about filters that were hardly meant as words."""
    groups, rest = model.groups(), GroupSearch(view.rest)
    # What is not understood leaves the counts as they are.
    rows = [row for row in map(present.row, groups) if rest.problems or hints or rest.finds(row)]
    by_cluster = defaultdict[str, Totals](no_groups)
    for row in rows:
        by_cluster[row.cluster][row.last_status] += 1
    kinds = Counter(row.kind for row in rows)
    tabs = {kind: kinds[kind] for kind in get_args(Kind)}
    view = view.opened(tabs)
    search = GroupSearch(view.q)
    found = _sorted(sorted(filter(search.finds, rows), key=lambda row: row.rank), view)
    if view.by:
        shown, sections = _in_sections(found, view)
    else:
        shown = paged(found, view.page, GROUPS_SHOWN)
        sections = [Section("", view.q, shown.matching, shown.rows)]
    return Overview(
        view,
        search,
        sections,
        *shown,
        by_cluster,
        no_groups() | Counter(row.status for row in rows),
        _standings(rows, tabs, len(groups), clusters),
        tabs,
    )


def _in_sections(rows: list[GroupRow], view: View) -> tuple[Paged[GroupRow], list[Section]]:
    """`rows`: in order; a section comes where its first row would."""
    known = defaultdict[tuple[str, str], list[GroupRow]](list)
    for row in rows:
        known[_SECTIONS[view.by](row)].append(row)
    of_row = {id(row): key for key, same in known.items() for row in same}
    page = paged([row for same in known.values() for row in same], view.page, GROUPS_SHOWN)
    sections = []
    for (title, value), same in groupby(page.rows, lambda row: of_row[id(row)]):
        q = f'{view.q} {view.by}:="{value}"'.strip() if value and '"' not in value else ""
        sections.append(Section(title, q, len(known[title, value]), list(same)))
    return page, sections


_SECTIONS: dict[By, Callable[[GroupRow], tuple[str, str]]] = {
    "owner": lambda row: (row.owner or "no owner", row.owner),
    "cluster": lambda row: (row.cluster, row.cluster),
    "cause": lambda row: (row.cause.brief, row.cause.name) if row.cause else ("no clear cause", ""),
    "topic": lambda row: (  # of the partition to look at first
        (row.view.worst.topic, row.view.worst.topic) if row.view.worst else ("no topic", "")
    ),
}
"""A title, and the value that finds the same."""


def _standings(
    rows: Sequence[GroupRow],
    tabs: Mapping[Kind, int],
    of_all: int,
    clusters: Sequence[ClusterView],
) -> Standings:
    """`of_all`: how many groups there are, found or not."""
    endangered = [row for row in rows if row.data_loss == "soon"]
    return Standings(
        groups=sum(tabs.values()),
        of_all=of_all,
        urgent=tabs["action"],
        handled=tabs["handled"],
        warned=tabs["warning"],
        losing=sum(row.data_loss == "now" for row in rows),
        losing_handled=sum(row.data_loss == "now" and row.kind == "handled" for row in rows),
        endangered=len(endangered),
        first_loss_at=min((at for row in endangered if (at := row.first_loss_at)), default=None),
        unknown=tabs["unknown"],
        away=[(one.cluster, one.state) for one in clusters if one.state in TROUBLE],
        clusters=len(clusters),
    )


def last_changes(
    changes: Iterable[RecordedChange], incidents: Iterable[IncidentRecord], now: int
) -> LastChanges:
    of_status = [recorded for recorded in changes if recorded.type == STATUS_CHANGED]
    newest = max(reversed(of_status), key=lambda recorded: recorded.at, default=None)
    ended = (one.closed_at for one in incidents if one.closed_at is not None)
    return LastChanges(newest, sum(at > now - HOUR_MS for at in ended))


def _sorted(rows: list[GroupRow], view: View) -> list[GroupRow]:
    """`rows`: worst first."""
    if view.sort == "worst":
        return rows[::-1] if view.order == "desc" else rows
    if view.sort == "name":
        return sorted(
            rows, key=lambda row: (row.group.casefold(), row.cluster), reverse=view.is_falling
        )
    return by_measure(rows, _MEASURES[view.sort], falling=view.is_falling)


_MEASURES: dict[Sort, Callable[[GroupRow], int | None]] = {
    "lag": lambda row: row.view.event.total_lag,
    "late": lambda row: row.late_ms,
    "loss": lambda row: -row.view.lost_records or row.view.time_to_loss_ms,
    "since": lambda row: row.since,
}
