"""Each query of docs/analytics.md is one that DuckDB takes, over tables as the catalogues say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from arro3.core import Array, Field, Schema, Table
from arro3.core import DataType as Kind
from deltalake import DeltaTable, write_deltalake
from pyspark.sql.types import DataType
from warren_archiver.gold.catalogue import TABLES as GOLD
from warren_archiver.silver.catalogue import TABLES as SILVER

PAGE = (Path(__file__).parents[2] / "docs" / "analytics.md").read_text()
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
_KINDS = {
    "string": "VARCHAR",
    "bigint": "BIGINT",
    "int": "INTEGER",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "timestamp": "TIMESTAMPTZ",
    "date": "DATE",
    "binary": "BLOB",
}


def _kind(of: DataType) -> str:
    name = of.simpleString()
    if name in _KINDS:
        return _KINDS[name]
    inner = re.fullmatch(r"array<(struct<bucket:int,count:bigint>)>", name)
    return "STRUCT(bucket INTEGER, count BIGINT)[]" if inner else "VARCHAR"


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as database:
        for table in (*SILVER, *GOLD):
            columns = ", ".join(f'"{field.name}" {_kind(field.type)}' for field in table.fields)
            database.execute(f'CREATE TABLE "{table.name}" ({columns})')
            database.execute(f'INSERT INTO "{table.name}" BY NAME SELECT {_one(table.names)}')
        yield database


def _one(names: list[str]) -> str:
    """A row of nothing but its day."""
    return ", ".join(
        f'{"current_date" if name == "date" else "NULL"} AS "{name}"' for name in names
    )


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_of_the_page_runs(database: duckdb.DuckDBPyConnection, query: str) -> None:
    assert database.execute(query).description


def test_its_tables_may_be_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a new lake's are: only their log is there."""
    (code, *_) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    types = {"group": Kind.string(), "err_ms": Kind.int64()}
    fields = [Field(name, of, nullable=True) for name, of in types.items()]
    stored = DeltaTable.create(".warren/lake/gold/status_days", Schema(fields))
    found: dict[str, Any] = {}
    exec(code, found)
    assert found["table"]("gold/status_days").fetchall() == []
    assert found["group_days"].columns == ["group", "err_ms"]
    row = {"group": "billing", "err_ms": 60_000}
    some = [Array([row[name]], types[name]) for name in types]
    write_deltalake(stored, Table.from_arrays(some, names=list(types)), mode="append")
    assert found["table"]("gold/status_days").fetchall() == [("billing", 60_000)]


def test_there_are_ten() -> None:
    assert len(QUERIES) == 10
