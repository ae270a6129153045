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
    str | None, typer.Option("--api", help="Address of the API; default: [api] host and port")
]
