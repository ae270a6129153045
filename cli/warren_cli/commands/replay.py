"""`warren replay`: what other settings would have told of the past."""

import json
from typing import Annotated

import typer
from warren.clock import SystemClock
from warren.errors import SettingsError
from warren.settings_file import load_settings

from warren_cli.api_place import settings_file
from warren_cli.commands.options import ConfigOption
from warren_cli.spark import spark_session, spark_settings, tell
from warren_cli.terminal import output_console

DEFAULT = "24h"


def replay(
    config: ConfigOption = None,
    last: Annotated[
        str | None, typer.Option(help="Length of the period: 90s, 10m, 24h, 7d; default 24h")
    ] = None,
    from_: Annotated[
        str | None, typer.Option("--from", help="Its beginning instead: ISO 8601 or Unix ms")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(help="Its end: ISO 8601 or Unix ms; default: 5 s before what is archived"),
    ] = None,
    group: Annotated[
        str,
        typer.Option(
            "--group", "--groups", metavar="RE", help="Only groups that match (RE2, anywhere)"
        ),
    ] = "",
    policy: Annotated[
        str | None, typer.Option(help="Judge by this one: burrow or progress")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Such as evaluation.intervals=20"),
    ] = None,
    warm_up: Annotated[
        str, typer.Option(help="How much of the time before is judged to fill the windows")
    ] = "6h",
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table")] = False,
) -> None:
    """Judge archived events again, by other settings: which notifications there would be.

    Compares incidents as they were published with those that would have been. The result is also
    in the lake's tables replay/runs and replay/incidents.
    """
    from warren_archiver.lake.lake import Lake
    from warren_archiver.replay import shown
    from warren_archiver.replay.replay import (
        SETTLE_MS,
        Archived,
        changed,
        group_matcher,
        newest_ms,
        write,
    )
    from warren_archiver.report.period import Period, parse_length, parse_moment

    assignments = [*(set_ or []), *([] if policy is None else [f"evaluation.policy={policy}"])]
    group_matcher(group)  # whether it is an expression
    if last is not None and from_ is not None:
        raise SettingsError("--last", "the period begins with --from: leave one of them out")
    length_ms, warm_up_ms = parse_length(last or DEFAULT), parse_length(warm_up, "--warm-up")
    start_ms = None if from_ is None else parse_moment(from_, "--from")
    end_ms = None if to is None else parse_moment(to, "--to")
    if start_ms is not None and end_ms is not None:
        _check_order(start_ms, end_ms)
    # What is wrong with the changes is told before anything is downloaded.
    changed(load_settings(settings_file(config)), set_ or [], policy)
    settings = spark_settings(config)
    other = changed(settings, set_ or [], policy)
    clock = SystemClock()
    with spark_session(settings, "warren-replay") as spark:
        if end_ms is None:
            end_ms = newest_ms(spark, settings, clock.now_ms()) - SETTLE_MS
        if start_ms is None:
            start_ms = end_ms - length_ms
        _check_order(start_ms, end_ms)
        archived = Archived(spark, other, Period(start_ms, end_ms), group, warm_up_ms, tell)
        made = archived.compared(other)
        lake = Lake.at(settings.archiver.path)
        run = write(spark, lake, made, {"set": assignments, "group": group}, clock)
    if as_json:
        typer.echo(json.dumps({"run": run, "set": assignments, **shown.as_json(made)}))
    else:
        output_console().print(shown.render(made))


def _check_order(start_ms: int, end_ms: int) -> None:
    """Raises SettingsError."""
    if start_ms >= end_ms:
        raise SettingsError("--from", "must be before the period's end")
