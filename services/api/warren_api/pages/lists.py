"""Which part of a list is asked for, as the URL has it: a search, an order, a page; and the list of
all topics, also those that no group consumes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, ClassVar, Generic, Literal, NamedTuple, TypeVar
from urllib.parse import urlencode

from fastapi import Query
from warren.contracts import MINUTE_MS, Cause
from warren.settings.api import LONGEST_SEARCH

from warren_api.model.incidents import IncidentRecord
from warren_api.model.past import Past
from warren_api.model.topics import TopicView
from warren_api.search import A_CAUSE, Key, Search, choice_of, text_of, texts_of

Order = Literal["", "asc", "desc"]
Words = Annotated[str, Query(max_length=LONGEST_SEARCH)]
PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]
Row = TypeVar("Row")


@dataclass(frozen=True)
class ListView:
    """`path`: of the page. `falling`: what is sorted from the largest on, unless it is said;
    `one_way`: what a second click does not turn round.
    """

    path: ClassVar[str] = "/"
    falling: ClassVar[frozenset[str]] = frozenset()
    one_way: ClassVar[frozenset[str]] = frozenset()

    q: str = ""
    sort: str = ""
    order: Order = ""
    page: int = 1

    @property
    def is_falling(self) -> bool:
        return self.order == "desc" if self.order else self.sort in self.falling

    def page_url(self, page: int) -> str:
        return replace(self, page=page).url

    def sorted_url(self, sort: str) -> str:
        """By another column, or by the same one the other way round."""
        same = sort == self.sort and sort not in self.one_way
        order: Order = ("asc" if self.is_falling else "desc") if same else ""
        return replace(self, sort=sort, order=order, page=1).url

    def found_url(self, q: str) -> str:
        return replace(self, q=q, page=1).url

    @property
    def url(self) -> str:
        query = self.query
        return f"{self.path}?{query}" if query else self.path

    @property
    def query(self) -> str:
        """What of it is not as usual."""
        usual = asdict(type(self)())
        said = {name: value for name, value in asdict(self).items() if value != usual[name]}
        return urlencode(said)


class Paged(NamedTuple, Generic[Row]):
    """One page of `pages`; `first`: how many of the `matching` rows come before it."""

    rows: list[Row]
    first: int
    matching: int
    page: int
    pages: int


def paged(rows: Sequence[Row], page: int, size: int) -> Paged[Row]:
    """Beyond the last page the last one."""
    pages = max(1, -(-len(rows) // size))
    page = min(page, pages)
    first = (page - 1) * size
    return Paged(list(rows[first : first + size]), first, len(rows), page, pages)


def by_measure(
    rows: Iterable[Row], measure: Callable[[Row], float | None], *, falling: bool
) -> list[Row]:
    """What is unknown comes last."""
    measured = [(measure(row), row) for row in rows]
    known = [(value, row) for value, row in measured if value is not None]
    known.sort(key=lambda pair: pair[0], reverse=falling)
    return [row for _, row in known] + [row for value, row in measured if value is None]


TOPICS_SHOWN = 50  # on one page


class TopicSearch(Search[TopicView]):
    """Words are parts of its cluster and name."""

    keys: ClassVar[Mapping[str, Key[TopicView]]] = {
        "cluster": text_of(lambda view: (view.cluster,)),
        "group": text_of(lambda view: view.groups),
        "is": choice_of({"unread": lambda view: not view.groups}),
    }

    def words(self, row: TopicView) -> str:
        return f"{row.cluster}/{row.topic}"


TopicSort = Literal["name", "groups", "partitions", "produced", "consumed", "lag"]
_MEASURES: dict[str, Callable[[TopicView], float | None]] = {
    "groups": lambda view: len(view.groups),
    "partitions": lambda view: view.partition_count,
    "produced": lambda view: view.produce_rate,
    "consumed": lambda view: view.consume_rate,
    "lag": lambda view: view.max_lag,
}


@dataclass(frozen=True)
class TopicListView(ListView):
    """Which topics are asked for."""

    path = "/topics"
    falling = frozenset(_MEASURES)

    sort: TopicSort = "name"


def topic_list(
    views: Iterable[TopicView], view: TopicListView
) -> tuple[Paged[TopicView], list[str]]:
    """`views`: by cluster and name. And what was, or may have been, not understood."""
    search = TopicSearch(view.q)
    found = sorted(filter(search.finds, views), key=lambda v: (v.topic.casefold(), v.cluster))
    if view.sort == "name":
        found = found[::-1] if view.is_falling else found
    else:
        found = by_measure(found, _MEASURES[view.sort], falling=view.is_falling)
    shown = paged(found, view.page, TOPICS_SHOWN)
    return shown, search.problems + search.hints(lambda: views)


class AtOpening(NamedTuple):
    """Figures of a group when its incident opened; None where they are not remembered."""

    lag: int | None
    late_ms: float | None
    members: float | None


def at_opening(incident: IncidentRecord, past: Past) -> AtOpening:
    first = incident.changes[0] if incident.changes else None
    told = first if first is not None and first.at <= incident.opened_at else None
    minute = incident.opened_at - incident.opened_at % MINUTE_MS
    name = incident.cluster, incident.group
    then = past.group(*name, minute, minute + MINUTE_MS, MINUTE_MS)
    late, members = then["late_ms"][0], then["members"][0]
    return AtOpening(told.change.total_lag if told else None, late, members)


def newest_cause(incident: IncidentRecord) -> Cause | None:
    """Of the root, where anything spoke clearly for one; else of what follows."""
    causes = (condition.change.cause for condition in incident.conditions)
    return next((cause for cause in causes if cause is not None and cause.is_known), None)


INCIDENTS_SHOWN = 50  # on one page


@dataclass(frozen=True)
class IncidentListView(ListView):
    """Which incidents are asked for."""

    path = "/incidents"


class IncidentSearch(Search[IncidentRecord]):
    """Words are parts of cluster and group."""

    keys: ClassVar[Mapping[str, Key[IncidentRecord]]] = {
        "cluster": text_of(lambda incident: (incident.cluster,)),
        "group": text_of(lambda incident: (incident.group,)),
        "cause": text_of(lambda incident: texts_of(newest_cause(incident)), A_CAUSE),
        "is": choice_of(
            {
                "open": lambda incident: incident.is_open,
                "over": lambda incident: not incident.is_open,
            }
        ),
        "status": choice_of(
            {
                "err": lambda incident: incident.worst == "ERR",
                "warn": lambda incident: incident.worst == "WARN",
            }
        ),
    }

    def words(self, row: IncidentRecord) -> str:
        return f"{row.cluster}/{row.group}"


def incident_list(
    known: Sequence[IncidentRecord], view: IncidentListView
) -> tuple[Paged[IncidentRecord], list[str]]:
    """Open ones first; `known`: newest first. And what was, or may have been, not understood."""
    search = IncidentSearch(view.q)
    found = sorted(filter(search.finds, known), key=lambda each: not each.is_open)
    shown = paged(found, view.page, INCIDENTS_SHOWN)
    return shown, search.problems + search.hints(lambda: known)
