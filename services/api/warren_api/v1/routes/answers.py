"""What the routes of version 1 have in common: names, lists and their pages, refusals."""

from __future__ import annotations

import json
import zlib
from typing import Annotated, ClassVar, TypeVar

from fastapi import Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from warren.errors import KafkaError

from warren_api.context import ApiContext
from warren_api.http.patterns import matcher
from warren_api.http.problem import ProblemKind, documented, problem
from warren_api.v1.paging import Entry, Page, Paging

Row = TypeVar("Row")
MOST_ROWS = 1000
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
    limit: int = Field(MOST_ROWS, ge=1, le=MOST_ROWS, description="Most entries on a page")
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


def starting(context: ApiContext) -> Response | None:
    """An empty answer while the topics are still being read would be a wrong one."""
    if context.feed_state().ready:
        return None
    return problem(ProblemKind.STARTING, " ".join(context.doubts().general), {"Retry-After": "1"})


def not_written(error: KafkaError) -> Response:
    return problem(ProblemKind.NOT_WRITTEN, str(error), {"Retry-After": "5"})


def unknown_cluster(cluster: str) -> Response:
    return problem(ProblemKind.CLUSTER_NOT_FOUND, f"Warren knows no cluster {cluster}.")
