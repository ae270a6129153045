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


def group(
    name: str, status: str, lag: int, *, since: int | None, late: int, **fields: Any
) -> dict[str, Any]:
    """`since` and `late` in milliseconds ago."""
    return group_row(
        name,
        status,
        total_lag=lag,
        since=since and NOW - since,
        incident=since and {"id": "01979a3c-5f0c", "opened_at": NOW - since},
        freshness_ms=late,
        **fields,
    )


def worst(topic: str, partition: int, status: str, lag: int) -> dict[str, Any]:
    return {"topic": topic, "partition": partition, "status": status, "lag": lag}


# As the demo's groups were after 80 s of a `make run`.
SAMPLE = [
    group(
        "demo-losing",
        "ERR",
        210,
        since=73_503,
        late=71_312,
        time_to_loss_ms=0,
        lost_records=64,
        broken_objectives=[{"objective": "retention", "limit": "lost_records", "status": "ERR"}],
        worst=worst("demo.sensors", 0, "STALL", 210),
        cause={"name": "stuck_record", "short": "Stuck at one record"},
    ),
    group(
        "demo-stalled",
        "ERR",
        460,
        since=73_503,
        late=83_472,
        time_to_loss_ms=604_716_528,
        worst=worst("demo.invoices", 0, "STALL", 460),
        cause={"name": "stuck_record", "short": "Stuck at one record"},
    ),
    group(
        "demo-stopped",
        "ERR",
        1_520,
        since=46_503,
        late=53_851,
        time_to_loss_ms=3_546_149,
        worst=worst("demo.orders", 0, "STOP", 380),
        cause={"name": "no_members", "short": "No members in the group"},
    ),
    group(
        "demo-slow",
        "WARN",
        1_740,
        since=71_504,
        late=83_473,
        time_to_loss_ms=604_716_527,
        worst=worst("demo.payments", 0, "WARN", 1_740),
        cause={"name": "too_slow", "short": "Reads slower than is written"},
    ),
    group("demo-healthy", "OK", 0, since=None, late=0),
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
