"""Which part of a list is asked for, as the URL has it: a search, an order, a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, ClassVar, Generic, Literal, NamedTuple, TypeVar
from urllib.parse import urlencode

from fastapi import Query

Order = Literal["", "asc", "desc"]
Words = Annotated[str, Query(max_length=300)]
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
        usual = asdict(type(self)())
        said = {name: value for name, value in asdict(self).items() if value != usual[name]}
        return f"{self.path}?{urlencode(said)}" if said else self.path


class Paged(NamedTuple, Generic[Row]):
    """One page of `pages`; `first`: how many of the `matching` rows come before it."""

    rows: list[Row]
    first: int
    matching: int
    page: int
    pages: int


class PlaceInList(NamedTuple):
    """Of a page: `first` rows come before it."""

    first: int
    page: int
    pages: int


def place_of(page: int, matching: int, size: int) -> PlaceInList:
    """Of the page that is asked for; beyond the last one of the last."""
    pages = max(1, -(-matching // size))
    page = min(page, pages)
    return PlaceInList((page - 1) * size, page, pages)


def paged(rows: Sequence[Row], page: int, size: int) -> Paged[Row]:
    first, page, pages = place_of(page, len(rows), size)
    return Paged(list(rows[first : first + size]), first, len(rows), page, pages)
