"""`python -m warren_archiver.report`: the reports that pages link, each over the one before it.

The archiver starts it after each pass: what reading and plotting take is given back.
"""

import argparse
import os
import sys
from pathlib import Path

from warren.clock import Clock, SystemClock
from warren.errors import WarrenError
from warren.history.lake_tables import LakeTables
from warren.history.reader_options import reader_options
from warren.log import configure
from warren.report_files import REPORT_FILES
from warren.settings import Settings
from warren.settings_file import load_settings

from warren_archiver.errors import NothingArchived
from warren_archiver.report.make import report
from warren_archiver.report.page import render


def write_reports(settings: Settings, folder: Path, clock: Clock) -> None:
    """A reader finds a whole file at any moment, the old one or the new one.

    Raises NothingArchived, LakeUnreadable or OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, _, length_ms in REPORT_FILES:
        with LakeTables(settings.archiver.path, reader_options(settings.archiver)) as tables:
            made = report(tables, settings, length_ms, clock=clock)
        new = folder / f".{name}"
        new.write_text(render(made), encoding="utf-8")
        # Pages say by it how old a report is: as old as what is known in it, whenever it was made.
        os.utime(new, times=(made.period.end_ms / 1000,) * 2)
        new.replace(folder / name)


def main() -> None:
    """Exit codes: 0 written, or nothing is archived yet; 1 not written, a line says why."""
    parser = argparse.ArgumentParser(prog="python -m warren_archiver.report")
    parser.add_argument("--config", type=Path, metavar="FILE", help="warren.toml")
    parser.add_argument("--into", type=Path, metavar="DIR", required=True)
    arguments = parser.parse_args()
    try:
        settings = load_settings(arguments.config)
        configure(settings.log, service="reports")
        write_reports(settings, arguments.into, SystemClock())
    except NothingArchived:
        pass
    except (WarrenError, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
