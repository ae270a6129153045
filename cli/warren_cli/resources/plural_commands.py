"""Subcommands by what they list: `groups`, and `group` as well."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class PluralCommands(TyperGroup):
    """`get group` is `get groups`."""

    # Any: contexts and commands are of the click inside typer, which has no public name.
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or super().get_command(ctx, f"{cmd_name}s")
