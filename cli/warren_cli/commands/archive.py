"""`warren archive`: Warren's topics as Delta tables."""

from __future__ import annotations

import json
import os
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text
from warren.words import grouped

from warren_cli.api_place import settings_file
from warren_cli.commands.options import ConfigOption
from warren_cli.listed_commands import ListedCommands
from warren_cli.spark import spark_session, spark_settings, tell
from warren_cli.terminal import output_console

if TYPE_CHECKING:
    from warren_archiver.check.topic_check import TopicCheck
    from warren_archiver.text_table import TextTable

app = typer.Typer(cls=ListedCommands, no_args_is_help=True)
_EQUAL, _DIFFERS = Text("equal", style="green"), Text("differs", style="red")


@app.command()
def run(
    config: ConfigOption = None,
    once: Annotated[bool, typer.Option("--once", help="Do one pass now, and end")] = False,
) -> None:
    """Archive every topic, in passes. Spark needs Java; its jars are downloaded once."""
    settings = spark_settings(config, service="archiver")
    from warren_archiver.passes.parent import run_passes
    from warren_archiver.submitted import is_submitted

    if not (once or is_submitted(os.environ)):
        run_passes(settings, settings_file(config))
        return
    from warren_archiver.application import archive

    archive(settings)


@app.command()
def check(
    config: ConfigOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table")] = False,
) -> None:
    """Recount what is archived against the topics.

    Exit 1 when a record is missing, twice or invented.
    """
    settings = spark_settings(config)
    from pydantic_core import to_jsonable_python
    from warren_archiver.check.topic_check import check as recount

    with spark_session(settings, "warren-archive-check") as spark:
        found = recount(spark, settings)
    if as_json:
        typer.echo(json.dumps(to_jsonable_python(found)))
    else:
        _print(found)
    raise typer.Exit(not all(each.correct for each in found))


@app.command()
def upkeep(config: ConfigOption = None) -> None:
    """Drop days that are no longer kept, put days that are over in order, remove unused files.

    The archiver does it by itself, each day; beside it, this is safe too.
    """
    settings = spark_settings(config)
    from warren.clock import SystemClock
    from warren_archiver.lake.lake import Lake
    from warren_archiver.streaming.upkeep import Upkeep

    with spark_session(settings, "warren-archive-upkeep") as spark:
        lake = Lake.at(settings.archiver.path)
        done = Upkeep(spark, lake, settings.archiver, SystemClock()).run(tell=tell)
    table = _table("TABLE", "files before", "files", "days put in order", "days dropped")
    for each in done:
        table.row(each.table, *map(grouped, each[1:]))
    output_console().print(table)


@app.command()
def backfill(
    day: Annotated[
        datetime, typer.Option(formats=["%Y-%m-%d"], help="UTC day of the archived events")
    ],
    config: ConfigOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table")] = False,
) -> None:
    """Make silver and gold of a day's events again: what is missing or other is written.

    Best while no archiver writes there: who comes second fails, and may try again.
    """
    settings = spark_settings(config)
    from warren.clock import SystemClock
    from warren_archiver.check.backfill import backfill as make_again

    with spark_session(settings, "warren-archive-backfill") as spark:
        written = make_again(spark, settings, day.date(), SystemClock(), tell)
    if as_json:
        typer.echo(json.dumps(written))
        return
    table = _table("TABLE", "rows written")
    for name, rows in written.items():
        table.row(name, grouped(rows))
    output_console().print(table)


def _table(first: str, *figures: str, verdicts: bool = False) -> TextTable:
    from warren_archiver.text_table import TextTable

    return TextTable([first], figures, [""] if verdicts else [])


def _print(checks: list[TopicCheck]) -> None:
    table = _table("TOPIC", "in topic", "archived", "to do", verdicts=True)
    for found in checks:
        counts = (found.retained, found.archived, found.behind)
        table.row(found.topic, *map(grouped, counts), _verdict(found))
    console = output_console()
    console.print(table)
    for found in checks:
        for difference in found.differences:
            console.print(f"{found.topic}: {difference}", soft_wrap=True, highlight=False)
    if any(found.behind for found in checks):
        console.print("To do comes with the next pass, or now: `warren archive run --once`")


def _verdict(found: TopicCheck) -> Text:
    if found.equal:
        return _EQUAL
    return Text("behind", style="yellow") if found.correct else _DIFFERS
