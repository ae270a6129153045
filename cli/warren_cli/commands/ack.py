"""`warren ack`: somebody looks after an incident."""

from typing import Annotated

import typer
from warren.path_segments import segment
from warren.words import visible

from warren_cli.api_client import request
from warren_cli.commands.options import ApiOption, ConfigOption, asked_address
from warren_cli.commands.silence import ByOption, whoever
from warren_cli.resources.output import find_incident


def ack(
    incident: Annotated[
        str,
        typer.Argument(
            help="Its id, or as much of its beginning as no other open one has, or CLUSTER/NAME of "
            "the group"
        ),
    ],
    by: ByOption = None,
    why: Annotated[str, typer.Option(help="Note (optional)")] = "",
    undo: Annotated[bool, typer.Option(help="Take it back")] = False,
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """Acknowledge an incident (stops repeats).

    You still get worsening and recovery. `warren get incidents` lists them.
    """
    address = asked_address(config, api)
    found = find_incident(address, incident, is_open=True)
    path = f"incidents/{segment(found['id'])}/acknowledge"
    if undo:
        request("DELETE", address, path)
    else:
        request("POST", address, path, {"by": whoever(by), "why": why})
    what = "is no longer" if undo else "is"
    typer.echo(
        f"incident {found['id']} of {visible(found['cluster'])}/{visible(found['group'])} "
        f"{what} acknowledged"
    )
