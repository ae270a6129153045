"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from warren.settings_file import load_settings

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", "-c", help="Settings file; default $WARREN_CONFIG, then ./warren.toml"
    ),
]

ApiOption = Annotated[
    str | None,
    # The backslash is for rich: it would take what is in brackets for a style.
    typer.Option("--api", help=r"Address of the API; default: \[api] host and port"),
]


def asked_address(config: Path | None, api: str | None) -> str:
    """What --api says, else where an API with the settings of --config is."""
    return api or load_settings(config).api.address
