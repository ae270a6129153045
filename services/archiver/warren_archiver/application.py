"""What `warren-archiver` does with Spark: archiving, and jobs on what is archived."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from socket import gethostname

from warren.log import configure
from warren.settings import Settings
from warren.settings_file import load_settings

from warren_archiver.jobs import JOBS, Job
from warren_archiver.passes.lake_lock import lake_lock
from warren_archiver.session import close_session, open_session
from warren_archiver.spark_failures import told_by_spark
from warren_archiver.streaming.archive import run as run_archive


def run() -> int:
    """The exit code. Raises WarrenError."""
    arguments = _parser().parse_args()
    settings = load_settings(arguments.config).of_service("archiver", gethostname())
    configure(settings.log, service="archiver")
    if arguments.job is not None:
        return _run(arguments.job, JOBS[arguments.job], settings, arguments)
    archive(settings, once=arguments.once)
    return 0


def archive(settings: Settings, *, once: bool) -> None:
    """Archives in this process: `once` what is there now, else all that comes. Only one process
    does so at a time. A single pass serves no metrics: who started it does.

    Raises ArchiverError, SettingsError or, with `once`, KafkaError.
    """
    if once:
        archiver = settings.archiver.model_copy(update={"metrics_port": 0})
        settings = settings.model_copy(update={"archiver": archiver})
    with lake_lock(settings.archiver.path):
        run_archive(settings, once=once)


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
    return answer.code
