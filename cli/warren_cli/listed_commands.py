"""Commands of a command: of one that there is not, which there are."""

from typing import Any

from typer.core import TyperGroup


class ListedCommands(TyperGroup):
    """A mistyped word is answered with all that might have been meant: they are few."""

    # Any: contexts and commands are of the click inside typer, which has no public name.
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if self.get_command(ctx, args[0]) is None:
            ctx.fail(f"No such command '{args[0]}'; there are: {', '.join(self.commands)}.")
        return super().resolve_command(ctx, args)
