"""`warren ack`: somebody looks after an incident."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

import typer
from warren.errors import SettingsError
from warren.settings_file import load_settings
from warren.words import visible

from warren_cli.api_client import api_address, request
from warren_cli.commands.options import ApiOption, ConfigOption
from warren_cli.commands.silence import ByOption, whoever


def ack(
    incident: Annotated[
        str, typer.Argument(help="Its id, or as much of its beginning as no other open one has")
    ],
    by: ByOption = None,
    why: Annotated[str, typer.Option(help="What you say about it")] = "",
    undo: Annotated[bool, typer.Option(help="Nobody looks after it any more")] = False,
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """Say that somebody looks after an incident: it is not repeated or escalated any more.

    That it is worse, and its end, is told all the same. `warren status` shows the incidents.
    """
    address = api or api_address(load_settings(config).api)
    found = _open_incident(address, incident)
    path = f"incidents/{quote(found['id'], safe='')}/acknowledge"
    if undo:
        request("DELETE", address, path)
    else:
        request("POST", address, path, {"by": whoever(by), "why": why})
    what = "is no longer" if undo else "is"
    typer.echo(
        f"incident {found['id']} of {visible(found['cluster'])}/{visible(found['group'])} "
        f"{what} acknowledged"
    )


def _open_incident(address: str, beginning: str) -> dict[str, Any]:
    cursor: dict[str, str] = {}
    found: list[dict[str, Any]] = []
    while True:
        page = request("GET", address, "incidents", parameters={"open": True, **cursor})
        found += [one for one in page["incidents"] if one["id"].startswith(beginning)]
        if not page["next"]:
            break
        cursor = {"cursor": page["next"]}
    if not found:
        raise SettingsError("INCIDENT", f"no open incident begins with {visible(beginning)}")
    if len(found) > 1:
        raise SettingsError("INCIDENT", f"{len(found)} open incidents begin with {beginning}")
    return found[0]
