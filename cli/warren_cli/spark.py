"""Spark for the commands that compute from the archive."""

from __future__ import annotations

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
    """The settings, with Spark's jars where they name none: those are downloaded the first time.

    Raises SettingsError or LocalError.
    """
    settings = load_settings(config)
    configure(settings.log, service=service, quiet=(*NOISY, "py4j"))
    jars = ensure_spark_jars(settings, Console(stderr=True))
    archiver = settings.archiver.model_copy(update={"jars_dir": str(jars)})
    return settings.model_copy(update={"archiver": archiver})


@contextmanager
def spark_session(settings: Settings, name: str) -> Iterator[SparkSession]:
    """A session of one's own, which takes some seconds to start; raises SparkUnavailable."""
    from warren_archiver.session import open_session  # a second, which other commands need not take

    with Console(stderr=True).status("Starting Spark"):
        spark = open_session(settings.archiver, name)
    try:
        yield spark
    finally:
        spark.stop()
