"""Each query of docs/analytics.md is one that DuckDB takes, over tables as the catalogues say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
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


def test_there_are_ten() -> None:
    assert len(QUERIES) == 10
