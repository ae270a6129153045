"""What a table of silver is made of, and how far new rows reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from warren.contracts.topics import Topic

from warren_archiver.lake.table import Table

Rows = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True, slots=True)
class Reach:
    """Which rows new events may change: those that are so near in time, or belong to the same."""

    at: str
    """The table's column that has the time."""
    before_ms: int = 0
    """So much before new events is read: it is what their rows are measured from."""
    after_ms: int = 0
    """So much after them is read as well, and may be others: whole minutes."""
    by: tuple[str, ...] = ()
    """Instead: all rows that are the same in these columns, whenever they were."""
    until: str | None = None
    """Of those, none that were over by this column before the first new one."""


@dataclass(frozen=True, slots=True)
class Model:
    """A table, made of a topic's events or of other tables, by pure functions of their rows.

    `make` has the rows of each of `sources`; with a topic those of the table itself that are
    stored, new ones among them and perhaps some twice: None where each stands by itself.
    """

    table: Table
    reach: Reach
    make: Callable[..., DataFrame] | None = None
    rows: Rows | None = None
    """From events: those that the contract of `topic` accepts, or without one all that any refuses;
    what depends on other rows is null yet."""
    topic: Topic | None = None
    sources: tuple[Table, ...] = ()
    seen: Mapping[str, Rows] = field(default_factory=dict)
    """How rows of a source belong to those of this table, where one may belong to several."""

    @property
    def name(self) -> str:
        return self.table.name

    def of_source(self, name: str, rows: DataFrame) -> DataFrame:
        """Rows of that source, as `make` has them."""
        return self.seen[name](rows) if name in self.seen else rows

    def made(self, *frames: DataFrame) -> DataFrame:
        return frames[0] if self.make is None else self.make(*frames)
