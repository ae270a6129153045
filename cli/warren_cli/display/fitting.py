"""Tables in a terminal that may be narrow: which columns are left out, and what is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

GAP = 2  # columns of the terminal between two of the table
LEGIBLE = 20  # columns of the terminal that a shortened cell needs to make sense
_CUT = "…"


@dataclass(frozen=True, slots=True)
class Shortened:
    """A text on one line that gives way: what does not fit is cut out of its middle.

    `keep` last characters stay as long as they fit: there names differ, or matters follow.
    """

    text: str
    keep: int

    @property
    def cell_len(self) -> int:
        """Columns of the terminal that the whole text takes."""
        return cell_len(self.text)

    def to(self, width: int) -> str:
        """At most `width` columns of the terminal."""
        if self.cell_len <= width:
            return self.text
        tail = self.text[-self.keep :] if self.keep else ""
        room = width - cell_len(_CUT) - cell_len(tail)
        if room < 1:
            return set_cell_size(self.text, max(width - cell_len(_CUT), 0)).rstrip() + _CUT
        return set_cell_size(self.text, room).rstrip() + _CUT + tail

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.to(options.max_width), no_wrap=True, overflow="crop")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, max(self.cell_len, 1))


Cell = Text | Shortened


class Column(NamedTuple):
    """`dispensable`: the highest goes first when there is no room; 0 stays."""

    title: str
    cells: Sequence[Cell]
    right: bool = False
    dispensable: int = 0

    @property
    def least_width(self) -> int:
        """So that names in it make sense and all else is whole."""
        legible = (
            min(cell.cell_len, LEGIBLE) if isinstance(cell, Shortened) else cell.cell_len
            for cell in self.cells
        )
        return max(len(self.title), *legible) if self.cells else len(self.title)


def fitted(columns: Sequence[Column], width: int) -> list[Column]:
    """Those for which there is room: columns are left out whole."""
    shown = list(columns)
    while sum(column.least_width + GAP for column in shown) - GAP > width:
        most = max(shown, key=lambda column: column.dispensable)
        if not most.dispensable:
            break
        shown.remove(most)
    return shown


def drawn(columns: Sequence[Column]) -> Table:
    """Only names are shortened: rich takes away from columns that may wrap, and those never do."""
    table = Table(box=None, pad_edge=False, padding=(0, GAP // 2), header_style="bold")
    for column in columns:
        fixed = not any(isinstance(cell, Shortened) for cell in column.cells)
        table.add_column(column.title, justify="right" if column.right else "left", no_wrap=fixed)
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*row)
    return table
