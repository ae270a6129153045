"""Spark for the commands that compute from the archive."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from warren.log import NOISY, configure
from warren.settings import Settings
from warren.settings_file import load_settings
from warren_local.jars import ensure_spark_jars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spark_settings(config: Path | None, *, service: str = "") -> Settings:
    """The settings, with Spark's jars where they name none: those are downloaded the first time,
    but under spark-submit, which has its own.

    Raises SettingsError or LocalError.
    """
    settings = load_settings(config)
    configure(settings.log, service=service, quiet=(*NOISY, "py4j"))
    from warren_archiver.session import is_submitted  # a second, as below

    if is_submitted(os.environ):
        return settings
    jars = ensure_spark_jars(settings, Console(stderr=True))
    archiver = settings.archiver.model_copy(update={"jars_dir": str(jars)})
    return settings.model_copy(update={"archiver": archiver})


@contextmanager
def spark_session(settings: Settings, name: str) -> Iterator[SparkSession]:
    """A session of one's own, which takes some seconds to start; raises SparkUnavailable, and what
    Spark raises in it as ArchiveFailed or SettingsError."""
    from warren_archiver.session import open_session  # a second, which other commands need not take
    from warren_archiver.spark_failures import told_by_spark

    with Console(stderr=True).status("Starting Spark"):
        spark = open_session(settings.archiver, name)
    with told_by_spark(settings.archiver.path):
        try:
            yield spark
        finally:
            spark.stop()
