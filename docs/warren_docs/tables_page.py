"""docs/tables.md from the catalogues of tables."""

from collections.abc import Iterator
from itertools import chain

from warren_archiver.lake.table import Kept, Table
from warren_archiver.layers import DESCRIBED

INTRODUCTIONS = {
    "bronze": """# Tables

Generated from the catalogues of `warren_archiver`; do not edit. [analytics.md](analytics.md) says
how to ask them.

Delta tables, typed. Each row is there once, by its key, however often and late its events came.
Times are timestamps (UTC, microseconds) within 1970 and 9999. A table with a `date`, a UTC day, is
partitioned by it. A column is null only where its meaning says so: the others are `NOT NULL`, but
for tables that an earlier Warren created. The tables themselves have these texts as comments, and
their key as the property `warren.key`.

# Bronze

Below `<path>/bronze/`, written with each pass of the archiver.
""",
    "silver": """# Silver

Below `<path>/silver/`, kept up with the events by each pass.
""",
    "gold": """# Gold

Below `<path>/gold/`, made of silver by each pass: each hour or day of which something has changed
there, whole. Those that are not over yet are there too, as far as they are known.
""",
    "views": """# Views

Made of gold when they are read: by reports, and by Spark where `archiver.schema_name` gives them
names.
""",
    "replay": """# Tables of replays

Delta tables below `<path>/replay/`: each `warren replay` adds its rows, whole days are dropped.
""",
}


def pages() -> dict[str, str]:
    """File contents by path below docs/."""
    parts = [[INTRODUCTIONS[layer], *map(_section, tables)] for layer, tables in DESCRIBED.items()]
    return {"tables.md": "\n".join(chain.from_iterable(parts))}


def _section(table: Table) -> str:
    key = ", ".join(f"`{name}`" for name in table.key)
    kept = "Kept for good" if table.kept is Kept.ALWAYS else f"Kept for `{table.kept}`"
    lines = [f"## `{table.name}`", "", table.summary, "", f"Key: {key}. {kept}.", ""]
    return "\n".join([*lines, "| column | type | meaning |", "|---|---|---|", *_rows(table), ""])


def _rows(table: Table) -> Iterator[str]:
    for field in table.fields:
        yield f"| `{field.name}` | {field.type.simpleString()} | {field.description} |"
