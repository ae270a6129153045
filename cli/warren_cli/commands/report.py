"""`warren report`: what groups were like in a day, a week or until now, and what to do."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from warren.clock import SystemClock
from warren.errors import SettingsError, WarrenError
from warren.words import utc

from warren_cli.api_place import settings_file
from warren_cli.commands.options import ConfigOption
from warren_cli.spark import spark_settings
from warren_cli.terminal import UNLIMITED, output_console

if TYPE_CHECKING:
    from warren_archiver.report.period import Period

DEFAULT = "10m"


def report(
    config: ConfigOption = None,
    last: Annotated[
        str | None,
        typer.Option(
            "--last",
            "--since",
            metavar="LENGTH",
            help=f"Until now: 90s, 10m, 2h, 7d; default {DEFAULT}",
        ),
    ] = None,
    day: Annotated[
        str | None, typer.Option(metavar="DATE", help="That day, UTC: 2026-11-21")
    ] = None,
    week: Annotated[
        str | None, typer.Option(metavar="WEEK", help="From Monday, ISO 8601: 2026-W47")
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="With --last, its end: ISO 8601 or Unix ms; default: 5 s before what is archived",
        ),
    ] = None,
    group: Annotated[
        str | None, typer.Option(metavar="RE", help="Only groups that match (RE2, anywhere)")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Also write a self-contained page to this file")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Also write CSV files to this folder")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table")] = False,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Of what is archived: needs neither Spark nor Java")
    ] = False,
) -> None:
    """Report on every group, from the archive: what it was like, and what to do.

    What is new is archived first, unless the period has been over for a day.
    """
    wanted = _wanted(last, day, week, until)
    _make_room("--html", html, is_folder=False)
    _make_room("--csv", csv, is_folder=True)
    from warren.contracts.topics import ARCHIVER_AWAY_MS
    from warren.history.lake_tables import LakeTables
    from warren.history.reader_options import reader_options
    from warren.log import configure
    from warren.settings_file import load_settings
    from warren_archiver.report import export, page
    from warren_archiver.report.make import report as make_report

    from warren_cli.resources.group_report import render

    settings = load_settings(settings_file(config))
    configure(settings.log, service="")
    archived_ms = SystemClock().now_ms() - ARCHIVER_AWAY_MS
    # Topics may have something of that time that is not archived yet.
    if not as_is and (isinstance(wanted, int) or wanted.end_ms > archived_ms):
        _archive_first(config)
    with LakeTables(settings.archiver.path, reader_options(settings.archiver)) as tables:
        made = make_report(tables, settings, wanted, clock=SystemClock(), groups=group)
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(made), default=str))
    else:
        console = output_console()
        console.print(render(made, console.width if console.width < UNLIMITED else None))
    if html is not None:
        with writing("--html"):
            html.write_text(page.render(made), encoding="utf-8")
        typer.echo(f"wrote {html}", err=True)
    if csv is not None:
        with writing("--csv"):
            written = export.write_csv(made, csv)
        for file in written:
            typer.echo(f"wrote {file}", err=True)


def _archive_first(config: Path | None) -> None:
    """A pass in a process of its own, whose memory is free again when the report is made."""
    from warren_archiver.passes.parent import Child, pass_command, pass_environ

    typer.echo("archiving what is new, which takes a minute (--as-is does without)", err=True)
    try:
        environ = {**pass_environ(spark_settings(config).archiver), "WARREN_LOG__LEVEL": "warning"}
        failed = Child("pass", pass_command(settings_file(config)), environ).problem()
    except WarrenError as error:
        failed = str(error)
        typer.echo(f"warren: {failed}", err=True)
    if failed:
        typer.echo("warren: this is of what was archived before", err=True)


@contextmanager
def writing(option: str) -> Iterator[None]:
    """A file that cannot be written is SettingsError of this option."""
    try:
        yield
    except OSError as error:
        raise SettingsError(option, str(error.strerror or error)) from None


def _wanted(last: str | None, day: str | None, week: str | None, until: str | None) -> Period | int:
    """Raises SettingsError."""
    from warren_archiver.report.period import (
        Period,
        parse_day,
        parse_length,
        parse_moment,
        parse_week,
    )

    if sum(given is not None for given in (last, day, week)) > 1:
        raise SettingsError("--last", "give one of --last, --day and --week")
    if until is not None and (day is not None or week is not None):
        raise SettingsError("--until", "a day or a week has its end")
    if day is not None:
        return _begun("--day", parse_day(day))
    if week is not None:
        return _begun("--week", parse_week(week))
    length_ms = parse_length(last or DEFAULT)
    if until is None:
        return length_ms
    end_ms = parse_moment(until)
    return _begun("--until", Period(end_ms - length_ms, end_ms))


def _begun(option: str, period: Period) -> Period:
    """Raises SettingsError where it has not."""
    if period.start_ms > SystemClock().now_ms():
        raise SettingsError(option, f"begins at {utc(period.start_ms)}: that is still to come")
    return period


def _make_room(option: str, place: Path | None, *, is_folder: bool) -> None:
    """The folder that files will be in; raises SettingsError."""
    if place is None:
        return
    folder = place if is_folder else place.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(option, f"{folder}: {error.strerror}") from None
    if not is_folder and place.is_dir():
        raise SettingsError(option, f"{place} is a folder: name a file in it")
