"""Tables of the terminal: names come from outside, and whoever joins a group chooses its name."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text
from warren.words import visible


class TextTable(Table):
    """A table of texts: what is in a cell stays on its line, and nothing in it is markup."""

    def __init__(
        self, names: Iterable[str] = (), figures: Iterable[str] = (), sayings: Iterable[str] = ()
    ) -> None:
        """Titles of columns: names are never shortened, figures never broken, sayings wrapped."""
        super().__init__(box=None, header_style="bold", pad_edge=False)
        for title in names:
            self.add_column(title, overflow="fold")
        for title in figures:
            self.add_column(title, justify="right", no_wrap=True)
        for title in sayings:
            self.add_column(title)

    def row(self, *cells: str | Text) -> None:
        """Add a row; a Text may have a style."""
        self.add_row(*(cell if isinstance(cell, Text) else Text(visible(cell)) for cell in cells))
