"""A text on one line that gives way: what does not fit is cut out of its middle."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

_CUT = "…"


@dataclass(frozen=True, slots=True)
class Shortened:
    """`keep` last characters stay as long as they fit: there names differ, or matters follow."""

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
