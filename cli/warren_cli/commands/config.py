"""`warren config`: the settings in force, and those of Burrow as Warren's."""

import asyncio
import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import tomli_w
import typer
from pydantic import ValidationError
from warren.clock import SystemClock
from warren.errors import KafkaError, SettingsError
from warren.files import create_private, why_unread, write_private
from warren.kafka.connection import connect, require_usable
from warren.patterns import any_matches, expressions
from warren.settings import KafkaConnection, OidcSettings, SavedFilter, Settings
from warren.settings_file import explained, load_settings
from warren.words import counted, shortened

from warren_cli.burrow_config import import_burrow
from warren_cli.commands.options import FileOption
from warren_cli.listed_commands import ListedCommands

LONGEST_LIST = 200  # characters of the clusters' names in a line


def clients_of(settings: Settings) -> Mapping[str, KafkaConnection]:
    """By the tables that they stand in."""
    clusters = {f"clusters.{name}": each for name, each in settings.clusters.items()}
    return {"home": settings.home, **clusters}


def refuse_unusable(settings: Settings) -> None:
    """Raise SettingsError for the first thing that a service would not start with, or a page not
    understand. Asks nobody.
    """
    for setting, connection in clients_of(settings).items():
        require_usable(setting.removeprefix("clusters."), setting, connection)
    # Only services have what knows channels and searches.
    if settings.notifier.channels:
        from warren_notifier.channels.configured import configured_channels

        configured_channels(settings.notifier, SystemClock())
    for number, saved in enumerate(settings.api.filters):
        _refuse_unknown_words(f"api.filters.{number}.q", saved)


def _refuse_unknown_words(setting: str, saved: SavedFilter) -> None:
    from warren_api.search import GroupSearch

    search = GroupSearch(saved.q)
    # Which groups there are is not known here: a word with a colon is taken for a filter.
    hints = [f"{hint} A name goes in quotes." for hint in search.hints(lambda: ())]
    for problem in (*search.problems, *hints):
        raise SettingsError(setting, problem)


def without_cluster(settings: Settings) -> Iterator[str]:
    """A line for each entry that no cluster of these settings matches, so that it does nothing."""
    names = list(settings.clusters)
    for entry, patterns in _clusters_of_entries(settings):
        wanted = expressions(patterns)
        if names and not any(any_matches(wanted, name) for name in names):
            verb = "matches" if len(patterns) == 1 else "match"
            written = ", ".join(map(repr, patterns))
            listed = shortened(", ".join(names), LONGEST_LIST)
            yield f"{entry}: clusters {written} {verb} none of {listed}"


def _clusters_of_entries(settings: Settings) -> Iterator[tuple[str, list[str]]]:
    for route in settings.notifier.routes:
        yield f"notifier.routes.{route.name}", route.clusters
    for objective in settings.objectives:
        yield f"objectives.{objective.name}", objective.clusters
    for number, group in enumerate(settings.groups):
        yield f"groups.{number}", group.clusters
    for number, override in enumerate(settings.evaluation.overrides):
        yield f"evaluation.overrides.{number}", override.clusters


app = typer.Typer(cls=ListedCommands, no_args_is_help=True)


@app.command()
def check(
    config: FileOption = None,
    connections: Annotated[
        bool, typer.Option("--connect", help="Also connect to every cluster")
    ] = False,
) -> None:
    """Read the settings and say what is wrong with them: exit 2 for a setting, 1 for a cluster."""
    settings = load_settings(config)
    refuse_unusable(settings)
    typer.echo(f"home: {settings.home.bootstrap}")
    for name, cluster in settings.clusters.items():
        sources = ", ".join(cluster.sources)
        typer.echo(f"cluster {name}: {cluster.bootstrap}, source {sources}")
    if not settings.clusters:
        typer.echo("no cluster is monitored: add a table [clusters.<name>] with bootstrap")
    for line in without_cluster(settings):
        typer.echo(line)
    unusable = 0
    if settings.api.oidc is not None:
        unusable += _check_login(settings.api.oidc, connect=connections)
    if connections:
        for setting, connection in clients_of(settings).items():
            try:
                connect(setting.removeprefix("clusters."), setting, connection)
                typer.echo(f"{setting}: connected")
            except KafkaError as error:
                unusable += 1
                typer.echo(str(error), err=True)
    if unusable:
        raise typer.Exit(1)
    typer.echo("settings are valid")


def _check_login(oidc: OidcSettings, *, connect: bool) -> int:
    """1 when the provider was asked and does not answer as it should."""
    # With them come libraries that no other command needs.
    from warren_api.login.service import CALLBACK, LOGGED_OUT, Login, ProviderAway

    login = Login(oidc, SystemClock())  # it refuses what it cannot use
    typer.echo(f"login: {oidc.issuer}, client {oidc.client_id}")
    typer.echo(f"  to be registered there: {oidc.public_url}{CALLBACK}")
    typer.echo(f"  and for after a logout: {oidc.public_url}{LOGGED_OUT}")
    if not oidc.is_https:
        typer.echo("  api.oidc.public_url is http, for this machine only: cookies are not Secure")
    if not oidc.session_secret.get_secret_value():
        typer.echo("  api.oidc.session_secret is not set: a restart of the API logs everybody out")

    if connect:
        try:
            asyncio.run(login.metadata())
            typer.echo("api.oidc: connected")
        except ProviderAway as away:
            typer.echo(f"api.oidc.issuer: {away.detail}", err=True)
            return 1
    return 0


@app.command()
def show(config: FileOption = None) -> None:
    """Print the settings in force as JSON; secrets are masked."""
    settings = load_settings(config)
    shown = settings.model_dump(mode="json")
    if settings.notifier.channels:
        from warren_notifier.channels.configured import channel_settings

        channels = channel_settings(settings.notifier)  # it knows which settings are secret
        shown["notifier"]["channels"] = {
            name: channel.model_dump(mode="json") for name, channel in channels.items()
        }
    typer.echo(json.dumps(shown, indent=2, ensure_ascii=False))


@app.command("import")
def import_(
    burrow: Annotated[Path, typer.Argument(help="Burrow's configuration, burrow.toml")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; default: standard output")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file")] = False,
    home: Annotated[
        str, typer.Option(help="Bootstrap servers of the cluster for Warren's own topics")
    ] = "localhost:9092",
) -> None:
    """Turn clusters, filters and intervals of burrow.toml into warren.toml.

    Standard error lists what is left out: logins, among others.
    """
    imported = import_burrow(_read(burrow), home)
    try:
        Settings.model_validate(imported.tables)
    except ValidationError as error:
        raise explained(error, Settings, ()) from None
    head = [f"Imported from {burrow.name} by `warren config import`."]
    if imported.remarks:
        head += ["", "What is not as it was in Burrow:", *imported.remarks]
    comment = "".join(f"# {line}".rstrip() + "\n" for line in head)
    text = f"{comment}\n{tomli_w.dumps(imported.tables)}"
    if output is None:
        typer.echo(text, nl=False)
    else:
        _write(output, text, force=force)
    for remark in imported.remarks:
        typer.echo(remark, err=True)
    where = "standard output" if output is None else output
    clusters = counted(len(imported.tables["clusters"]), "cluster")
    typer.echo(
        f"{clusters} written to {where}, {counted(len(imported.remarks), 'remark')}; "
        f"Warren's own topics will be on {home} (home.bootstrap)",
        err=True,
    )


def _read(burrow: Path) -> dict[str, object]:
    try:
        return tomllib.loads(burrow.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(str(burrow), why_unread(error)) from None


def _write(output: Path, text: str, *, force: bool) -> None:
    """For its owner's eyes only: passwords will be added."""
    try:
        (write_private if force else create_private)(output, text)
    except FileExistsError:
        raise SettingsError(str(output), "is there already; overwrite it with --force") from None
    except OSError as error:
        raise SettingsError(str(output), error.strerror or "cannot be written") from None
