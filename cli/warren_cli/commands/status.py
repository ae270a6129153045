"""`warren status`: the groups that are bad, and how many there are, once or again and again."""

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text
from warren.words import counted, grouped, visible

from warren_cli.api_client import ApiRefused, ApiUnavailable
from warren_cli.commands.options import (
    ApiOption,
    ConfigOption,
    GroupOrder,
    SortOption,
    StatusName,
    asked_address,
    status_search,
)
from warren_cli.resources.catalogue import GROUPS, STATUS, Row, severity
from warren_cli.resources.output import (
    DOCUMENTS,
    ENDLESS,
    NONE,
    Form,
    FormOption,
    Listing,
    fetch,
    resource_table,
    write_document,
)
from warren_cli.terminal import UNLIMITED, output_console

WATCH_SECONDS = 2.0
EXIT_BAD = 3
EXIT_UNKNOWN = 4
_FIRST = ("ERR", "WARN", "UNKNOWN")
_BADNESS = {"OK": 0, "WARN": 1, "ERR": 2}


class FailOn(StrEnum):
    """The least bad status that counts as a failure."""

    WARN = "warn"
    ERR = "err"


def status(
    config: ConfigOption = None,
    api: ApiOption = None,
    cluster: Annotated[str | None, typer.Option(help="Only groups of this cluster")] = None,
    group: Annotated[
        str | None,
        typer.Option(help="Only groups whose name matches somewhere (a regular expression, RE2)"),
    ] = None,
    only: Annotated[
        list[StatusName] | None,
        typer.Option("--status", case_sensitive=False, help="Only this status; may be repeated"),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also those that are OK")] = False,
    sort: SortOption = GroupOrder.WORST,
    output: FormOption = Form.TABLE,
    as_json: Annotated[
        bool, typer.Option("--json", help="The same as --all -o json; with --watch one line each")
    ] = False,
    watch: Annotated[bool, typer.Option(help="Show it every 2 s, until Ctrl-C")] = False,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            case_sensitive=False,
            help="Exit 3 when a group shown, or an objective that it does not keep, is this bad "
            "or worse; else 4 when one is UNKNOWN, or --group finds none; else 1 when the data "
            "are in doubt",
        ),
    ] = None,
) -> None:
    """Show what is bad, worst first.

    Ends with a line that counts all. With --all or --status groups that are OK are shown, too.
    -o wide has whole sentences and all columns.

    late: age of the oldest record that a group has not consumed (> at least, some partitions are
    not known). loss in: time until retention may delete it, at least. old: measured too long
    ago. UNKNOWN: not judged lately, or its cluster cannot be read; why says which. silenced: nobody
    is notified now (`warren silence list`); acked: somebody has acknowledged the incident.

    An API with tokens wants one in $WARREN_TOKEN.

    Exit 1: the API does not answer, or not yet, or every group is UNKNOWN.
    Exit 2: an option or a setting is wrong.
    """
    address = asked_address(config, api)
    statuses = tuple(name.value for name in only or ())
    filters = {
        "cluster": cluster,
        "regex": group,
        "q": status_search(statuses),
        "sort": "" if sort is GroupOrder.WORST else sort.value,
    }
    is_whole = everything or as_json or bool(statuses)
    form = Form.JSON if as_json else output

    def look() -> Listing:
        return fetch(GROUPS, address, filters)

    if watch:
        _watch(look, form, is_whole=is_whole)
        return
    answer = look()
    _write(answer, form, is_whole=is_whole)
    if fail_on:
        if group and not answer.rows and not statuses:
            raise typer.Exit(EXIT_UNKNOWN)
        raise typer.Exit(_exit_code(answer, fail_on))
    if answer.rows and all(group["status"] == "UNKNOWN" for group in answer.rows):
        raise typer.Exit(1)


def _write(answer: Listing, form: Form, *, is_whole: bool, on_a_line: bool = False) -> None:
    shown = answer.rows if is_whole else [group for group in answer.rows if is_bad(group)]
    body = {**answer.body, "groups": shown}
    if form is Form.JSON and on_a_line:
        typer.echo(json.dumps(body, ensure_ascii=False))
    elif form in DOCUMENTS:
        write_document(body, form)
    elif form is Form.NAME:
        for group in shown:
            typer.echo(visible(GROUPS.identity(group)))
    else:
        console = output_console()
        is_cut = form is Form.TABLE and console.width < UNLIMITED
        width = console.width if is_cut else None
        console.width = width or ENDLESS
        wide = form is Form.WIDE
        console.print(_render(answer, width, is_whole=is_whole, wide=wide))


def _render(
    answer: Listing, width: int | None, *, is_whole: bool, wide: bool = False
) -> RenderableType:
    doubts = [Text(visible(doubt), style="yellow") for doubt in answer.body["doubts"]]
    if not answer.rows:
        return Group(Text("no consumer group to show", style="dim"), *doubts)
    shown = answer.rows if is_whole else [group for group in answer.rows if is_bad(group)]
    parts: list[RenderableType] = []
    if shown:
        table, left_out = resource_table(STATUS, shown, width, wide=wide)
        parts += [table, *([Text(left_out, style="dim")] if left_out else [])]
    counts = summary(answer.rows, len(answer.rows) - len(shown))
    return Group(*parts, Text(counts, style="dim"), *doubts)


def is_bad(group: Row) -> bool:
    """Its own status is not OK, or an objective is not kept. What is not judged is not bad."""
    return severity(group) not in ("OK", NONE)


def summary(groups: Sequence[Row], hidden: int) -> str:
    """`2 ERR · 1 WARN · 2,995 OK (--all shows them)`. `hidden`: how many are not shown."""
    counts = Counter(map(severity, groups))
    fine, not_judged = counts.pop("OK", 0), counts.pop(NONE, 0)
    names = dict.fromkeys((*_FIRST, *sorted(counts)))
    parts = [f"{grouped(counts[name])} {name}" for name in names if counts[name]]
    was = Counter(group.get("last_status") for group in groups if severity(group) == "UNKNOWN")
    parts += [f"{grouped(was[name])} of them last {name}" for name in ("ERR", "WARN") if was[name]]
    parts += [f"{grouped(fine)} OK"] if fine else []
    parts += [f"{grouped(not_judged)} not judged"] if not_judged else []
    line = " · ".join(parts)
    if fine == len(groups):
        line = f"{counted(fine, 'group')}, all OK" if fine > 1 else "1 group, OK"
    return f"{line} (--all shows {'it' if hidden == 1 else 'them'})" if hidden else line


def _exit_code(answer: Listing, fail_on: FailOn) -> int:
    limit = _BADNESS[fail_on.value.upper()]
    if any(_BADNESS.get(severity(group), 0) >= limit for group in answer.rows):
        return EXIT_BAD
    if any(group["status"] == "UNKNOWN" for group in answer.rows):
        return EXIT_UNKNOWN
    return 1 if answer.body["doubts"] else 0


def _watch(look: Callable[[], Listing], form: Form, *, is_whole: bool) -> None:
    """Until Ctrl-C; outlives an API that does not answer for a while."""
    console = output_console()
    is_live = form is Form.TABLE and console.is_terminal
    shown: RenderableType = Text("asking", style="dim")
    try:
        with (
            Live(shown, console=console, vertical_overflow="ellipsis")
            if is_live
            else (nullcontext()) as live
        ):
            while True:
                try:
                    answer = look()
                except (ApiUnavailable, ApiRefused) as error:
                    if live is not None:
                        live.update(Group(shown, Text(str(error), style="red")))
                    else:
                        typer.echo(f"warren: {error}", err=True)
                else:
                    if live is not None:
                        shown = _render(answer, console.width, is_whole=is_whole)
                        live.update(shown)
                    else:
                        _write(answer, form, is_whole=is_whole, on_a_line=True)
                time.sleep(WATCH_SECONDS)
    except KeyboardInterrupt:
        return
