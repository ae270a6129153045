"""`warren report`: how long each group had which status, and how far it was behind."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer
from warren.clock import SystemClock
from warren.errors import SettingsError

from warren_cli.commands.options import ConfigOption
from warren_cli.spark import spark_session, spark_settings
from warren_cli.terminal.output_console import output_console


def report(
    config: ConfigOption = None,
    last: Annotated[str, typer.Option(help="Length of the period: 90s, 10m, 2h, 7d")] = "10m",
    until: Annotated[
        str | None,
        typer.Option(
            help="End of the period: ISO 8601 or Unix ms; default: 5 s before what is archived"
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Also write a self-contained page to this file")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table")] = False,
) -> None:
    """Minutes per status and lag percentiles of every group, from the archived evaluations."""
    from warren_archiver.report import page, table
    from warren_archiver.report.group_report import report as make_report
    from warren_archiver.report.period import parse_length, parse_moment

    length_ms = parse_length(last)
    until_ms = None if until is None else parse_moment(until)
    if html is not None:
        _make_room(html)  # Spark would have worked in vain
    settings = spark_settings(config)
    with spark_session(settings, "warren-report") as spark:
        made = make_report(spark, settings, length_ms, until_ms, clock=SystemClock())
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(made)))
    else:
        output_console().print(table.render(made))
    if html is not None:
        html.write_text(page.render(made))
        typer.echo(f"wrote {html}", err=True)


def _make_room(file: Path) -> None:
    """The folder that the file will be in; raises SettingsError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError("--html", f"{file.parent}: {error.strerror}") from None
    if file.is_dir():
        raise SettingsError("--html", f"{file} is a folder: name a file in it")
