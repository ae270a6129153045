"""Options that several commands share."""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from warren_cli.api_place import api_in_force

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        help="Settings file; default $WARREN_CONFIG, then that of the `warren up` that runs in "
        "this directory, then ./warren.toml",
    ),
]

FileOption = Annotated[
    Path | None,
    typer.Option(
        "--config", "-c", help="Settings file; default $WARREN_CONFIG, then ./warren.toml"
    ),
]
"""Of commands that begin with it, whatever runs here."""

ApiOption = Annotated[
    str | None,
    # The backslash is for rich: it would take what is in brackets for a style.
    typer.Option(
        "--api",
        help=r"Address of the API; default: \[api] host and port, or those of the `warren up` that "
        "runs in this directory",
    ),
]


class StatusName(StrEnum):
    """A group's status as it is shown, in any case on the command line."""

    OK = "OK"
    WARN = "WARN"
    ERR = "ERR"
    UNKNOWN = "UNKNOWN"


def status_search(names: Iterable[str]) -> str:
    """Words of the search for groups that have one of the statuses: `status:err,warn`."""
    query = ",".join(names).lower()
    return f"status:{query}" if query else ""


class GroupOrder(StrEnum):
    """As pages and the API sort groups."""

    WORST = "worst"
    NAME = "name"
    LAG = "lag"
    LATE = "late"
    LOSS = "loss"
    SINCE = "since"


SortOption = Annotated[
    GroupOrder,
    typer.Option(
        help="What comes first: the worst, the first name, the largest lag, the latest, who loses "
        "data first, what has just begun"
    ),
]


def asked_address(config: Path | None, api: str | None) -> str:
    """What --api says, else where the API of this directory or of the settings is."""
    return api or api_in_force(config)
