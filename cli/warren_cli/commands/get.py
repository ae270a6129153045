"""`warren get`: lists, filtered and sorted by the API."""

from pathlib import Path
from typing import Annotated, Any

import typer

from warren_cli.commands.options import (
    ApiOption,
    ConfigOption,
    GroupOrder,
    SortOption,
    StatusName,
    asked_address,
    status_search,
)
from warren_cli.listed_commands import ListedCommands
from warren_cli.resources import catalogue
from warren_cli.resources.catalogue import Resource
from warren_cli.resources.output import Form, FormOption, fetch, write_list


class PluralCommands(ListedCommands):
    """`get group` is `get groups`."""

    # Any: contexts and commands are of the click inside typer, which has no public name.
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or super().get_command(ctx, f"{cmd_name}s")


app = typer.Typer(
    cls=PluralCommands,
    no_args_is_help=True,
)


ClusterOption = Annotated[str | None, typer.Option(help="Only of this cluster")]
LimitOption = Annotated[int | None, typer.Option(min=1, help="The first so many; default all")]
MatchArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[RE]", help="Only names that match somewhere (a regular expression, RE2)"
    ),
]


@app.command()
def groups(
    match: MatchArgument = None,
    cluster: ClusterOption = None,
    status: Annotated[
        list[StatusName] | None,
        typer.Option(case_sensitive=False, help="Only this status; may be repeated"),
    ] = None,
    topic: Annotated[str | None, typer.Option(help="Only those that read this topic")] = None,
    search: Annotated[
        str | None,
        typer.Option(
            "--search",
            "-q",
            metavar="WORDS",
            help="Only what the search field of the pages finds: "
            "'status:err late:>10m lag:>1000 owner:billing'",
        ),
    ] = None,
    sort: SortOption = GroupOrder.WORST,
    limit: LimitOption = None,
    output: FormOption = Form.TABLE,
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """Consumer groups, worst first."""
    filters = {
        "cluster": cluster,
        "regex": match,
        "topic": topic,
        "q": " ".join(filter(None, [search, status_search(status or ())])),
        "sort": sort.value,
    }
    _list(catalogue.GROUPS, filters, limit, output, config, api)


@app.command()
def topics(
    match: MatchArgument = None,
    cluster: ClusterOption = None,
    limit: LimitOption = None,
    output: FormOption = Form.TABLE,
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """Topics that groups read."""
    filters = {"cluster": cluster, "regex": match}
    _list(catalogue.TOPICS, filters, limit, output, config, api)


@app.command()
def clusters(
    output: FormOption = Form.TABLE, config: ConfigOption = None, api: ApiOption = None
) -> None:
    """Clusters, and whether they can be read."""
    _list(catalogue.CLUSTERS, {}, None, output, config, api)


@app.command()
def incidents(
    match: MatchArgument = None,
    cluster: ClusterOption = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that are over and remembered")
    ] = False,
    limit: LimitOption = None,
    output: FormOption = Form.TABLE,
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """Incidents, newest first; without --all those that are open."""
    filters = {"cluster": cluster, "regex": match, "open": not everything}
    _list(catalogue.INCIDENTS, filters, limit, output, config, api)


@app.command()
def silences(
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that are over or have not begun")
    ] = False,
    output: FormOption = Form.TABLE,
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """Silences; without --all those in force."""
    _list(catalogue.SILENCES, {"in_force": not everything}, None, output, config, api)


def _list(
    resource: Resource,
    filters: dict[str, Any],
    limit: int | None,
    output: Form,
    config: Path | None,
    api: str | None,
) -> None:
    address = asked_address(config, api)
    write_list(resource, fetch(resource, address, filters, limit), output)
