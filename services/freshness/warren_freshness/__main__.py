"""`warren-freshness`: the freshness service."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from socket import gethostname

from warren.errors import SettingsError
from warren.log import configure
from warren.settings_file import load_settings

from warren_freshness.runtime import run


def main() -> None:
    """Exit codes: 0 stopped by a signal, 1 failed, 2 a setting is wrong."""
    parser = argparse.ArgumentParser(
        prog="warren-freshness", description="Measure how late consumer groups are, in seconds."
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="warren.toml")
    arguments = parser.parse_args()
    try:
        settings = load_settings(arguments.config).of_service("freshness", gethostname())
        configure(settings.log, service="freshness")
        if settings.log.level != "debug":
            # Its troubles reach the log once, with cluster and setting; its own lines repeat them.
            logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
        run(settings)
    except SettingsError as error:
        print(f"warren-freshness: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
