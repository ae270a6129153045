"""Subcommands that are imported when they are asked for: `warren status` need not wait for the
libraries of `warren up`, and works where they are not installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group
from warren.errors import WarrenError


class ExtraMissing(WarrenError):
    """A command needs an optional part of warren-cli that is not installed here.

    Operator: the text names the extra to install.
    """

    def __init__(self, command: str, extra: str, module: str | None) -> None:
        super().__init__(
            f"`warren {command}` needs {module}, which is not installed: "
            f"pip install 'warren-cli[{extra}]'"
        )
        self.extra = extra


class LazyCommands(TyperGroup):
    """Subcommands by the name of their module in `warren_cli.commands`.

    A module has a Typer application `app`, or else a function of its own name.
    """

    # With the extra of warren-cli that brings what a command, or a part of it, imports.
    extras: ClassVar[dict[str, str | None]] = {
        "up": "local",
        "demo": "local",
        "status": None,
        "get": None,
        "describe": None,
        "events": None,
        "silence": None,
        "ack": None,
        "notify": "services",
        "token": None,
        "evaluate": "services",
        "decode": "services",
        "report": "archive",
        "replay": "archive",
        "archive": "archive",
        "topics": None,
        "config": "services",
    }

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        names: dict[str, Any] = dict.fromkeys(self.extras)
        self.commands = names  # of these it suggests one that is close

    # Any: contexts and commands are of the click inside typer, which has no public name.

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return list(self.extras)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        del ctx
        if cmd_name not in self.extras:
            return None
        try:
            module = import_module(f"warren_cli.commands.{cmd_name}")
        except ModuleNotFoundError as error:
            return _absent(cmd_name, _missing(cmd_name, error))
        if hasattr(module, "app"):
            group = get_group(module.app)
            group.name = cmd_name
            return group
        alone = typer.Typer(add_completion=False)
        alone.command(cmd_name)(getattr(module, cmd_name))
        return get_command(alone)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; raise ExtraMissing where it comes to what is not installed."""
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            raise _missing(str(ctx.invoked_subcommand), error) from error


def _missing(command: str, error: ModuleNotFoundError) -> ExtraMissing:
    """Raises the error itself where no extra would bring the module."""
    extra = LazyCommands.extras.get(command)
    if extra is None:
        raise error
    return ExtraMissing(command, extra, error.name)


def _absent(name: str, missing: ExtraMissing) -> Any:
    """A command in the list that says what it lacks, whatever it is asked for."""
    alone = typer.Typer(add_completion=False)

    @alone.command(
        name,
        help=f"Not installed here: needs the extra {missing.extra} of warren-cli.",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )
    def absent() -> None:
        raise missing

    return get_command(alone)
