"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
