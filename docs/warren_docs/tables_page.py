"""docs/tables.md from the catalogues of tables."""

from __future__ import annotations

from collections.abc import Iterator

from warren_archiver.gold.catalogue import TABLES as GOLD
from warren_archiver.replay_catalogue import TABLES as REPLAYED
from warren_archiver.silver.catalogue import TABLES as SILVER
from warren_archiver.silver.table import Kept, Table

INTRODUCTION = """# Tables

Generated from `warren_archiver.silver.catalogue` and `warren_archiver.gold.catalogue`; do not edit.
[analytics.md](analytics.md) says how to ask them.

Delta tables, typed. Each row is there once, by its key, however often and late its events came.
Times are timestamps (UTC, microseconds) within 1970 and 9999. All tables are partitioned by `date`,
a UTC day.

# Silver

Below `<path>/silver/`, kept up with the events every `archiver.silver_interval`.
"""
GOLD_INTRODUCTION = """# Gold

Below `<path>/gold/`, made of silver every `archiver.gold_interval`: each day of which something has
changed there, whole. Hours and days that are not over yet are there too, as far as they are known.
"""

REPLAYS = """# Tables of replays

Delta tables below `<path>/replay/`: each `warren replay` adds its rows, whole days are dropped.
"""


def pages() -> dict[str, str]:
    """File contents by path below docs/."""
    parts = [INTRODUCTION, *map(_section, SILVER), GOLD_INTRODUCTION, *map(_section, GOLD)]
    return {"tables.md": "\n".join([*parts, REPLAYS, *map(_section, REPLAYED)])}


def _section(table: Table) -> str:
    key = ", ".join(f"`{name}`" for name in table.key)
    kept = "Kept for good" if table.kept is Kept.ALWAYS else f"Kept for `{table.kept}`"
    lines = [f"## `{table.name}`", "", table.summary, "", f"Key: {key}. {kept}.", ""]
    return "\n".join([*lines, "| column | type | meaning |", "|---|---|---|", *_rows(table), ""])


def _rows(table: Table) -> Iterator[str]:
    for field in table.fields:
        yield f"| `{field.name}` | {field.type.simpleString()} | {field.meaning} |"
