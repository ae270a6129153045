"""Subcommands that are imported when they are asked for: `warren status` need not wait for the
libraries of `warren up`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group


class LazyCommands(TyperGroup):
    """Subcommands by the name of their module in `warren_cli.commands`.

    A module has a Typer application `app`, or else a function of its own name.
    """

    names: ClassVar[tuple[str, ...]] = (
        "up",
        "demo",
        "status",
        "get",
        "describe",
        "events",
        "silence",
        "ack",
        "notify",
        "token",
        "evaluate",
        "decode",
        "report",
        "replay",
        "archive",
        "topics",
        "config",
    )

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        names: dict[str, Any] = dict.fromkeys(self.names)
        self.commands = names  # of these it suggests one that is close

    # Any: contexts and commands are of the click inside typer, which has no public name.
    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return list(self.names)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        del ctx
        if cmd_name not in self.names:
            return None
        module = import_module(f"warren_cli.commands.{cmd_name}")
        if hasattr(module, "app"):
            group = get_group(module.app)
            group.name = cmd_name
            return group
        alone = typer.Typer(add_completion=False)
        alone.command(cmd_name)(getattr(module, cmd_name))
        return get_command(alone)
