"""What the routes of version 1 have in common: names, lists and their pages, refusals.

The first page fixes the order: it keeps the names of all rows, and later pages go on along them
with what is known of each row then. So a row that is there all the time is shown exactly once,
however it moves. Rows that are gone, or match no more, are left out.

The order is kept in memory and the oldest is forgotten. A cursor also holds the sort key of the
last row shown: where the order is not known (another copy of the API, a restart) the list goes on
behind that key, and rows that have moved across it meanwhile are missed or shown twice.
"""

from __future__ import annotations

import base64
import binascii
import json
import secrets
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from warren_api.context import ApiContext
from warren_api.http.names import matcher
from warren_api.http.problem import NotDone, ProblemKind, documented
from warren_api.model.group import GroupView
from warren_api.model.membership import Membership
from warren_api.model.topics import TopicView

_ORDERS_KEPT = 64

Row = TypeVar("Row")
RowName = tuple[str, ...]
Key = tuple[int | float | str, ...]
"""What rows are sorted by, smallest first; ends with the name, so that no two are equal."""


class InvalidCursor(Exception):
    """The cursor is damaged, or was given for another list."""


class Entry(NamedTuple, Generic[Row]):
    """A row that matches."""

    name: RowName
    key: Key
    row: Row


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """`total`: rows of all pages; `next`: None on the last one."""

    rows: list[Row]
    next: str | None
    total: int


class _Cursor(NamedTuple):
    query: str
    order: str
    position: int
    key: Key


class Paging:
    """The orders that were given out lately. Used by many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._orders: OrderedDict[str, tuple[RowName, ...]] = OrderedDict()

    def page(
        self, entries: list[Entry[Row]], *, query: str, limit: int, cursor: str | None
    ) -> Page[Row]:
        """The first page, or the one that the cursor stands for. `query` says what was asked for.

        Raises InvalidCursor.
        """
        entries.sort(key=lambda entry: entry.key)
        if cursor is None:
            return self._along(_names(entries), 0, entries, query, limit)
        at = _decoded(cursor)
        if at.query != query:
            raise InvalidCursor
        names = self._order(at.order)
        if names is not None:
            return self._along(names, at.position, entries, query, limit, at.order)
        try:
            rest = [entry for entry in entries if entry.key > at.key]
        except TypeError:
            raise InvalidCursor from None
        page = self._along(_names(rest), 0, rest, query, limit)
        return Page(page.rows, page.next, len(entries))

    def _along(
        self,
        names: tuple[RowName, ...],
        position: int,
        entries: Sequence[Entry[Row]],
        query: str,
        limit: int,
        order: str | None = None,
    ) -> Page[Row]:
        by_name = {entry.name: entry for entry in entries}
        there = (
            (index, by_name[name])
            for index, name in islice(enumerate(names), position, None)
            if name in by_name
        )
        found = list(islice(there, limit + 1))
        shown = [entry for _, entry in found[:limit]]
        if len(found) <= limit:
            return Page([entry.row for entry in shown], None, len(names))
        following = _Cursor(query, order or self._keep(names), found[limit][0], shown[-1].key)
        return Page([entry.row for entry in shown], _encoded(following), len(names))

    def _order(self, id_: str) -> tuple[RowName, ...] | None:
        with self._lock:
            if id_ in self._orders:
                self._orders.move_to_end(id_)
            return self._orders.get(id_)

    def _keep(self, names: tuple[RowName, ...]) -> str:
        id_ = secrets.token_urlsafe(9)
        with self._lock:
            self._orders[id_] = names
            if len(self._orders) > _ORDERS_KEPT:
                self._orders.popitem(last=False)
        return id_


def largest_first(measure: float | None) -> tuple[int, float]:
    """The beginning of a key: the largest measure first, unknown ones last."""
    return (1, 0) if measure is None else (0, -measure)


def _names(entries: Sequence[Entry[Any]]) -> tuple[RowName, ...]:
    return tuple(entry.name for entry in entries)


def _encoded(cursor: _Cursor) -> str:
    text = json.dumps(cursor, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decoded(text: str) -> _Cursor:
    checks: tuple[Callable[[Any], bool], ...] = (
        lambda query: isinstance(query, str),
        lambda order: isinstance(order, str),
        lambda position: isinstance(position, int) and position >= 0,
        lambda key: isinstance(key, list),
    )
    try:
        parts = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        if not all(check(part) for check, part in zip(checks, parts, strict=True)):
            raise InvalidCursor
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise InvalidCursor from None
    query, order, position, key = parts
    return _Cursor(query, order, position, tuple(key))


MOST_ROWS = 1000
USUAL_ROWS = 100
"""On a page where nobody asks for more: one answer stays below 100 KB."""
LIST_PROBLEMS = documented(
    ProblemKind.INVALID_REQUEST,
    ProblemKind.PATTERN_TOO_COSTLY,
    ProblemKind.INVALID_CURSOR,
    ProblemKind.STARTING,
)


def _regular_expression(pattern: str) -> str:
    matcher(pattern)
    return pattern


Regex = Annotated[str, Field(max_length=300), AfterValidator(_regular_expression)]
Name = Annotated[str, Field(max_length=300)]


class ListQuery(BaseModel):
    """Parameters of every list; `noun` says of what. Those that are not known are refused: a
    misspelt filter would silently show everything.
    """

    noun: ClassVar[str]
    model_config = ConfigDict(extra="forbid")

    cluster: Name | None = Field(None, description="Only this cluster")
    limit: int = Field(USUAL_ROWS, ge=1, le=MOST_ROWS, description="Most entries on a page")
    cursor: str | None = Field(
        None, max_length=6000, description="`next` of the page before; all else as it was"
    )

    def page(self, paging: Paging, entries: list[Entry[Row]]) -> Page[Row]:
        """The page that is asked for. Raises InvalidCursor when the cursor is of another list."""
        return paging.page(entries, query=self._asked(), limit=self.limit, cursor=self.cursor)

    def _asked(self) -> str:
        """All that decides what the list shows, whatever the page."""
        asked = self.model_dump(exclude={"limit", "cursor"})
        return f"{self.noun}{zlib.crc32(json.dumps(asked).encode()):08x}"


def require_read(context: ApiContext) -> None:
    """Raise NotDone while the topics are still being read: an empty answer would be wrong."""
    if not context.feed_state().ready:
        why = " ".join(context.doubts().general)
        raise NotDone(ProblemKind.STARTING, why, {"Retry-After": "1"})


def require_cluster(context: ApiContext, cluster: str) -> None:
    """Raise NotDone for one that nobody knows."""
    if cluster not in context.clusters:
        raise NotDone(ProblemKind.CLUSTER_NOT_FOUND, f"Warren knows no cluster {cluster}.")


def find_group(context: ApiContext, cluster: str, group: str) -> GroupView | Membership:
    """Raise NotDone for one that nobody knows."""
    if found := context.model.group(cluster, group) or context.model.unjudged(cluster, group):
        return found
    said = f"Cluster {cluster} has no consumer group {group} that Warren knows."
    raise NotDone(ProblemKind.GROUP_NOT_FOUND, said)


def find_topic(context: ApiContext, cluster: str, topic: str) -> TopicView:
    """Raise NotDone for one that nobody knows."""
    if found := context.model.topics.topic(cluster, topic):
        return found
    said = f"Cluster {cluster} has no topic {topic} that Warren knows."
    raise NotDone(ProblemKind.TOPIC_NOT_FOUND, said)
