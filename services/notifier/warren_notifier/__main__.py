"""`warren-notifier`: the notifier service."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from socket import gethostname

from warren.errors import SettingsError
from warren.log import configure
from warren.redaction import Redaction
from warren.settings import Settings
from warren.settings.secrets import secret_values
from warren.settings_file import load_settings

from warren_notifier.service import run


def main() -> None:
    """Exit codes: 0 stopped by a signal, 1 failed, 2 a setting is wrong."""
    parser = argparse.ArgumentParser(
        prog="warren-notifier", description="Deliver status changes to people and machines."
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="warren.toml")
    arguments = parser.parse_args()
    try:

        def load() -> Settings:
            return load_settings(arguments.config).of_service("notifier", gethostname())

        settings = load()
        redaction = Redaction(secret_values(settings))
        configure(settings.log, service="notifier", redaction=redaction)
        run(settings, load, redaction)
    except SettingsError as error:
        print(f"warren-notifier: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
