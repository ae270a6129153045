"""Rows as a table, JSON, YAML or names.

Lists of the API come page by page; one group, topic or incident by a name as people type it.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import typer
from rich.table import Table
from rich.text import Text
from warren.clock import SystemClock
from warren.errors import SettingsError
from warren.path_segments import segment
from warren.words import visible

from warren_cli.api_client import ApiFoundNothing, Parameters, pages, request, understood
from warren_cli.resources.catalogue import (
    CLUSTERS,
    GROUPS,
    INCIDENTS,
    TOPICS,
    Column,
    Resource,
    Row,
    path_name,
)
from warren_cli.terminal import output_console

PAGE = 1000
_FEW = 10
_WITHOUT_PAGES = {"clusters", "silences"}


class Listing(NamedTuple):
    """`body`: as the API gives it, with all pages' rows. `total`: how many match."""

    rows: list[Row]
    body: dict[str, Any]
    total: int


def fetch(
    resource: Resource, address: str, filters: Mapping[str, Any], limit: int | None = None
) -> Listing:
    """The rows that match, as far as `limit`; the API filters and sorts.

    Raises what `request` raises, and SettingsError for a cluster that there is not.
    """
    given = {name: value for name, value in filters.items() if value}
    paged = {} if resource.name in _WITHOUT_PAGES else {"limit": str(min(PAGE, limit or PAGE))}
    parameters: Parameters = given | paged

    def ask(page: dict[str, str]) -> Any:
        return request("GET", address, resource.name, parameters={**parameters, **page})

    first: dict[str, Any] = {}
    rows: list[Row] = []
    try:
        with understood(address):
            for body in pages(ask):
                first = first or body
                rows += body[resource.name]
                if limit is not None and len(rows) >= limit:
                    break
            for row in rows:
                resource.identity(row)
    except ApiFoundNothing as nothing:
        raise SettingsError("--cluster", str(nothing)) from None
    rows = rows[:limit]
    kept = {name: value for name, value in first.items() if name != "next"}
    return Listing(rows, {**kept, resource.name: rows}, first.get("total", len(rows)))


def clusters(address: str) -> list[str]:
    """Names of those that the API knows."""
    return [row["cluster"] for row in fetch(CLUSTERS, address, {}).rows]


def require_known(name: str, known: Collection[str]) -> None:
    """Raises SettingsError when the cluster is not one of these."""
    if name in known:
        return
    there_are = "; `warren get clusters` lists them"
    if len(known) <= _FEW:
        there_are = f"; there are: {', '.join(map(visible, sorted(known))) or 'none yet'}"
    raise SettingsError("--cluster", f"no cluster {visible(name)}{there_are}")


def group(address: str, name: str, cluster: str | None) -> dict[str, Any]:
    """`GET /api/v1/groups/CLUSTER/GROUP`.

    Raises SettingsError when there is none of this name, or several clusters have one.
    """
    return _named(GROUPS, "group", address, name, cluster)


def topic(address: str, name: str, cluster: str | None) -> dict[str, Any]:
    """`GET /api/v1/topics/CLUSTER/TOPIC`. Raises as `group` does."""
    return _named(TOPICS, "topic", address, name, cluster)


def incident(address: str, beginning: str) -> dict[str, Any]:
    """The incident whose id begins so, with `notifications`: who was told of it.

    Raises SettingsError when there is none, or more than one.
    """
    found = find_incident(address, beginning, is_open=False)
    parameters = {"incident": found["id"]}
    told = request("GET", address, "notifications", parameters=parameters)
    return {**found, "notifications": told["notifications"], "pending": told["pending"]}


def find_incident(address: str, beginning: str, *, is_open: bool) -> Row:
    """Without who was told, by its id or by that of a condition, which groups are listed with, else
    the newest of the group CLUSTER/NAME.

    Raises as `incident` does.
    """
    if not beginning:
        raise SettingsError("INCIDENT", "is empty: name one, as `warren get incidents` lists them")
    known = fetch(INCIDENTS, address, {"open": is_open}).rows  # newest first
    found = [
        each
        for each in known
        if any(one["id"].startswith(beginning) for one in (each, *each["conditions"]))
    ]
    found = found or [each for each in known if beginning == path_name(each, "group")][:1]
    kind = "open incident" if is_open else "incident"
    if not found:
        problem = f"no {kind} begins with {visible(beginning)}, or is of a group of that name"
        raise SettingsError("INCIDENT", f"{problem} (CLUSTER/NAME)")
    if len(found) > 1:
        raise SettingsError("INCIDENT", f"{len(found)} {kind}s begin with {visible(beginning)}")
    return found[0]


def _named(
    resource: Resource, kind: str, address: str, name: str, cluster: str | None
) -> dict[str, Any]:
    """By CLUSTER/NAME, as it is listed, else by its name: those of groups may hold slashes, and one
    that is called like another's CLUSTER/NAME is not to stand before it.
    """
    if not name:
        hint = f"name one, as `warren get {resource.name}` lists them"
        raise SettingsError("NAME", f"is empty: {hint}")
    known = clusters(address) if cluster is None else [cluster]
    first, _, rest = name.partition("/")
    is_path = cluster is None and first in known
    found = _in(resource, address, [first] if is_path else [], rest)
    found = found or _in(resource, address, known, name)
    if not found:
        if cluster is not None:
            require_known(cluster, clusters(address))
        hint = f"`warren get {resource.name}` lists them"
        raise SettingsError("NAME", f"no {kind} {visible(name)}; {hint}")
    if len(found) > 1:
        paths = ", ".join(visible(path_name(whole, kind)) for whole in found)
        raise SettingsError("NAME", f"{len(found)} clusters have it: {paths} (--cluster)")
    return found[0]


def _in(resource: Resource, address: str, where: Iterable[str], name: str) -> list[dict[str, Any]]:
    """All that is known of those of this name, each asked for by itself: an expression for a long
    name may be longer than the API takes.
    """
    found = []
    for cluster in where if name else ():
        with suppress(ApiFoundNothing):
            path = f"{resource.name}/{segment(cluster)}/{segment(name)}"
            found.append(request("GET", address, path))
    return found


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
