"""What a table is, under the name that it had before: see `warren_archiver.lake.table`."""

from warren_archiver.lake.table import (
    BYTES,
    DAY,
    FLAG,
    RATIO,
    SMALL,
    TEXT,
    TIME,
    WHOLE,
    Field,
    Kept,
    Table,
)

__all__ = [
    "BYTES",
    "DAY",
    "FLAG",
    "RATIO",
    "SMALL",
    "TEXT",
    "TIME",
    "WHOLE",
    "Field",
    "Kept",
    "Table",
]
