"""`warren topics`: Warren's own topics on the home cluster."""

import typer
from warren.contracts.topics import CATALOGUE
from warren.kafka.connection import connect
from warren.kafka.topics import check_topics, ensure_topics
from warren.settings_file import load_settings

from warren_cli.api_place import settings_file
from warren_cli.commands.options import ConfigOption
from warren_cli.listed_commands import ListedCommands

app = typer.Typer(cls=ListedCommands, no_args_is_help=True)


@app.command()
def create(config: ConfigOption = None) -> None:
    """Create the topics that are missing; existing ones are left as they are."""
    home = load_settings(settings_file(config)).home
    created = ensure_topics(connect("home", "home", home), home)
    for name in created:
        typer.echo(f"created {name}")
    typer.echo(f"{len(created)} created, {len(CATALOGUE) - len(created)} were there")


@app.command()
def check(config: ConfigOption = None) -> None:
    """Compare the topics with the catalogue and the settings; exit 1 when something differs."""
    home = load_settings(settings_file(config)).home
    found = check_topics(connect("home", "home", home), home)
    for line in found.replication:
        typer.echo(line)
    for warning in found.warnings:
        typer.echo(f"warning: {warning}")
    for problem in found.problems:
        typer.echo(problem)
    if found.problems:
        raise typer.Exit(1)
    typer.echo(f"{len(CATALOGUE)} topics are as they should be")
