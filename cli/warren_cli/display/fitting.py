"""Columns of a table in a terminal that may be narrow: what is left out, and what is cut. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from warren_cli.display.shortened import Shortened

Cell = Text | Shortened

GAP = 2  # columns of the terminal between two of the table
LEGIBLE = 20  # columns of the terminal that a shortened cell needs to make sense


def least_width(title: str, cells: Sequence[Cell]) -> int:
    """Of a column, so that names in it make sense and all else is whole."""
    legible = (
        min(cell.cell_len, LEGIBLE) if isinstance(cell, Shortened) else cell.cell_len
        for cell in cells
    )
    return max(len(title), *legible) if cells else len(title)


def that_fit(widths: Sequence[int], dispensable: Sequence[int], width: int) -> list[int]:
    """Numbers of the columns that are shown: the most dispensable go first, those of 0 stay."""
    shown = list(range(len(widths)))
    while sum(widths[n] + GAP for n in shown) - GAP > width:
        most = max(shown, key=lambda n: dispensable[n])
        if not dispensable[most]:
            break
        shown.remove(most)
    return shown
