"""Where commands print their tables: a terminal, or a pipe that has no width."""

import os
import sys

from rich.console import Console

UNLIMITED = 1000  # columns; no name is longer than a few hundred characters


def discard_output() -> None:
    """What is left of it goes nowhere: Python must not complain when it closes stdout."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def output_console() -> Console:
    """Nothing is shortened or wrapped for a pipe, unless COLUMNS says how wide it is. Nothing in a
    text is markup: a group may be called `[bold]`."""
    console = Console(markup=False)
    if not console.is_terminal and not os.environ.get("COLUMNS"):
        console.width = UNLIMITED
    return console
