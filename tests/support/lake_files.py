"""Tables of a lake, written without Spark."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import duckdb
from deltalake import write_deltalake

#: Columns of the tables of minutes.
WHO = {"cluster": "VARCHAR", "group": "VARCHAR", "minute": "TIMESTAMPTZ"}
MOVES = {"lag": "BIGINT", "produced": "BIGINT", "consumed": "BIGINT"}
LATE = {"topic": "VARCHAR", "late_max_ms": "BIGINT", "time_to_loss_ms": "BIGINT"}
OF_TOPIC = {
    "cluster": "VARCHAR",
    "topic": "VARCHAR",
    "minute": "TIMESTAMPTZ",
    "produced": "BIGINT",
}


def write_table(
    lake: Path, table: str, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Adds rows to `silver/group_minutes`; `columns` with their types in DuckDB's words, of which
    `date` follows from the first time."""
    time = next(name for name, kind in columns.items() if kind == "TIMESTAMPTZ")
    read = {name: "VARCHAR" if kind == "BLOB" else kind for name, kind in columns.items()}
    listed = ", ".join(
        f'from_base64("{name}") AS "{name}"' if kind == "BLOB" else f'"{name}"'
        for name, kind in columns.items()
    )
    with duckdb.connect() as database, NamedTemporaryFile("w", suffix=".json") as file:
        for row in rows:
            json.dump({name: plain(row.get(name)) for name in columns}, file)
            file.write("\n")
        file.flush()
        database.execute("SET TimeZone = 'UTC'")
        database.read_json(file.name, columns=read, format="newline_delimited").create("rows")
        dated = database.sql(f'SELECT {listed}, CAST("{time}" AS DATE) AS date FROM rows')
        write_deltalake(str(lake / table), dated, mode="append", partition_by=["date"])


def plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return value.isoformat() if isinstance(value, date) else value
