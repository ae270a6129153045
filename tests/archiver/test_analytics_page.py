"""What docs/analytics.md answers through DuckDB and delta-rs, over tables as the catalogues say."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from archiver.sql_tables import kind
from arro3.core import Array, DataType as Kind, Field, Schema, Table
from deltalake import DeltaTable, write_deltalake
from support.lake_files import write_table
from warren_archiver.layers import LAYERS

PATH = Path(__file__).parents[2] / "docs" / "analytics.md"
PAGE = PATH.read_text()
YESTERDAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(1)
DAY = datetime(2026, 11, 21, tzinfo=UTC)
BILLING = {"cluster": "prod", "group": "billing"}
MAIL = {"cluster": "prod", "group": "mail"}
LIMIT = {"objective": "on-time", "limit": "max_lag", "target": 0.9}


def _hour(group: dict[str, str], number: int, lag: int, buckets: Sequence[int]) -> dict[str, Any]:
    sketch = [{"bucket": bucket, "count": 50} for bucket in buckets]
    return {**group, "hour": DAY + timedelta(hours=number), "lag_p95": lag, "lag_sketch": sketch}


def _minute(number: int, lag: int, **more: Any) -> dict[str, Any]:
    at = DAY + timedelta(minutes=number)
    return {**BILLING, "minute": at, "lag": lag, "lag_max": lag, "consumed": 5, **more}


def _told(route: str, number: int, days: int, incident: str) -> dict[str, Any]:
    own = {"delivery_id": f"{route}{number}", "outcome": "delivered", "incident_id": incident}
    return own | {"at": YESTERDAY - timedelta(days), "route": route, "channel": "mail"}


ROWS: dict[str, list[dict[str, Any]]] = {
    "group_minutes": [
        _minute(1439, 9, produced=7),
        _minute(1440, 8, produced=7),
        {**_minute(5, 1), "group": "mail"},
    ],
    "status_hours": [
        _hour(BILLING, 5, 40, [0, 100]),
        _hour(BILLING, 29, 60, [0]),
        _hour(BILLING, 23, 7, [0]),
        _hour(MAIL, 0, 3, [0]),
        {**BILLING, "hour": YESTERDAY + timedelta(hours=5), "err_ms": 120_000, "lag_p95": 1},
        {**MAIL, "hour": YESTERDAY, "err_ms": 0},
        {**MAIL, "hour": YESTERDAY - timedelta(30), "err_ms": 600_000},
    ],
    "incidents": [
        {**BILLING, "incident_id": "a", "opened_at": DAY, "duration_ms": 600_000}
        | {"told_at": DAY + timedelta(seconds=2)},
        {**MAIL, "incident_id": "b", "opened_at": DAY, "duration_ms": 120_000},
    ],
    "notifications": [_told("all", 1, 0, "a"), _told("all", 2, 1, "b"), _told("all", 3, 40, "b")],
    "objective_days": [
        {**BILLING, **LIMIT, "day": DAY - timedelta(1), "minutes": 1000, "broken": 0},
        {**BILLING, **LIMIT, "day": DAY, "minutes": 1000, "broken": 250},
        {**BILLING, **LIMIT, "day": DAY - timedelta(30), "minutes": 1, "broken": 1},
    ],
    "rate_hours": [
        {**BILLING, "hour": DAY, "pace_behind": 100.4, "busiest_hour_rate": 90.2},
        {**MAIL, "hour": DAY, "pace_behind": 100.4, "busiest_hour_rate": 50.0},
    ],
    "membership_changes": [
        {**BILLING, "at": DAY, "generation": number, "members": ["a"] * (number % 5)}
        for number in range(11)
    ],
    "partition_minutes": [
        _minute(0, 4, topic="orders", partition=1),
        _minute(1439, 9, topic="orders", partition=1),
        _minute(0, 2, topic="orders", partition=0),
        _minute(-1, 99, topic="orders", partition=0),
    ],
}
ANSWERS = [
    [["prod", "billing", 2.0]],
    [["2026-11-21T23:59:00+00:00", 9, 7, 5]],
    [["billing", 5, 60], ["billing", 23, 7], ["mail", 0, 3]],
    [["billing", 7.0], ["mail", 0.0]],
    [["2026-11-21", 2, 2.0, 6.0]],
    [["all", "mail", 2, 2, 1]],
    [["billing", "on-time", "max_lag", 0.875, -0.25]],
    [["billing", 100.0, 90.0]],
    [["2026-11-21", "billing", 11, 4, 40]],
    [["orders", 1, 9, 10], ["orders", 0, 2, 5]],
]
"""Of the page's queries, in their order."""
ASK = r"""
import json, pathlib, re, sys

page = pathlib.Path(sys.argv[1]).read_text()
exec(re.search("```python\n(.*?)```", page, re.DOTALL)[1])
for name in sys.argv[2:]:
    table(name).create_view(name.rpartition("/")[2])
found = [duckdb.sql(query).fetchall() for query in re.findall("```sql\n(.*?)```", page, re.DOTALL)]
print(json.dumps(found, default=lambda value: value.isoformat()))
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the page's code finds `.warren/lake`, written without Spark as the catalogues say."""
    folder = tmp_path_factory.mktemp("analytics")
    for path, table in TABLES.items():
        kinds = {f.name: kind(f.type) for f in table.fields if f.name != "date"}
        write_table(folder / ".warren" / "lake", path, kinds, ROWS[table.name])
    return folder


TABLES = {
    f"{layer}/{table.name}": table
    for layer, tables in LAYERS.items()
    for table in tables
    if layer != "replay" and table.name in ROWS
}


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata"])
def test_the_queries_of_the_page_answer_the_same_in_every_zone(lake: Path, zone: str) -> None:
    asked = [sys.executable, "-c", ASK, str(PATH), *TABLES]
    environment = os.environ | {"TZ": zone}
    told = subprocess.run(asked, cwd=lake, env=environment, stdout=subprocess.PIPE, check=True)
    assert json.loads(told.stdout) == ANSWERS


def test_its_tables_may_be_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a new lake's are: only their log is there."""
    (code, *_) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    types = {"group": Kind.string(), "err_ms": Kind.int64()}
    fields = [Field(name, of, nullable=True) for name, of in types.items()]
    stored = DeltaTable.create(".warren/lake/gold/status_hours", Schema(fields))
    found: dict[str, Any] = {}
    exec(code, found)
    assert found["table"]("gold/status_hours").fetchall() == []
    assert found["status_hours"].columns == ["group", "err_ms"]
    row = {"group": "billing", "err_ms": 60_000}
    some = [Array([row[name]], types[name]) for name in types]
    write_deltalake(stored, Table.from_arrays(some, names=list(types)), mode="append")
    assert found["table"]("gold/status_hours").fetchall() == [("billing", 60_000)]
