"""What `warren-archiver` does with Spark: archiving."""

import argparse
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import gethostname

import structlog
from warren.errors import SettingsError
from warren.lake_path import local_path
from warren.log import configure
from warren.settings import Settings
from warren.settings_file import load_settings

from warren_archiver.streaming.archive import run as run_archive

log = structlog.get_logger(__name__)
LOCK = ".archiver-lock"


@contextmanager
def lake_lock(path: str) -> Iterator[None]:
    """Wait for whoever holds it, hold it, give it back. `path`: the lake's, as it was set.

    The kernel gives it back for a process that was killed. Raises SettingsError.
    """
    folder = local_path(path)
    if folder is None:
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder / LOCK, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise SettingsError("archiver.path", f"{folder}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.warning(
                "another process archives to this lake: waiting until it has ended", lake=path
            )
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def run() -> None:
    """Do one pass, as the command line says. Raises WarrenError."""
    parser = argparse.ArgumentParser(
        prog="warren-archiver", description="Archive Warren's topics to Delta tables."
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="warren.toml")
    parser.add_argument(
        "--once", action="store_true", help="do one pass, as always under spark-submit"
    )
    settings = load_settings(parser.parse_args().config).of_service("archiver", gethostname())
    configure(settings.log, service="archiver")
    archive(settings)


def archive(settings: Settings) -> None:
    """Do one pass in this process, once no other archives to this lake.

    Raises ArchiverError, SettingsError or KafkaError.
    """
    with lake_lock(settings.archiver.path):
        run_archive(settings)
