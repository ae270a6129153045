"""Names that are nothing but names on a terminal, in each table that has some from outside."""

import io
from collections.abc import Callable

import pytest
from rich.console import Console, RenderableType
from support.reports import group, incident, made
from warren_archiver.replay import shown
from warren_archiver.replay.incidents import Incident, Pair
from warren_archiver.replay.replay import Replay
from warren_archiver.report.period import Period
from warren_cli.resources import group_report

HOUR = Period(0, 3_600_000)


def _replayed(name: str) -> RenderableType:
    one = Incident(name, name, 0, None, "ERR", None)
    return shown.render(Replay(HOUR, 0, 1, [one], [one], [Pair(one, one)]))


def _reported(name: str) -> RenderableType:
    return group_report.render(
        made(group(name, cluster=name), incidents=(incident(name, cluster=name),))
    )


@pytest.mark.parametrize("render", [_replayed, _reported])
@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("[bold]x[/bold]", "[bold]x[/bold]"),
        ("[/]", "[/]"),
        ("nl\nline", "nl\N{SYMBOL FOR LINE FEED}line"),
        ("\x1b[31mred", "\N{SYMBOL FOR ESCAPE}[31mred"),
        ("\u202ertl", "\\u202ertl"),
    ],
)
def test_a_name_is_shown_as_it_is_and_on_one_line(
    render: Callable[[str], RenderableType], name: str, seen: str
) -> None:
    output = io.StringIO()
    Console(file=output, width=300, color_system=None).print(render(name))
    lines = [line for line in output.getvalue().splitlines() if line.startswith(seen)]
    assert lines
    assert seen in lines[0].removeprefix(seen), "cluster and group"
    assert name == seen or name not in output.getvalue()
