"""`warren-archiver`: the archiver service; also what spark-submit is given."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from socket import gethostname

from warren.errors import SettingsError, WarrenError
from warren.log import configure
from warren.settings_file import load_settings

from warren_archiver.streaming.archive import run


def main() -> None:
    """Exit codes: 0 done or stopped by a signal, 1 failed, 2 a setting is wrong."""
    parser = argparse.ArgumentParser(
        prog="warren-archiver", description="Archive Warren's topics to Delta tables."
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="warren.toml")
    parser.add_argument(
        "--once", action="store_true", help="end when all that is there now is archived"
    )
    arguments = parser.parse_args()
    try:
        settings = load_settings(arguments.config).of_service("archiver", gethostname())
        configure(settings.log, service="archiver")
        # It logs what our functions raise for Spark, with the stack; it is raised again as well.
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        run(settings, once=arguments.once)
    except SettingsError as error:
        print(f"warren-archiver: {error}", file=sys.stderr)
        sys.exit(2)
    except WarrenError as error:
        print(f"warren-archiver: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
