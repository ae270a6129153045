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


STATUS, RETENTION = "warren.group.status.changed", "warren.group.retention.changed"
DOWN = {"name": "no_members", "sentence": "no members for 9m", "short": "No members"}
LOST = {"name": "records_lost", "sentence": "9 are gone", "short": "Lost records"}


def changed(type_: str, cause: dict[str, Any]) -> dict[str, Any]:
    return {"type": type_, "status": "ERR", "at": AT, "cause": cause, "reason": ""}


def why(**fields: Any) -> str | None:
    (column,) = (one for one in INCIDENTS.columns if one.title == "why" and not one.wide)
    return column.cell(ROWS["incidents"] | fields, AT)


def test_incidents_say_the_root_in_a_few_words() -> None:
    """As the API has it; of one that is older than this what was said of the root."""
    changes = [changed(STATUS, DOWN), changed(RETENTION, LOST)]
    conditions = [{"type": STATUS}, {"type": RETENTION}]
    assert why(short="Stopped", conditions=conditions, changes=changes) == "Stopped"
    for older in ({}, {"short": None}):
        assert why(conditions=conditions, changes=changes, **older) == "No members"
        assert why(conditions=conditions[::-1], changes=changes, **older) == "Lost records"
    now = {"sentence": "no members for 10m", "said_at": None}
    assert why(conditions=conditions, changes=changes[1:], now=now) == "no members for 10m"
    assert why(changes=changes) == "Lost records", "it had no conditions"
