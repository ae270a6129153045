"""What `warren-archiver` can do beside archiving, for spark-submit: the commands `warren archive …`
and `warren replay`, which answer in JSON.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python
from pyspark.sql import SparkSession
from warren.clock import SystemClock
from warren.errors import SettingsError
from warren.settings import ArchiverSettings, Settings

from warren_archiver.check.backfill import backfill
from warren_archiver.check.recount import check
from warren_archiver.check.topic_check import exit_code
from warren_archiver.lake.lake import Lake
from warren_archiver.replay import tables
from warren_archiver.replay.replay import SETTLE_MS, Archived, group_matcher, newest_ms
from warren_archiver.replay.shown import as_json
from warren_archiver.replay.what_if import changed
from warren_archiver.report.period import Period, parse_day, parse_length, parse_moment
from warren_archiver.streaming.upkeep import Upkeep

LAST = "24h"


class Answer(NamedTuple):
    """`json`: what is printed; `code`: the exit code."""

    json: Any
    code: int = 0


class Job(NamedTuple):
    """`prepare` looks at the arguments before Spark is started: SettingsError for wrong ones."""

    summary: str
    declare: Callable[[ArgumentParser], None]
    prepare: Callable[[Settings, Namespace], None]
    run: Callable[[SparkSession, Settings, Namespace], Answer]


def time_to_archive(archiver: ArchiverSettings) -> float:
    """Seconds in which what is in the topics now should be archived; 0 where nobody waits for that,
    as until the next pass."""
    return 0.0 if archiver.every else 180.0


def _check(spark: SparkSession, settings: Settings, given: Namespace) -> Answer:
    wait = time_to_archive(settings.archiver) if given.wait is None else given.wait
    found = check(spark, settings, wait=wait)
    return Answer(to_jsonable_python(found), exit_code(found, wait))


def _upkeep(spark: SparkSession, settings: Settings, _: Namespace) -> Answer:
    lake = Lake.at(settings.archiver.path)
    done = Upkeep(spark, lake, settings.archiver, SystemClock()).run()
    return Answer([each._asdict() for each in done])


def _backfill(spark: SparkSession, settings: Settings, given: Namespace) -> Answer:
    return Answer(backfill(spark, settings, date.fromisoformat(given.day), SystemClock()))


def _look_at_day(given: Namespace) -> None:
    parse_day(given.day)


def _replay(spark: SparkSession, settings: Settings, given: Namespace) -> Answer:
    other, clock = changed(settings, given.set, given.policy), SystemClock()
    if given.to is None:
        end = newest_ms(spark, settings, clock.now_ms()) - SETTLE_MS
    else:
        end = parse_moment(given.to, "--to")
    start = end - parse_length(given.last or LAST)
    if given.from_ is not None:
        start = parse_moment(given.from_, "--from")
    if start >= end:
        raise SettingsError("--from", "must be before the period's end")
    warm_up = parse_length(given.warm_up, "--warm-up")
    made = Archived(spark, other, Period(start, end), given.group, warm_up).compared(other)
    policy = [] if given.policy is None else [f"evaluation.policy={given.policy}"]
    changes = {"set": [*given.set, *policy], "group": given.group}
    run = tables.write(spark, Lake.at(settings.archiver.path), made, changes, clock)
    return Answer({"run": run, **changes, **as_json(made)})


def _look_at_replay(settings: Settings, given: Namespace) -> None:
    changed(settings, given.set, given.policy)
    group_matcher(given.group)
    for moment, option in ((given.from_, "--from"), (given.to, "--to")):
        if moment is not None:
            parse_moment(moment, option)
    if given.last is not None and given.from_ is not None:
        raise SettingsError("--last", "the period begins with --from: leave one of them out")
    parse_length(given.last or LAST)
    parse_length(given.warm_up, "--warm-up")


def _declare_check(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--wait",
        type=float,
        metavar="SECONDS",
        help="for a running archiver; default 180, 0 where it works on a schedule",
    )


def _declare_backfill(parser: ArgumentParser) -> None:
    parser.add_argument("--day", required=True, help="UTC day of the events: 2026-11-21")


def _declare_replay(parser: ArgumentParser) -> None:
    parser.add_argument("--last", help="length of the period: 90s, 10m, 24h, 7d; default 24h")
    parser.add_argument("--from", dest="from_", help="its beginning instead")
    parser.add_argument("--to", help="its end")
    parser.add_argument("--group", default="", metavar="RE", help="only groups that match (RE2)")
    parser.add_argument("--policy", help="judge by this one")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--warm-up", default="6h", help="judged before, to fill the windows")


JOBS: Mapping[str, Job] = {
    "check": Job(
        "recount what is archived against the topics",
        _declare_check,
        lambda *_: None,
        _check,
    ),
    "upkeep": Job("drop old days, remove unused files", lambda _: None, lambda *_: None, _upkeep),
    "backfill": Job(
        "make silver and gold of a day's events again",
        _declare_backfill,
        lambda _, given: _look_at_day(given),
        _backfill,
    ),
    "replay": Job(
        "judge archived events by other settings", _declare_replay, _look_at_replay, _replay
    ),
}
