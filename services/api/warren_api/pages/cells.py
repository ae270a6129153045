"""Partitions of a group as small cells: where the trouble is, at a glance, also among 1,000.

Pure. The class of a cell gives its colour and its shape, its title says the same in words. Keys
pass over them: the rows to which they lead are in the order of what to look at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from markupsafe import Markup, escape
from warren.words import grouped, visible

from warren_api.model.group import GroupView, PartitionRow

CELLS_SHOWN = 2_000
ROWS_SHOWN = 500


class Partitions(NamedTuple):
    """Worst first: `rows` to look at, `fine` to fold. `cells`: `cell_count` of them, by topic and
    number.
    """

    rows: list[PartitionRow]
    fine: list[PartitionRow]
    cells: Markup
    cell_count: int
    counts: str

    @property
    def row_count(self) -> int:
        return len(self.rows) + len(self.fine)


def partitions_of(view: GroupView) -> Partitions:
    """What a page shows of a group's partitions."""
    ranked = sorted(view.partitions, key=_urgency, reverse=True)
    listed = ranked[:ROWS_SHOWN]
    shown: Sequence[PartitionRow] = view.partitions
    if len(shown) > CELLS_SHOWN:
        shown = sorted(ranked[:CELLS_SHOWN], key=_place)
    linked = {_place(row) for row in listed}
    counts = (f"{grouped(count)} {status}" for status, count in view.partition_counts.items())
    return Partitions(
        rows=[row for row in listed if _is_to_look_at(row)],
        fine=[row for row in listed if not _is_to_look_at(row)],
        cells=Markup("").join(_cell(row, is_linked=_place(row) in linked) for row in shown),
        cell_count=len(shown),
        counts=", ".join(counts),
    )


def row_id(row: PartitionRow) -> str:
    """Of the partition's row on the page, and in a link to it: no character needs a quote."""
    return f"partition-{quote(row.topic, safe='')}-{row.partition}"


def _is_to_look_at(row: PartitionRow) -> bool:
    return row.status != "OK" or row.is_losing


def _urgency(row: PartitionRow) -> tuple[bool, tuple[int, int]]:
    return _is_to_look_at(row), row.badness


def _place(row: PartitionRow) -> tuple[str, int]:
    return row.topic, row.partition


def _cell(row: PartitionRow, *, is_linked: bool) -> Markup:
    lag = "unknown" if row.lag is None else grouped(row.lag)
    loses = ", loses data" if row.is_losing else ""
    title = escape(f"{visible(row.topic)}/{row.partition}: {row.status}, lag {lag}{loses}")
    kind = row.status.lower()
    if not is_linked:
        return Markup(f'<span class="cell {kind}" title="{title}"></span>')
    return Markup(
        f'<a class="cell {kind}" href="#{escape(row_id(row))}" title="{title}" tabindex="-1"></a>'
    )
