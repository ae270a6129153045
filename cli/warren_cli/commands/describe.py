"""`warren describe`: all that is known of one group, topic or incident."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from warren.clock import SystemClock
from warren.words import visible

from warren_cli.commands.options import ApiOption, ConfigOption, asked_address
from warren_cli.listed_commands import ListedCommands
from warren_cli.resources import descriptions, output as listing
from warren_cli.resources.catalogue import GROUPS, INCIDENTS, TOPICS, Resource
from warren_cli.resources.output import DOCUMENTS, Form, FormOption, write_document
from warren_cli.terminal import output_console

app = typer.Typer(cls=ListedCommands, no_args_is_help=True)

ClusterOption = Annotated[
    str | None, typer.Option(help="Which cluster's; needed where several have the name")
]


@app.command()
def group(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the group, or CLUSTER/NAME")],
    cluster: ClusterOption = None,
    output: FormOption = Form.TABLE,
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """A group: status and since when, cause and what to do, topics, partitions, members."""
    body = listing.group(asked_address(config, api), name, cluster)
    _write(GROUPS, body, output, lambda now: descriptions.group(body, now))


@app.command()
def topic(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the topic, or CLUSTER/NAME")],
    cluster: ClusterOption = None,
    output: FormOption = Form.TABLE,
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """A topic: what is produced, who reads it and how far behind."""
    body = listing.topic(asked_address(config, api), name, cluster)
    _write(TOPICS, body, output, lambda _: descriptions.topic(body))


@app.command()
def incident(
    id_: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="Or as much of its beginning as no other one has, or CLUSTER/NAME of the "
            "group, of which it is the newest",
        ),
    ],
    output: FormOption = Form.TABLE,
    config: ConfigOption = None,
    api: ApiOption = None,
) -> None:
    """An incident: its changes, and who was told what."""
    body = listing.incident(asked_address(config, api), id_)
    _write(INCIDENTS, body, output, lambda now: descriptions.incident(body, now))


def _write(
    resource: Resource,
    body: Mapping[str, Any],
    output: Form,
    describe: Callable[[int], RenderableType],
) -> None:
    if output in DOCUMENTS:
        write_document(body, output)
    elif output is Form.NAME:
        typer.echo(visible(resource.identity(body)))
    else:
        output_console().print(describe(SystemClock().now_ms()))
