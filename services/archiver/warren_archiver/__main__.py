"""`warren-archiver`: the archiver service, and jobs on what it has archived; also what spark-submit
is given."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from socket import gethostname

from warren.errors import SettingsError, WarrenError
from warren.log import configure
from warren.settings import Settings
from warren.settings_file import load_settings

from warren_archiver.jobs import JOBS, Job
from warren_archiver.session import close_session, open_session
from warren_archiver.spark_failures import told_by_spark
from warren_archiver.streaming.archive import run


def main() -> None:
    """Exit codes: 0 done or stopped by a signal, 1 failed, 2 a setting is wrong; of a job also 3:
    `check` could not compare all."""
    arguments = _parser().parse_args()
    try:
        settings = load_settings(arguments.config).of_service("archiver", gethostname())
        configure(settings.log, service="archiver")
        if arguments.job is None:
            run(settings, once=arguments.once)
        else:
            sys.exit(_run(arguments.job, JOBS[arguments.job], settings, arguments))
    except SettingsError as error:
        print(f"warren-archiver: {error}", file=sys.stderr)
        sys.exit(2)
    except WarrenError as error:
        print(f"warren-archiver: {error}", file=sys.stderr)
        sys.exit(1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="warren-archiver",
        description="Archive Warren's topics to Delta tables, or do one job on these.",
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="warren.toml")
    parser.add_argument(
        "--once", action="store_true", help="end when all that is there now is archived"
    )
    jobs = parser.add_subparsers(dest="job", metavar="JOB", title="jobs, each answers in JSON")
    for name, job in JOBS.items():
        own = jobs.add_parser(name, help=job.summary, description=job.summary)
        own.add_argument("--config", type=Path, metavar="FILE", default=argparse.SUPPRESS)
        job.declare(own)
    return parser


def _run(name: str, job: Job, settings: Settings, arguments: argparse.Namespace) -> int:
    job.prepare(settings, arguments)
    spark = open_session(settings.archiver, f"warren-{name}")
    with told_by_spark(settings.archiver.path):
        try:
            answer = job.run(spark, settings, arguments)
        finally:
            close_session(spark)
    print(json.dumps(answer.json))
    if answer.why:
        print(f"warren-archiver: {answer.why}", file=sys.stderr)
    return answer.code


if __name__ == "__main__":
    main()
