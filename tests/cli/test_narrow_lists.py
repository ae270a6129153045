"""Lists in a terminal of a hundred columns: names whole, why before the rest, no silent loss."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console
from warren_cli.resources.catalogue import GROUPS, INCIDENTS, SILENCES, Resource
from warren_cli.resources.output import resource_table

AT = 1_800_000_000_000
NAME = "find-enrichment-and-billing-of-orders"
CAUSE = {"name": "too_slow", "sentence": "long", "short": "Too slow, falling behind"}
ROWS: dict[str, dict[str, Any]] = {
    "groups": {
        "cluster": "prod-eu-core",
        "group": NAME,
        "status": "ERR",
        "since": AT - 60_000,
        "total_lag": 12_345,
        "worst": None,
        "incident": None,
        "cause": CAUSE,
        "lost_records": 1_204,
        "silence": {"id": "1"},
        "partition_counts": {},
        "explanation": None,
    },
    "incidents": {
        "id": "0ed55a2f-3f5a-5b0e-9f3a-0c1f7f4c3a52",
        "cluster": "prod-eu-core",
        "group": NAME,
        "worst": "ERR",
        "opened_at": AT - 60_000,
        "closed_at": None,
        "open": True,
        "acknowledgement": {"by": "anna", "why": ""},
        "max_total_lag": 12_345,
        "now": None,
        "changes": [{"status": "ERR", "at": AT, "cause": CAUSE, "explanation": "", "reason": ""}],
    },
    "silences": {
        "id": "3f6c2b8e91d4",
        "cluster": "^(prod-eu-core|prod-us-core)$",
        "group": f"^({NAME}|audit|ledger)$",
        "begins_at": AT,
        "ends_at": AT + 3_600_000,
        "by": "anna",
        "why": "moving the ledger to the other cluster, as said in the ticket of last week",
    },
}


@pytest.mark.parametrize("resource", [GROUPS, INCIDENTS, SILENCES], ids=lambda one: one.name)
@pytest.mark.parametrize("width", [80, 100])
def test_a_list_fits_the_terminal(resource: Resource, width: int) -> None:
    made, said = resource_table(resource, [ROWS[resource.name]], width, wide=False)
    console = Console(width=200)
    with console.capture() as capture:
        console.print(made)
    title, row = (line.rstrip() for line in capture.get().splitlines())
    assert max(len(title), len(row)) <= width
    for column in resource.columns:
        assert column.wide or column.title in title + said
    if width == 100:
        assert "why" in title


def test_groups_say_what_is_wrong_lost_and_done() -> None:
    made, said = resource_table(GROUPS, [ROWS["groups"]], None, wide=False)
    console = Console(width=300)
    with console.capture() as capture:
        console.print(made)
    shown = capture.get()
    assert not said
    for each in ("ERR silenced", "Too slow, falling behind", "lost 1,204"):
        assert each in shown
