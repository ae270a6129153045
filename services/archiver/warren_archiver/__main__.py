"""`warren-archiver`: the archiver service; also what spark-submit is given."""

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from warren.entry import own_version
from warren.errors import SettingsError, WarrenError
from warren.log import configure
from warren.settings_file import load_settings

from warren_archiver.passes.parent import run_passes
from warren_archiver.passes.shared_metrics import DIRECTORY, PASS, share_metrics
from warren_archiver.submitted import is_submitted


def main() -> None:
    """Exit codes: 0 done or stopped by a signal, 1 failed, 2 a setting is wrong."""
    try:
        _main()
    except WarrenError as error:
        print(f"warren-archiver: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, SettingsError) else 1)


def _main() -> None:
    """Start passes on a schedule, or do one: only that imports Spark."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--version", action="version", version=f"warren-archiver {own_version()}")
    given, more = parser.parse_known_args()
    if not more and not is_submitted(os.environ):
        if find_spec("pyspark") is None:  # of its passes
            raise ModuleNotFoundError(name="pyspark")
        settings = load_settings(given.config)
        configure(settings.log, service="archiver")
        run_passes(settings, given.config)
        return
    if directory := os.environ.get(DIRECTORY):
        share_metrics(PASS, directory)
    from warren_archiver.application import run

    run()


if __name__ == "__main__":
    main()
