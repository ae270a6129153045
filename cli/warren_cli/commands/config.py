"""`warren config`: the settings in force."""

from __future__ import annotations

from typing import Annotated

import typer
from warren.errors import KafkaError
from warren.kafka.connection import connect
from warren.settings_file import load_settings

from warren_cli.commands.options import ConfigOption

app = typer.Typer(help="The settings in force.", no_args_is_help=True)


@app.command()
def check(
    config: ConfigOption = None,
    connections: Annotated[
        bool, typer.Option("--connect", help="Also connect to every cluster")
    ] = False,
) -> None:
    """Read the settings and say what is wrong with them: exit 2 for a setting, 1 for a cluster."""
    settings = load_settings(config)
    typer.echo(f"home: {settings.home.bootstrap}")
    for name, cluster in settings.clusters.items():
        sources = ", ".join(cluster.sources)
        typer.echo(f"cluster {name}: {cluster.bootstrap}, source {sources}")
    if not settings.clusters:
        typer.echo("no cluster is monitored: add a table [clusters.<name>] with bootstrap")
    unusable = 0
    if connections:
        named = {
            "home": settings.home,
            **{f"clusters.{n}": c for n, c in settings.clusters.items()},
        }
        for setting, connection in named.items():
            try:
                connect(setting.removeprefix("clusters."), setting, connection)
                typer.echo(f"{setting}: connected")
            except KafkaError as error:
                unusable += 1
                typer.echo(str(error), err=True)
    if unusable:
        raise typer.Exit(1)
    typer.echo("settings are valid")


@app.command()
def show(config: ConfigOption = None) -> None:
    """Print the settings in force as JSON; secrets are masked."""
    typer.echo(load_settings(config).model_dump_json(indent=2))
