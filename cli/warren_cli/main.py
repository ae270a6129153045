"""The `warren` command: one subcommand per module of `warren_cli.commands`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from warren.errors import SettingsError, WarrenError
from warren.words import visible

from warren_cli.lazy_commands import ExtraMissing, LazyCommands
from warren_cli.terminal.output_console import discard_output

app = typer.Typer(
    name="warren",
    help="Kafka consumer lag, judged: which group is stuck, since when, how far behind.",
    cls=LazyCommands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"warren {version('warren-cli')}")
        raise typer.Exit


@app.callback()
def warren(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print version")
    ] = False,
) -> None:
    """What holds for all commands."""


def main() -> None:
    """Run the command. Exit 2: input, settings or installation; 1: the world did not cooperate."""
    try:
        app()
    except UnicodeEncodeError as error:  # bytes of the shell that are no text
        print(f"warren: {visible(str(error.object))}: is no UTF-8", file=sys.stderr)
        sys.exit(2)
    except (SettingsError, ExtraMissing) as error:
        print(f"warren: {error}", file=sys.stderr)
        sys.exit(2)
    except WarrenError as error:
        print(f"warren: {error}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:  # the disk that it writes to is full, for example
        print(f"warren: {error.strerror or error}", file=sys.stderr)
        discard_output()
        sys.exit(1)
    except typer.Abort:
        sys.exit(130)


if __name__ == "__main__":
    main()
