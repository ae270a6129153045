"""What `--help` says of each command is what is written for it: `[…]` would be taken for markup."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer.rich_utils
from typer.main import get_command
from typer.testing import CliRunner
from warren_cli.main import app


def _commands(command: Any, context: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    if hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            _, below, _ = command.resolve_command(context, [name])
            yield from _commands(below, context, (*path, name))


def _root() -> tuple[Any, Any]:
    root = get_command(app)
    return root, root.context_class(root)


def _found(path: tuple[str, ...]) -> Any:
    command, context = _root()
    for name in path:
        _, command, _ = command.resolve_command(context, [name])
    return command


def _texts(command: Any) -> Iterator[str]:
    yield command.help or ""
    yield from (getattr(each, "help", None) or "" for each in command.params)
    yield from (str(each.metavar or "") for each in command.params)


def _solid(text: str) -> str:
    """Without spaces, lines and frames."""
    return re.sub(r"[\s│╭╮╰╯─]", "", text)


@pytest.mark.parametrize("path", list(_commands(*_root(), ())), ids=" ".join)
def test_nothing_is_eaten(path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typer.rich_utils, "MAX_WIDTH", 1000)
    shown = CliRunner().invoke(app, [*path, "--help"])
    assert shown.exit_code == 0, shown.output
    for text in _texts(_found(path)):
        assert _solid(text.replace("\\[", "[")) in _solid(shown.output)
        assert "\\[" not in shown.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["get", "foo"], "there are: groups, topics, clusters, incidents, silences"),
        (["describe", "foo"], "there are: group, topic, incident"),
        (["get", "groups", "--sort", "foo"], "'--sort': 'foo' is not one of"),
    ],
)
def test_a_mistyped_word_is_answered_with_those_that_there_are(words: list[str], said: str) -> None:
    answer = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert answer.exit_code == 2
    assert said in " ".join(answer.output.split())
    assert "Value error" not in answer.output
