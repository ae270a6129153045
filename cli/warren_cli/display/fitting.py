"""Tables in a terminal that may be narrow: which columns are left out, and what is cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

GAP = 2  # columns of the terminal between two of the table
LEGIBLE = 20  # columns of the terminal that a shortened cell needs to make sense
WHOLE = 48  # a name up to this is not cut while there are columns that may go
PHRASE = 32  # likewise other text
NICE = 4  # columns that are as dispensable as this, or more, go before a name is cut
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
    """`dispensable`: the highest goes first when there is no room; 0 stays. `width`: None for as
    much as it takes.
    """

    title: str
    cells: Sequence[Cell]
    right: bool = False
    dispensable: int = 0
    width: int | None = None

    @property
    def whole_width(self) -> int:
        """So that nothing is cut."""
        return max(len(self.title), *(cell.cell_len for cell in self.cells), 0)

    @property
    def usual_width(self) -> int:
        """So that nothing is cut but what is longer than WHOLE in a few of the rows."""
        lengths = [cell.cell_len for cell in self.cells]
        usual = [length for length in lengths if length <= WHOLE]
        return max(len(self.title), *usual) if 2 * len(usual) > len(lengths) else self.whole_width

    @property
    def good_width(self) -> int:
        """So that names and phrases are whole, unless they are very long."""
        return max(self.least_width, min(self.usual_width, PHRASE if self.dispensable else WHOLE))

    @property
    def is_cut(self) -> bool:
        """Whether some cell has not the room that it takes."""
        return self.width is not None and self.width < self.whole_width

    @property
    def least_width(self) -> int:
        """So that names in it make sense and all else is whole."""
        legible = (
            min(cell.cell_len, LEGIBLE) if isinstance(cell, Shortened) else cell.cell_len
            for cell in self.cells
        )
        return max(len(self.title), *legible) if self.cells else len(self.title)


def fitted(columns: Sequence[Column], width: int) -> list[Column]:
    """Those for which there is room: columns are left out whole. What is left goes to names first,
    then to text, then to very long names.
    """
    shown = _chosen(columns, width, NICE, lambda column: column.good_width)
    shown = _chosen(shown, width, 1, lambda column: column.least_width)
    room = width - _together(shown, lambda column: column.least_width)
    if room < 0:
        return shown
    widths = [column.least_width for column in shown]
    wanted: list[Callable[[Column], int]] = [
        lambda column: min(column.usual_width, WHOLE),
        lambda column: min(column.whole_width, WHOLE),
        lambda column: column.whole_width,
    ]
    for measure in wanted:
        for number, column in enumerate(shown):
            more = max(0, measure(column) - widths[number])
            widths[number] += min(more, room)
            room -= min(more, room)
    return [column._replace(width=width) for column, width in zip(shown, widths, strict=True)]


def left_out(columns: Sequence[Column], shown: Sequence[Column]) -> str:
    """`-o wide also has since, lag`: what a narrow terminal has no room for; empty for nothing."""
    titles = {column.title for column in shown}
    gone = [column.title for column in columns if column.title not in titles]
    return f"-o wide also has {', '.join(gone)}" if gone else ""


def _chosen(
    columns: Sequence[Column], width: int, least: int, measure: Callable[[Column], int]
) -> list[Column]:
    """Without the most dispensable ones, as far as they are dispensable by `least`."""
    shown = list(columns)
    while _together(shown, measure) > width:
        most = max(shown, key=lambda column: column.dispensable)
        if most.dispensable < least:
            break
        shown.remove(most)
    return shown


def _together(columns: Sequence[Column], measure: Callable[[Column], int]) -> int:
    return sum(measure(column) + GAP for column in columns) - GAP


def drawn(columns: Sequence[Column]) -> RenderableType:
    """Where nothing is cut, a very long cell moves what is right of it in its own line alone."""
    return _cut(columns) if any(column.is_cut for column in columns) else Lines(_lines(columns))


class Lines:
    """Texts as they are: the widest is as wide as all of them."""

    def __init__(self, lines: Iterable[Text]) -> None:
        self._lines = list(lines)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self._lines

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        widest = max(line.cell_len for line in self._lines)
        return Measurement(widest, widest)


def _lines(columns: Sequence[Column]) -> Iterator[Text]:
    heads = [Text(column.title, style="bold") for column in columns]
    widths = [column.usual_width for column in columns]
    for row in (heads, *zip(*(column.cells for column in columns), strict=True)):
        line = Text(no_wrap=True, overflow="ignore")
        for number, (column, cell, width) in enumerate(zip(columns, row, widths, strict=True)):
            text = cell if isinstance(cell, Text) else Text(cell.text)
            pad = " " * max(width - text.cell_len, 0)
            line.append(" " * GAP if number else "")
            line.append(pad if column.right else "").append_text(text)
            line.append("" if column.right else pad)
        line.rstrip()
        yield line


def _cut(columns: Sequence[Column]) -> Table:
    """Only names are shortened: rich takes away from columns that may wrap, and those never do."""
    table = Table(box=None, pad_edge=False, padding=(0, GAP // 2), header_style="bold")
    for column in columns:
        fixed = not any(isinstance(cell, Shortened) for cell in column.cells)
        table.add_column(
            column.title,
            justify="right" if column.right else "left",
            no_wrap=fixed,
            width=column.width,
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*row)
    return table
