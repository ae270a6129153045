"""What the READMEs show of the commands is what there is."""

import re
from pathlib import Path
from typing import Any

from cli.asked_api import group_row
from rich.console import Console
from typer.testing import CliRunner
from warren_cli.commands.status import is_bad, summary
from warren_cli.main import COMMANDS, app
from warren_cli.resources.catalogue import STATUS
from warren_cli.resources.output import resource_table
from warren_local.demo.groups import GROUPS
from warren_local.demo.topics import TOPICS

ROOT = Path(__file__).parents[2]
NOW = 1_800_000_000_000


def group(name: str, status: str, lag: int, since: int | None, *said: str) -> dict[str, Any]:
    """`since` in milliseconds ago; `said`: in short, late, loss."""
    return group_row(
        name,
        status,
        total_lag=lag,
        incident=since and {"id": "01979a3c-5f0c", "opened_at": NOW - since},
        words=dict(zip(("short", "late", "loss"), said, strict=True)),
    )


# As the demo's groups were after 80 s of a `make run`.
SAMPLE = [
    group("demo-losing", "ERR", 210, 73_503, "Stuck, losing data", "1m 11s", "lost 64"),
    group("demo-stalled", "ERR", 460, 73_503, "Stuck at one record", "1m 23s", "6d 23h"),
    group("demo-stopped", "ERR", 1_520, 46_503, "No members in the group", "53s", "59m 6s"),
    group("demo-slow", "WARN", 1_740, 71_504, "Reads slower than is written", "1m 23s", "6d 23h"),
    group("demo-healthy", "OK", 0, None, "", "0s", ""),
]


def test_the_sample_is_what_status_prints() -> None:
    readme = (ROOT / "cli/README.md").read_text()
    shown = re.search(r"\$ warren status\n(.*?)```", readme, re.DOTALL)
    assert shown
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        bad = [each for each in SAMPLE if is_bad(each)]
        console.print(resource_table(STATUS, bad, 100, now_ms=NOW)[0])
        console.print(summary(SAMPLE, 1))
    printed = [line.rstrip() for line in capture.get().splitlines()]
    assert shown[1].splitlines() == printed


def test_every_command_is_in_the_table() -> None:
    readme = (ROOT / "cli/README.md").read_text()
    assert set(re.findall(r"^\| `warren (\w+)", readme, re.MULTILINE)) == set(COMMANDS)


def test_the_demo_is_what_is_told_of_it() -> None:
    readme = (ROOT / "deploy/local/README.md").read_text()
    rows = re.findall(r"^\| `(demo-[\w-]+)` \|", readme, re.MULTILINE)
    assert sorted(rows) == sorted(group.name for group in GROUPS)
    assert f"{len(TOPICS)} topics (`demo.*`) and {len(GROUPS)} consumer groups" in readme
    help_text = " ".join(CliRunner().invoke(app, ["demo", "--help"]).output.split())
    assert f"{len(TOPICS)} topics (demo.*) and {len(GROUPS)} consumer groups" in help_text
