"""`warren demo`: consumer groups that show every status, on a cluster of your choice."""

from typing import Annotated

import typer
from warren.log import configure
from warren.settings_file import load_settings
from warren_local.demo.groups import GROUPS
from warren_local.demo.workload import run_demo

from warren_cli.api_place import settings_file
from warren_cli.commands.options import ConfigOption
from warren_cli.terminal import stop_on_signals


def demo(
    bootstrap: Annotated[
        str | None,
        typer.Option(help="Where, host:port[,host:port]; default that cluster's, else home's"),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="A cluster of warren.toml; default `demo`")
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Run demo groups, one for each status; `warren up` runs them by itself.

    Creates 4 topics (demo.*) and 7 consumer groups (demo-*). Runs until Ctrl-C or SIGTERM.
    """
    stop = stop_on_signals()
    settings = load_settings(settings_file(config))
    configure(settings.log, service="demo")
    for group in GROUPS:
        typer.echo(f"{group.name}: {group.status} on {group.topic.name}")
    run_demo(settings, cluster=cluster, bootstrap=bootstrap, stop=stop)
    typer.echo("stopped")
