"""What docs/sources.yml tells dbt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import yaml
from warren_archiver.lake.table import RESERVED
from warren_archiver.layers import LAYERS

PATH = Path(__file__).parents[2] / "docs" / "sources.yml"
((SOURCE,),) = (yaml.safe_load(PATH.read_text())["sources"],)
TABLES: dict[str, dict[str, Any]] = {table["name"]: table for table in SOURCE["tables"]}


def test_every_table_of_the_lake_has_a_name_of_its_own() -> None:
    paths = [table["config"]["meta"]["path"] for table in TABLES.values()]
    assert paths == [f"{layer}/{table.name}" for layer in LAYERS for table in LAYERS[layer]]


def test_a_column_that_is_never_null_is_tested_for_that() -> None:
    columns = {column["name"]: column for column in TABLES["positions"]["columns"]}
    assert columns["at"]["data_tests"] == ["not_null"]
    assert columns["committed"]["description"] == "Committed offset; null when never committed"
    assert "data_tests" not in columns["committed"]


def test_a_key_is_tested() -> None:
    (test,) = TABLES["group_minutes"]["data_tests"]
    (arguments,) = test.values()
    assert arguments["arguments"]["combination_of_columns"] == ["cluster", "group", "minute"]
    (key, *_) = [c for c in TABLES["incidents"]["columns"] if c["name"] == "incident_id"]
    assert key["data_tests"] == ["unique", "not_null"]
    assert "data_tests" not in TABLES["incidents"]


NAMES = sorted({column["name"] for table in TABLES.values() for column in table["columns"]})


def test_a_column_that_has_to_be_quoted_is_known_for_it() -> None:
    assert {name for name in NAMES if _has_to_be_quoted(name)} == RESERVED


def _has_to_be_quoted(name: str) -> bool:
    query = f'SELECT {name} FROM (SELECT 1 AS "{name}") AS t WHERE t.{name} = 1 ORDER BY {name}'
    try:
        duckdb.execute(query)
    except duckdb.ParserException:
        return True
    return False


def test_dbt_is_told_to_quote_these_columns() -> None:
    told = {
        (column["name"], column.get("quote", False))
        for table in TABLES.values()
        for column in table["columns"]
    }
    assert told == {(name, name in RESERVED) for name in NAMES}
