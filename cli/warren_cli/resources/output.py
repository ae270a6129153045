"""Rows as a table, JSON, YAML or names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text
from warren.clock import SystemClock
from warren.words import visible

from warren_cli.display.fitting import LEGIBLE, Cell, Column, Shortened, drawn, fitted, left_out
from warren_cli.display.status_table import ENDLESS
from warren_cli.resources import catalogue
from warren_cli.resources.catalogue import Resource, Row
from warren_cli.resources.listing import Listing
from warren_cli.terminal.output_console import output_console

NONE = "-"
"""In a table: nothing, or nobody knows."""
_STYLES = {"OK": "green", "WARN": "yellow", "ERR": "bold red", "unreachable": "bold red"}


class Form(StrEnum):
    """`table`: for people. `wide`: all columns, uncut; of one thing the same as `table`. `json`,
    `yaml`: as the API says it. `name`: one name a line, as `describe` takes it.
    """

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


DOCUMENTS = (Form.JSON, Form.YAML)
FormOption = Annotated[Form, typer.Option("--output", "-o", help="How it is written")]


def write_list(resource: Resource, listing: Listing, form: Form) -> None:
    """On standard output; what a table leaves out, hints and doubts go to standard error."""
    if form in DOCUMENTS:
        write_document(listing.body, form)
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
        made, left_out_ = resource_table(resource, listing.rows, width, wide=form is Form.WIDE)
        if is_whole:
            console.width = console.measure(
                made, options=console.options.update(width=ENDLESS)
            ).maximum
        console.print(made)
        if left_out_:
            typer.echo(left_out_, err=True)
    else:
        typer.echo(f"no {resource.name} to show", err=True)
    if listing.total > len(listing.rows):
        left = listing.total - len(listing.rows)
        typer.echo(f"{left} more {resource.name} (--limit)", err=True)
    for said in (*listing.body.get("hints", ()), *listing.body.get("doubts", ())):
        typer.echo(f"warren: {visible(said)}", err=True)


def write_document(body: Any, form: Form) -> None:
    """JSON keeps names as they are, escaped as JSON does; so does YAML."""
    if form is Form.JSON:
        typer.echo(json.dumps(body, indent=2, ensure_ascii=False))
    else:
        import yaml

        typer.echo(yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=100), nl=False)


def table(titles: Sequence[str], rows: Sequence[Sequence[str | None]]) -> Table:
    """Names of clusters made visible, statuses coloured; None and nothing are a dash. The last
    column may give way.
    """
    made = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        made.add_column(title, no_wrap=title != titles[-1])
    for row in rows:
        made.add_row(*map(_shown, row))
    return made


def _shown(text: str | None) -> Text:
    return Text(visible(text or NONE), style=_STYLES.get(text or "", ""))


def resource_table(
    resource: Resource, rows: Sequence[Row], width: int | None, *, wide: bool
) -> tuple[RenderableType, str]:
    """`width`: columns of the terminal, of which the last goes first; None for as many as it takes.
    Beside it what is left out, in a sentence.
    """
    now = SystemClock().now_ms()
    columns = [
        Column(
            column.title,
            [_cell(column, row, now, is_cut=width is not None) for row in rows],
            column.right,
            0 if column.name or column.kept else number,
        )
        for number, column in enumerate(resource.columns)
        if not (column.short if wide else column.wide)
    ]
    shown = columns if width is None else fitted(columns, width)
    return drawn(shown), left_out(columns, shown)


def _cell(column: catalogue.Column, row: Row, now: int, *, is_cut: bool) -> Cell:
    text = column.cell(row, now)
    if is_cut and (column.name or column.text):
        return Shortened(visible(text or NONE), keep=LEGIBLE // 2 if column.name else 0)
    return _shown(text)
