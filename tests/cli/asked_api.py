"""The `warren` command run against an API that is there."""

from __future__ import annotations

from typer.testing import CliRunner, Result
from warren_cli.main import app


def run(*arguments: str) -> Result:
    """Raises what the command raises."""
    result = CliRunner().invoke(app, arguments, terminal_width=200)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
