"""`warren silence`: groups about which nobody is told anything for a while."""

import getpass
import json
from typing import Annotated

import typer
from warren.errors import SettingsError
from warren.path_segments import segment
from warren.words import duration, grouped, seconds_of

from warren_cli.api_client import request, sent_token
from warren_cli.commands.options import ApiOption, ConfigOption, asked_address
from warren_cli.resources import catalogue
from warren_cli.resources.output import Form, FormOption, fetch, write_list

app = typer.Typer(
    no_args_is_help=True,
)

JsonOption = Annotated[bool, typer.Option("--json", help="JSON instead of text")]
ByOption = Annotated[
    str | None, typer.Option(help="Who; default: whose token it is, else your user name")
]


def whoever(by: str | None) -> str:
    """Empty where the token says it."""
    return by or ("" if sent_token() else getpass.getuser())


def seconds(text: str, option: str) -> int:
    """Of spans as people write them: `2h`, `1d12h`, `90m`, `45 s`. Raises SettingsError that names
    `option`.
    """
    found = seconds_of(text)
    if found is None:
        raise SettingsError(option, f"{text!r} is no span of time such as 2h, 1d12h or 90m")
    return found


@app.command()
def add(
    for_: Annotated[str, typer.Option("--for", help="How long: 2h, 1d12h, 90m")],
    why: Annotated[str, typer.Option(help="What for")],
    cluster: Annotated[
        str, typer.Option(help="Clusters whose name matches somewhere (a regular expression, RE2)")
    ] = "",
    group: Annotated[
        str, typer.Option(help="Groups, likewise; one of the three is needed, '.*' is all")
    ] = "",
    owner: Annotated[
        str, typer.Option(help="Only groups of this owner, those that come later among them")
    ] = "",
    by: ByOption = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """Silence groups from now on.

    What begins meanwhile is told when the silence is over, if it is still so; the end of what was
    told before is told at once.
    """
    body = {
        "cluster": cluster,
        "group": group,
        "owner": owner,
        "for_seconds": seconds(for_, "--for"),
        "why": why,
        "by": whoever(by),
    }
    silence = request("POST", asked_address(config, api), "silences", body)
    if as_json:
        typer.echo(json.dumps(silence, indent=2, ensure_ascii=False))
        return
    typer.echo(f"silence {silence['id']} for {duration(silence['ends_at'] - silence['begins_at'])}")
    typer.echo(f"it is about {_groups(silence['groups'])} now", err=True)


def _groups(count: int) -> str:
    if count == 0:
        return "none of the groups that there are"
    return f"{grouped(count)} group{'' if count == 1 else 's'}"


@app.command("list")
def list_(
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that are over or have not begun")
    ] = False,
    output: FormOption = Form.TABLE,
    as_json: Annotated[bool, typer.Option("--json", help="The same as -o json")] = False,
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """Show the silences that hold now, as `warren get silences` does."""
    listing = fetch(catalogue.SILENCES, asked_address(config, api), {"in_force": not everything})
    write_list(catalogue.SILENCES, listing, Form.JSON if as_json else output)


@app.command()
def end(
    id_: Annotated[str, typer.Argument(metavar="ID", help="As `warren silence list` shows it")],
    as_json: JsonOption = False,
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """End a silence now: what is still bad is told."""
    silence = request("DELETE", asked_address(config, api), f"silences/{segment(id_)}")
    if as_json:
        typer.echo(json.dumps(silence, indent=2, ensure_ascii=False))
        return
    typer.echo(f"silence {silence['id']} is over")
