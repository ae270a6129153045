"""The `warren` command: one subcommand per module of `warren_cli.commands`."""

from __future__ import annotations

import sys

import click
import typer
from warren.errors import SettingsError, WarrenError

from warren_cli.commands import (
    archive,
    config,
    decode,
    demo,
    evaluate,
    report,
    status,
    token,
    topics,
    up,
)

app = typer.Typer(
    name="warren",
    help="Kafka consumer lag, judged: which group is stuck, since when, how far behind.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command("up")(up.up)
app.command("demo")(demo.demo)
app.command("status")(status.status)
app.command("token")(token.token)
app.command("evaluate")(evaluate.evaluate)
app.command("decode")(decode.decode)
app.command("report")(report.report)
app.add_typer(archive.app, name="archive")
app.add_typer(topics.app, name="topics")
app.add_typer(config.app, name="config")


def main() -> None:
    """Runs the command. Exit 2: the user's input or settings; 1: the world did not cooperate."""
    try:
        app()
    except SettingsError as error:
        print(f"warren: {error}", file=sys.stderr)
        sys.exit(2)
    except WarrenError as error:
        print(f"warren: {error}", file=sys.stderr)
        sys.exit(1)
    except click.exceptions.Abort:
        sys.exit(130)


if __name__ == "__main__":
    main()
