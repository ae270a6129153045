"""Rows as a table, JSON, YAML or names."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Any, Literal

import typer
import yaml
from rich.table import Table
from rich.text import Text
from warren.clock import SystemClock
from warren.words import visible

from warren_cli.display.fitting import LEGIBLE, Cell, least_width, that_fit
from warren_cli.display.shortened import Shortened
from warren_cli.resources.listing import Listing
from warren_cli.resources.resource import Column, Resource, Row
from warren_cli.terminal.output_console import output_console

NONE = "-"
"""In a table: nothing, or nobody knows."""
_ENDLESS = 100_000  # columns
_STYLES = {"OK": "green", "WARN": "yellow", "ERR": "bold red", "unreachable": "bold red"}


class Form(StrEnum):
    """`wide`: all columns, uncut. `json`, `yaml`: as the API says it. `name`: one name a line."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


class Whole(StrEnum):
    """Of one thing."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"


def write_list(resource: Resource, listing: Listing, form: Form) -> None:
    """On standard output; what a table leaves out, hints and doubts go to standard error."""
    if form in (Form.JSON, Form.YAML):
        write_document(listing.body, Whole(form.value))
        return
    if form is Form.NAME:
        for row in listing.rows:
            typer.echo(visible(resource.identity(row)))
        return
    console = output_console()
    if listing.rows:
        # Nothing is cut where somebody asks for all, or a program reads.
        is_whole = form is Form.WIDE or not console.is_terminal
        width = None if is_whole else console.width
        made = _table(resource, listing.rows, width, wide=form is Form.WIDE)
        if is_whole:
            console.width = console.measure(
                made, options=console.options.update(width=_ENDLESS)
            ).maximum
        console.print(made)
    else:
        typer.echo(f"no {resource.name} to show", err=True)
    if listing.total > len(listing.rows):
        left = listing.total - len(listing.rows)
        typer.echo(f"{left} more {resource.name} (--limit)", err=True)
    for said in (*listing.body.get("hints", ()), *listing.body.get("doubts", ())):
        typer.echo(f"warren: {visible(said)}", err=True)


def write_document(body: Any, form: Whole) -> None:
    """JSON keeps names as they are, escaped as JSON does; so does YAML."""
    if form is Whole.JSON:
        typer.echo(json.dumps(body, indent=2, ensure_ascii=False))
    else:
        typer.echo(yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=100), nl=False)


def table(
    titles: Sequence[str],
    rows: Sequence[Sequence[str | Shortened | None]],
    right: Sequence[str] = (),
    wraps: Collection[str] = (),
) -> Table:
    """Names of clusters made visible, statuses coloured; None and nothing are a dash. `wraps`:
    columns that may give way.
    """
    made = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        side: Literal["left", "right"] = "right" if title in right else "left"
        made.add_column(title, justify=side, no_wrap=title not in wraps)
    for row in rows:
        made.add_row(*(_shown(cell) for cell in row))
    return made


def _shown(cell: str | Shortened | None) -> Cell:
    if isinstance(cell, Shortened):
        return cell
    return Text(visible(cell or NONE), style=_STYLES.get(cell or "", ""))


def _table(resource: Resource, rows: Sequence[Row], width: int | None, *, wide: bool) -> Table:
    """`width`: columns of the terminal; None for as many as it takes."""
    now = SystemClock().now_ms()
    columns = [column for column in resource.columns if wide or not column.wide]
    cells = [[_cell(column, row, now, width) for row in rows] for column in columns]
    if width is not None:
        widths = [
            least_width(column.title, [_shown(cell) for cell in own])
            for column, own in zip(columns, cells, strict=True)
        ]
        # The last goes first.
        dispensable = [0 if c.name or c.kept else n for n, c in enumerate(columns, 1)]
        fitting = that_fit(widths, dispensable, width)
        columns, cells = [columns[n] for n in fitting], [cells[n] for n in fitting]
    right = [column.title for column in columns if column.right]
    cut = [column.title for column in columns if column.name and width is not None]
    return table([column.title for column in columns], list(zip(*cells, strict=True)), right, cut)


def _cell(column: Column, row: Row, now: int, width: int | None) -> str | Shortened:
    text = column.cell(row, now) or NONE
    is_cut = column.name and width is not None
    return Shortened(visible(text), keep=LEGIBLE // 2) if is_cut else text
