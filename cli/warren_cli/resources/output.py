"""Rows as a table, JSON, YAML or names."""

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text
from warren.clock import SystemClock
from warren.words import visible

from warren_cli.resources.catalogue import Column, Resource, Row
from warren_cli.resources.listing import Listing
from warren_cli.terminal.output_console import output_console

NONE = "-"
"""In a table: nothing, or nobody knows."""
GAP = 2  # columns of the terminal between two of the table
LEGIBLE = 20  # columns of the terminal that a cut name needs to make sense
WHOLE = 48  # columns that a name has before a text beside it has more than it needs
ENDLESS = 100_000  # columns where nothing is cut
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
            console.width = ENDLESS
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


def _shown(text: str | Text | None) -> Text:
    if isinstance(text, Text):
        return text
    style = _STYLES.get(text or "", "")
    return Text(visible(text or NONE), style, no_wrap=True, overflow="ellipsis")


def resource_table(
    resource: Resource,
    rows: Sequence[Row],
    width: int | None,
    *,
    wide: bool = False,
    now_ms: int | None = None,
) -> tuple[Table, str]:
    """`width`: columns of the terminal; None: nothing is cut or left out. Beside the table what is
    left out, in a sentence. `now_ms`: Unix milliseconds, by default now.
    """
    now = SystemClock().now_ms() if now_ms is None else now_ms
    columns = [one for one in resource.columns if not (one.short if wide else one.wide)]
    cells = {one: [_shown(one.cell(row, now)) for row in rows] for one in columns}

    needed = {
        one: max([len(one.title), *(cell.cell_len for cell in cells[one])]) for one in columns
    }

    def least(one: Column, most: int) -> int:
        limit = most if one.name else LEGIBLE if one.text else needed[one]
        return max(len(one.title), min(needed[one], limit))

    def left(most: int) -> int:
        """Columns of the terminal that nothing needs; below 0: it does not fit."""
        return (width or ENDLESS) + GAP - sum(least(one, most) + GAP for one in shown)

    shown = list(columns)
    for spare in [one for one in reversed(columns) if one.spare]:
        if left(WHOLE) < 0:
            shown.remove(spare)
    while left(LEGIBLE) < 0:
        dispensable = [one for one in shown if not (one.name or one.kept)]
        if not dispensable:
            break
        shown.remove(dispensable[-1])
    rest, widths = left(LEGIBLE), {}
    flexible = [one for one in shown if rest >= 0 and (one.name or one.text)]
    for one in sorted(flexible, key=lambda one: (one.text, needed[one])):  # names before texts
        widths[one] = min(needed[one], least(one, LEGIBLE) + rest)
        rest -= widths[one] - least(one, LEGIBLE)
    made = Table(box=None, pad_edge=False, padding=(0, GAP // 2), header_style="bold")
    for column in shown:
        made.add_column(
            column.title,
            justify="right" if column.right else "left",
            no_wrap=not (column.name or column.text),
            width=widths.get(column),
        )
    for number in range(len(rows)):
        made.add_row(*(cells[column][number] for column in shown))
    gone = ", ".join(one.title for one in columns if one not in shown)
    return made, f"-o wide also has {gone}" if gone else ""
