"""What `warren-archiver` does with Spark: archiving."""

from __future__ import annotations

import argparse
from pathlib import Path
from socket import gethostname

from warren.log import configure
from warren.settings import Settings
from warren.settings_file import load_settings

from warren_archiver.passes.lake_lock import lake_lock
from warren_archiver.streaming.archive import run as run_archive


def run() -> None:
    """Archive as the command line says. Raises WarrenError."""
    parser = argparse.ArgumentParser(
        prog="warren-archiver", description="Archive Warren's topics to Delta tables."
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="warren.toml")
    parser.add_argument(
        "--once", action="store_true", help="end when all that is there now is archived"
    )
    arguments = parser.parse_args()
    settings = load_settings(arguments.config).of_service("archiver", gethostname())
    configure(settings.log, service="archiver")
    archive(settings, once=arguments.once)


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
