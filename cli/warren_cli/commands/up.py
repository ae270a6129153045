"""`warren up`: everything on this machine with one command."""

import sys
import threading
from typing import Annotated

import typer
from warren.errors import SettingsError
from warren.log import configure
from warren.settings import LogSettings
from warren.settings_file import load_settings
from warren.settings_watch import ALL, SettingsWatch
from warren_local.errors import StartRefused
from warren_local.plan import OPTIONAL, DemoPorts, Options, make_plan
from warren_local.server import free_port
from warren_local.up import run

from warren_cli.api_client import sent_token
from warren_cli.commands.options import FileOption
from warren_cli.screens import LastingConsole, PlainScreen, TableScreen
from warren_cli.terminal.signals import own_foreground, stop_on_signals


def up(
    bootstrap: Annotated[
        str | None,
        typer.Option(help="Monitor this cluster, host:port[,host:port]; without it: a demo"),
    ] = None,
    home_bootstrap: Annotated[
        str | None, typer.Option(help="Keep Warren's own topics on this cluster")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Name of that cluster; default `default`, or `demo`")
    ] = None,
    config: FileOption = None,
    api_port: Annotated[int | None, typer.Option(min=1, max=65535, help="Of the API")] = None,
    kafka_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Of the embedded broker")
    ] = None,
    redis_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Of the embedded Valkey")
    ] = None,
    state_dir: Annotated[
        str | None, typer.Option(help="Directory for everything that is written")
    ] = None,
    instance: Annotated[
        str | None,
        typer.Option(
            help="Name of this Warren; default `warren`, or on the cluster of --bootstrap one that "
            "is drawn"
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo/--no-demo", help="Run the demo workload on the embedded broker")
    ] = True,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SERVICE",
            help=f"Do not start it: {', '.join(OPTIONAL)}; the archiver takes the most memory",
        ),
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Lines instead of a table, as without a terminal")
    ] = False,
) -> None:
    """Start Kafka, Valkey and all services here, with demo groups or for your own cluster.

    Runs until Ctrl-C or SIGTERM; a second Ctrl-C kills what still runs. Exit 2: nothing was
    started, because of the reason printed.
    """
    options = Options(
        bootstrap=bootstrap,
        home_bootstrap=home_bootstrap,
        cluster=cluster,
        api_port=api_port,
        kafka_port=kafka_port,
        redis_port=redis_port,
        state_dir=state_dir,
        instance=instance,
        demo=demo,
        without=tuple(without or ()),
    )
    hurry = threading.Event()
    stop = stop_on_signals(hurry)
    console = LastingConsole()
    table = console.is_terminal and not plain
    try:
        sent_token()  # one that cannot be sent is refused before anything starts
        ports = DemoPorts(probe=free_port(), mailbox=free_port(), webhooks=free_port())
        settings = load_settings(config)
        plan = make_plan(settings, options, demo_ports=ports)
        configure(LogSettings(level="warning", format="console"), service="up")
        with own_foreground():
            screen = TableScreen(console) if table else PlainScreen(console)
            run(plan, screen, stop, watch=SettingsWatch(config, settings, ALL), hurry=hurry)
    except (StartRefused, SettingsError) as refusal:
        print(f"warren: {refusal}", file=sys.stderr)
        raise typer.Exit(2) from None
