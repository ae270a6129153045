"""What the routes of version 1 have in common: names, lists and their pages, refusals.

A cursor is the sort key of the last row shown: the list goes on behind it. Rows that have moved
across it meanwhile are missed or shown twice.
"""

import base64
import binascii
import json
import zlib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, ClassVar, Generic, NamedTuple, TypeVar, get_origin

from fastapi import APIRouter, Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from warren.patterns import searcher

from warren_api.context import ApiContext
from warren_api.http.problem import NotDone, ProblemKind, documented
from warren_api.model.group import GroupView
from warren_api.model.membership import Membership
from warren_api.model.topics import TopicView
from warren_api.search import near_names

Row = TypeVar("Row")
Key = tuple[int | float | str, ...]
"""What rows are sorted by, smallest first; ends with the name, so that no two are equal."""


class InvalidCursor(Exception):
    """The cursor is damaged, or was given for another list."""


class Entry(NamedTuple, Generic[Row]):
    """A row that matches."""

    key: Key
    row: Row


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """`total`: rows of all pages; `next`: None on the last one."""

    rows: list[Row]
    next: str | None
    total: int


def largest_first(measure: float | None) -> tuple[int, float]:
    """The beginning of a key: the largest measure first, unknown ones last."""
    return (1, 0) if measure is None else (0, -measure)


def _behind(cursor: str, query: str) -> Key:
    """The key of the last row that was shown. Raises InvalidCursor."""
    try:
        made_for, *key = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise InvalidCursor from None
    if made_for != query:
        raise InvalidCursor
    return tuple(key)


MOST_ROWS = 1000
USUAL_ROWS = 100
"""On a page where nobody asks for more: one answer stays below 100 KB."""
LIST_PROBLEMS = documented(
    ProblemKind.INVALID_REQUEST,
    ProblemKind.CLUSTER_NOT_FOUND,
    ProblemKind.INVALID_CURSOR,
    ProblemKind.STARTING,
)


def _regular_expression(pattern: str) -> str:
    searcher(pattern)
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

    def page(self, entries: list[Entry[Row]], clusters: Collection[str]) -> Page[Row]:
        """The page that is asked for. Raises InvalidCursor when the cursor is of another list;
        NotDone where it is empty because the cluster is none of these.
        """
        if not entries and self.cluster is not None:
            require_cluster(clusters, self.cluster)
        query, rest = self._made_for(), sorted(entries, key=lambda entry: entry.key)
        if self.cursor is not None:
            last = _behind(self.cursor, query)
            try:
                rest = [entry for entry in rest if entry.key > last]
            except TypeError:
                raise InvalidCursor from None
        shown = rest[: self.limit]
        following = None
        if len(rest) > self.limit:
            text = json.dumps([query, *shown[-1].key], ensure_ascii=False, separators=(",", ":"))
            following = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
        return Page([entry.row for entry in shown], following, len(entries))

    def _made_for(self) -> str:
        """All that decides what the list shows, whatever the page."""
        made_for = self.model_dump(exclude={"limit", "cursor"})
        return f"{self.noun}{zlib.crc32(json.dumps(made_for).encode()):08x}"


def require_read(context: ApiContext) -> None:
    """Raise NotDone while the topics are still being read: an empty answer would be wrong."""
    if not context.feed_state().ready:
        why = " ".join(context.doubts().general)
        raise NotDone(ProblemKind.STARTING, why, {"Retry-After": "1"})


def require_cluster(clusters: Collection[str], cluster: str) -> None:
    """Raise NotDone for one that is none of these."""
    if cluster not in clusters:
        near = "".join(f" Did you mean {each}?" for each in near_names(cluster, clusters, 1))
        raise NotDone(ProblemKind.CLUSTER_NOT_FOUND, f"Warren knows no cluster {cluster}.{near}")


def find_group(context: ApiContext, cluster: str, group: str) -> GroupView | Membership:
    """Raise NotDone for one that nobody knows."""
    if found := context.model.group(cluster, group) or context.model.unjudged(cluster, group):
        return found
    require_cluster(context.clusters, cluster)
    said = f"Cluster {cluster} has no consumer group {group} that Warren knows."
    raise NotDone(ProblemKind.GROUP_NOT_FOUND, said)


def find_topic(context: ApiContext, cluster: str, topic: str) -> TopicView:
    """Raise NotDone for one that nobody knows."""
    if found := context.model.topics.topic(cluster, topic):
        return found
    require_cluster(context.clusters, cluster)
    said = f"Cluster {cluster} has no topic {topic} that Warren knows."
    raise NotDone(ProblemKind.TOPIC_NOT_FOUND, said)


def routes_of(noun: str) -> APIRouter:
    """Of `/api/v1`, one for each noun."""
    return APIRouter(
        prefix="/api/v1",
        tags=[noun],
        dependencies=[Depends(require_known_parameters)],
        responses=documented(ProblemKind.INVALID_REQUEST),
    )


def require_known_parameters(request: Request) -> None:
    """Raise RequestValidationError; a dependency of routes, each with one model of its query, which
    refuses what it does not know, or none.
    """
    route = request.scope["route"]
    assert isinstance(route, APIRoute)
    fields = route.dependant.query_params
    model = fields[0].field_info.annotation if fields else None
    given = Counter(name for name, _ in request.query_params.multi_items())
    if isinstance(model, type) and issubclass(model, BaseModel):
        repeated = {name for name, times in given.items() if times > 1}
        single = {
            field.alias or name
            for name, field in model.model_fields.items()
            if get_origin(field.annotation) is not list
        }
        refused = [_refused(name, "repeated") for name in repeated & single]
    else:
        refused = [_refused(name, "extra_forbidden") for name in given]
    if refused:
        raise RequestValidationError(refused)


def _refused(name: str, kind: str) -> dict[str, object]:
    """As pydantic describes an error."""
    return {"type": kind, "loc": ("query", name), "msg": "is given more than once"}
