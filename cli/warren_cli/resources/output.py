"""Rows as a table, JSON, YAML or names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Literal

import typer
import yaml
from rich.table import Table
from rich.text import Text
from warren.clock import SystemClock
from warren.words import visible

from warren_cli.resources.listing import Listing
from warren_cli.resources.resource import Resource, Row
from warren_cli.terminal.output_console import output_console

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
        made = _table(resource, listing.rows, wide=form is Form.WIDE)
        # Nothing is cut where somebody asks for all, or a program reads.
        if form is Form.WIDE or not console.is_terminal:
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
    rows: Sequence[Sequence[str]],
    right: Sequence[str] = (),
    wraps: str | None = None,
) -> Table:
    """Names of clusters made visible, statuses coloured. `wraps`: the column that may."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        side: Literal["left", "right"] = "right" if title in right else "left"
        made.add_column(title, justify=side, no_wrap=title != wraps)
    for row in rows:
        made.add_row(*(Text(visible(cell), style=_STYLES.get(cell, "")) for cell in row))
    return made


def _table(resource: Resource, rows: Sequence[Row], *, wide: bool) -> Table:
    now = SystemClock().now_ms()
    shown = [column for column in resource.columns if wide or not column.wide]
    cells = [[column.cell(row, now) for column in shown] for row in rows]
    right = [column.title for column in shown if column.right]
    return table([column.title for column in shown], cells, right)
