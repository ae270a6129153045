"""`warren status`: the groups that are bad, and how many there are, once or again and again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, NamedTuple, NoReturn

import httpx
import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text
from warren.errors import SettingsError
from warren.words import visible

from warren_cli.api_client import ApiUnavailable, http_client, understood, without_login
from warren_cli.commands.options import (
    ApiOption,
    ConfigOption,
    GroupOrder,
    SortOption,
    StatusName,
    asked_address,
    status_search,
)
from warren_cli.display.status_summary import is_bad, summary
from warren_cli.display.status_table import ENDLESS, severity, status_table
from warren_cli.group_feed import Groups, all_pages
from warren_cli.resources.catalogue import GROUPS
from warren_cli.resources.output import DOCUMENTS, Form, FormOption, write_document
from warren_cli.terminal.output_console import output_console

WATCH_SECONDS = 2.0
TIMEOUT = 10.0
EXIT_BAD = 3
EXIT_UNKNOWN = 4
REFUSED_FILTER = (httpx.codes.BAD_REQUEST, httpx.codes.UNPROCESSABLE_ENTITY)
_BADNESS = {"OK": 0, "WARN": 1, "ERR": 2}


class FailOn(StrEnum):
    """The least bad status that counts as a failure."""

    WARN = "warn"
    ERR = "err"


class Wanted(NamedTuple):
    """What the API is asked for."""

    cluster: str | None = None
    group: str | None = None
    statuses: tuple[str, ...] = ()
    sort: str = GroupOrder.WORST.value
    everything: bool = False
    """Also of a status that nobody asked for, and OK."""

    def parameters(self) -> dict[str, str]:
        """Of the query."""
        sort = "" if self.sort == GroupOrder.WORST.value else self.sort
        asked = {
            "cluster": self.cluster,
            "regex": self.group,
            "q": status_search(self.statuses),
            "sort": sort,
        }
        return {name: value for name, value in asked.items() if value}

    def shown(self, answer: Groups) -> Groups:
        """Of the answer what is to be seen."""
        if self.everything or self.statuses:
            return answer
        return answer._replace(groups=[group for group in answer.groups if is_bad(group)])


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
            "or worse; else 4 when one is UNKNOWN; else 1 when the data are in doubt",
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
    address = asked_address(config, api).rstrip("/")
    statuses = tuple(name.value for name in only or ())
    wanted = Wanted(cluster, group, statuses, sort.value, everything or as_json)
    form = Form.JSON if as_json else output
    if watch:
        _watch(lambda: ask(address, wanted), wanted, form)
        return
    answer = ask(address, wanted)
    _write(answer, wanted, form)
    if fail_on:
        raise typer.Exit(_exit_code(answer, fail_on))
    if answer.groups and all(group["status"] == "UNKNOWN" for group in answer.groups):
        raise typer.Exit(1)


def ask(address: str, wanted: Wanted) -> Groups:
    """Groups as the API at `address` serves them, with the doubts about these only.

    Raises ApiUnavailable, and SettingsError for a filter that the API refuses and for a cluster
    that it does not know.
    """

    def get(path: str, parameters: Mapping[str, str | list[str]]) -> Any:
        response = client.get(f"{address}/api/v1/{path}", params=parameters)
        body = response.json()
        if response.status_code in REFUSED_FILTER:
            raise SettingsError("--group", visible(str(body["detail"])))
        if response.status_code != httpx.codes.OK:
            raise ApiUnavailable(f"{without_login(address)}: {visible(str(body['detail']))}")
        return body

    with understood(address), http_client(TIMEOUT) as client:
        found = all_pages(lambda page: get("groups", wanted.parameters() | page))
        if not found.groups and wanted.cluster is not None:
            known = [one["cluster"] for one in get("clusters", {})["clusters"]]
            _check_cluster(wanted.cluster, known)
        return found


def _check_cluster(name: str, known: Sequence[str]) -> None:
    if name not in known:
        there_are = ", ".join(visible(one) for one in sorted(known)) or "none yet"
        raise SettingsError("--cluster", f"no cluster {visible(name)}; there are: {there_are}")


def _write(answer: Groups, wanted: Wanted, form: Form, *, on_a_line: bool = False) -> None:
    shown = wanted.shown(answer)
    if form is Form.JSON and on_a_line:
        typer.echo(json.dumps(shown._asdict(), ensure_ascii=False))
    elif form in DOCUMENTS:
        write_document(shown._asdict(), form)
    elif form is Form.NAME:
        for group in shown.groups:
            typer.echo(visible(GROUPS.identity(group)))
    else:
        console = output_console()
        if form is Form.WIDE:
            console.width = ENDLESS
        console.print(_render(answer, wanted, whole=form is Form.WIDE))


def _render(answer: Groups, wanted: Wanted, *, whole: bool = False) -> RenderableType:
    doubts = [Text(visible(doubt), style="yellow") for doubt in answer.doubts]
    if not answer.groups:
        return Group(Text("no consumer group to show", style="dim"), *doubts)
    shown = wanted.shown(answer).groups
    tables = [status_table(shown, whole=whole)] if shown else []
    hidden = len(answer.groups) - len(shown)
    return Group(*tables, Text(summary(answer.groups, hidden), style="dim"), *doubts)


def _exit_code(answer: Groups, fail_on: FailOn) -> int:
    limit = _BADNESS[fail_on.value.upper()]
    if any(_BADNESS.get(severity(group), 0) >= limit for group in answer.groups):
        return EXIT_BAD
    if any(group["status"] == "UNKNOWN" for group in answer.groups):
        return EXIT_UNKNOWN
    return 1 if answer.doubts else 0


def _watch(look: Callable[[], Groups], wanted: Wanted, form: Form) -> None:
    """Until Ctrl-C; outlives an API that does not answer for a while."""
    console = output_console()
    try:
        if form is not Form.TABLE or not console.is_terminal:
            _watch_lines(look, partial(_write, wanted=wanted, form=form, on_a_line=True))
        else:
            _watch_live(look, partial(_render, wanted=wanted), console)
    except KeyboardInterrupt:
        return


def _watch_lines(look: Callable[[], Groups], write: Callable[[Groups], None]) -> NoReturn:
    while True:
        answer = _look(look)
        if isinstance(answer, ApiUnavailable):
            typer.echo(f"warren: {answer}", err=True)
        else:
            write(answer)
        time.sleep(WATCH_SECONDS)


def _watch_live(
    look: Callable[[], Groups], render: Callable[[Groups], RenderableType], console: Console
) -> NoReturn:
    shown: RenderableType = Text("asking", style="dim")
    with Live(shown, console=console, vertical_overflow="ellipsis") as live:
        while True:
            answer = _look(look)
            if isinstance(answer, ApiUnavailable):
                live.update(Group(shown, Text(str(answer), style="red")))
            else:
                shown = render(answer)
                live.update(shown)
            time.sleep(WATCH_SECONDS)


def _look(look: Callable[[], Groups]) -> Groups | ApiUnavailable:
    try:
        return look()
    except ApiUnavailable as error:
        return error
