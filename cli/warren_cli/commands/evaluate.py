"""`warren evaluate`: judges windows given as JSON. A pure filter, without Kafka."""

from collections.abc import Iterator
from typing import Annotated

import typer
from warren.settings import PolicyName
from warren_core.evaluation import POLICIES

from warren_cli.filters.evaluation import evaluate_windows
from warren_cli.filters.window_input import (
    BadInput,
    WindowInput,
    opened,
    parse_window,
    print_lines,
    read_records,
)


def evaluate(
    source: Annotated[
        str, typer.Argument(metavar="FILE|-", help="JSON array or JSON Lines; - is stdin.")
    ] = "-",
    policy: Annotated[
        PolicyName,
        typer.Option(help="Rules: as Burrow applies them, or ours."),
    ] = "burrow",
    why: Annotated[
        bool, typer.Option("--why", help="Also why: a reason for machines and a sentence.")
    ] = False,
) -> None:
    """Judge windows of commits: JSON in, one line {"name","status","complete"} each out.

    With --why the line also has "reason" and "explanation", null when OK.
    """
    try:
        # All of it before the first line is printed: bad input gives no half of a result.
        lines = list(evaluate_windows(_read(source), POLICIES[policy], policy if why else None))
    except BadInput as error:
        typer.echo(f"warren evaluate: {error}", err=True)
        raise typer.Exit(2) from None
    print_lines(lines)


def _read(source: str) -> Iterator[WindowInput]:
    with opened(source) as stream:
        for number, value in enumerate(read_records(stream), 1):
            yield parse_window(number, value)
