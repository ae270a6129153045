"""Spark for the commands that compute from the archive."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from warren.log import configure
from warren.settings import Settings
from warren.settings_file import load_settings

from warren_cli.api_place import settings_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from warren_archiver.steps import Step


def spark_settings(config: Path | None, *, service: str = "") -> Settings:
    """The settings, with Spark's jars where they name none: those are downloaded the first time,
    but under spark-submit, which has its own.

    Raises SettingsError or LocalError.
    """
    settings = load_settings(settings_file(config))
    configure(settings.log, service=service)
    from warren_archiver.submitted import is_submitted
    from warren_local.jars import SPARK_JARS, ensure_jars

    if is_submitted(os.environ):
        return settings
    jars = ensure_jars(SPARK_JARS, settings, Console(stderr=True))
    archiver = settings.archiver.model_copy(update={"jars_dir": str(jars)})
    return settings.model_copy(update={"archiver": archiver})


@contextmanager
def spark_session(settings: Settings, name: str) -> Iterator[SparkSession]:
    """A session of one's own, which takes some seconds to start; raises SparkUnavailable,
    and what Spark raises in it as ArchiveFailed or SettingsError.

    Ctrl-C ends the process, exit code 130: each table is written as a whole or not at all, so that
    the job can be begun again.
    """
    # A second, which other commands need not take.
    from warren_archiver.session import close_session, open_session
    from warren_archiver.spark_failures import told_by_spark

    try:
        with Console(stderr=True).status("Starting Spark"):
            spark = open_session(settings.archiver, name)
        # Spark's own handler calls the JVM over the connection that waits for an answer.
        signal.signal(signal.SIGINT, _interrupt)
        with told_by_spark(settings.archiver.path):
            try:
                yield spark
            except (Interrupted, KeyboardInterrupt):
                raise
            except BaseException:
                close_session(spark)
                raise
            close_session(spark)
    except (Interrupted, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stdout.flush()
        print("warren: interrupted; run it again when you like: it begins anew", file=sys.stderr)
        # At once: threads of Spark's would tell at length that nobody answers them. A JVM of ours
        # ends with its input, whatever it is doing; Python's workers end with it.
        os._exit(130)


class Interrupted(BaseException):
    """By Ctrl-C. No KeyboardInterrupt: of that py4j logs where it was."""


def _interrupt(*_: object) -> None:
    raise Interrupted


def tell(step: Step) -> None:
    """A line for each step of a job; how far it is within one a terminal is shown by Spark."""
    if step.doing:
        done = f"{step.phase}: {step.done} of {step.total}, {step.doing}"
        print(done, file=sys.stderr, flush=True)
