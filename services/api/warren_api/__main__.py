"""`warren-api`: the API service."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from socket import gethostname

from warren.errors import SettingsError
from warren.log import NOISY, configure
from warren.settings_file import load_settings

from warren_api.server import run


def main() -> None:
    """Exit codes: 0 stopped by a signal, 1 failed, 2 a setting is wrong."""
    parser = argparse.ArgumentParser(
        prog="warren-api", description="Serve judged consumer groups over HTTP."
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="warren.toml")
    arguments = parser.parse_args()
    try:
        settings = load_settings(arguments.config).of_service("api", gethostname())
        configure(settings.log, service="api", quiet=(*NOISY, "uvicorn"))
        run(settings)
    except SettingsError as error:
        print(f"warren-api: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
