"""docs/sources.yml, the archive's tables as sources of dbt, from the catalogues of tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml
from warren_archiver.lake.table import RESERVED, Field, Table
from warren_archiver.layers import LAYERS, name_of

HEADER = """# The tables of Warren's archive as a source of dbt. Generated from the catalogues of
# `warren_archiver`; do not edit. Copy it into models/ of a project. It needs dbt 1.10.5 or newer,
# and the package dbt_utils for the tests of keys. `path` is that of the Delta table in the lake.
"""


def pages() -> dict[str, str]:
    """File contents by path below docs/."""
    source = {
        "name": "warren",
        "description": "What Warren has archived: Delta tables below `archiver.path`.",
        "schema": "{{ var('warren_schema', 'warren') }}",
        "tables": [_table(layer, table) for layer, tables in LAYERS.items() for table in tables],
    }
    found = {"version": 2, "sources": [source]}
    text = yaml.safe_dump(found, sort_keys=False, width=100, allow_unicode=True)
    return {"sources.yml": HEADER + text}


def _table(layer: str, table: Table) -> dict[str, Any]:
    return {
        "name": name_of(layer, table),
        "description": table.summary,
        "config": {"meta": {"path": f"{layer}/{table.name}"}},
        "columns": [dict(_column(table, field)) for field in table.fields],
        **({"data_tests": [_unique(table.key)]} if len(table.key) > 1 else {}),
    }


def _column(table: Table, field: Field) -> Iterator[tuple[str, Any]]:
    yield "name", field.name
    yield "description", field.description
    yield "data_type", field.type.simpleString()
    if field.name in RESERVED:
        yield "quote", True
    tests = ["unique"] if table.key == (field.name,) else []
    if field.null is None:
        tests.append("not_null")
    if tests:
        yield "data_tests", tests


def _unique(key: tuple[str, ...]) -> dict[str, Any]:
    return {
        "dbt_utils.unique_combination_of_columns": {
            "arguments": {"combination_of_columns": list(key), "quote_columns": True}
        }
    }
