"""Commands that the docs tell of are there, with the options that they are written with."""

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import typer
from warren_cli.main import app

ROOT = Path(__file__).parents[2]
WRITTEN = re.compile(r"(?:^|`)(warren [a-z][^`\n#|>…]*)", re.MULTILINE)


def unknown(written: str) -> str | None:
    """What of it is not there."""
    command: Any = typer.main.get_command(app)
    _, *words = shlex.split(written.rstrip("\\"))
    while hasattr(command, "commands") and words and words[0].islower():
        context = command.context_class(command)
        if words[0] not in command.list_commands(context):
            return words[0]
        _, command, words = command.resolve_command(context, words)
    known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    known.add("--help")
    return next(
        (word for word in words if word[:2] == "--" and word.split("=")[0] not in known), None
    )


def test_every_command_and_option_in_the_docs_exists() -> None:
    files = subprocess.check_output(["git", "ls-files", "*.md"], cwd=ROOT, text=True).split()
    lines = {(name, line) for name in files for line in WRITTEN.findall((ROOT / name).read_text())}
    assert len(lines) > 50
    wrong = [(*each, why) for each in sorted(lines) if (why := unknown(each[1])) is not None]
    assert not wrong
