"""Tables as readers without Spark find them: delta-rs, and DuckDB by the files that it names."""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import pytest
from deltalake import DeltaTable, QueryBuilder
from pyspark.sql import SparkSession
from pyspark.sql.types import BinaryType, DateType, DoubleType, IntegerType, LongType, StructType

_SUMMED = (IntegerType, LongType, DoubleType)


def assert_others_find_the_same(spark: SparkSession, path: str) -> int:
    """As many rows, and sums of all numbers and lengths; every value of all columns can be shown.
    How many rows there are.
    """
    frame = spark.read.format("delta").load(path)
    table = DeltaTable(path.removeprefix("file:"))
    assert [field.name for field in table.schema().fields] == frame.columns
    sums = _sums(frame.schema)
    (by_spark,) = frame.selectExpr(*sums).collect()
    found: list[Sequence[object]] = []
    files = {"files": [unquote(file) for file in table.file_uris()]}  # delta-rs quotes paths
    with duckdb.connect() as database:
        if files["files"]:
            quoted = ", ".join(sums).replace("`", '"')
            rows = f"FROM read_parquet($files, hive_partitioning = true) SELECT {quoted}"
            found.append(database.execute(rows, files).fetchall()[0])
            database.execute("SELECT * FROM read_parquet($files)", files).fetchall()
    named = ", ".join(f"{each} AS s{number}" for number, each in enumerate(sums))
    # DataFusion measures texts alone.
    quoted = re.sub(r"octet_length\((`\w+`)\)", r"octet_length(encode(\1, 'hex')) / 2", named)
    quoted = quoted.replace("`", '"')
    columns = QueryBuilder().register("t", table).execute(f"SELECT {quoted} FROM t").read_all()
    found.append([columns.column(f"s{number}")[0].as_py() for number in range(len(sums))])
    for others in found:
        assert list(map(_number, others)) == list(map(_about, by_spark)), path
    return int(by_spark[0])


def rows_of(path: Path | str, columns: str = "*") -> list[tuple[Any, ...]]:
    """Rows of a table, as DuckDB finds them in the files that delta-rs names."""
    files = {"files": [unquote(file) for file in DeltaTable(str(path)).file_uris()]}
    if not files["files"]:
        return []
    rows = f"FROM read_parquet($files, hive_partitioning = true) SELECT {columns}"
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        return database.execute(rows, files).fetchall()


def _plain(value: Any) -> Any:
    """The same for what Spark and DuckDB give."""
    match value:
        case datetime():
            return value.timestamp()
        case dict():
            return [_plain(item) for item in value.values()]
        case list() | tuple():
            return [_plain(item) for item in value]
        case bytearray():
            return bytes(value)
    return value


def _sums(schema: StructType) -> list[str]:
    """What all three engines understand."""
    sums = ["count(*)"]
    for field in schema:
        name = f"`{field.name}`"
        if isinstance(field.dataType, DateType):
            continue  # in the names of folders
        if isinstance(field.dataType, BinaryType):
            sums.append(f"sum(octet_length({name}))")
        elif isinstance(field.dataType, _SUMMED):
            sums.append(f"sum(CAST({name} AS DOUBLE))")
        else:
            sums.append(f"count({name})")
    return sums


def _number(value: object) -> float | None:
    return None if value is None else float(str(value))


def _about(value: object) -> Any:
    number = _number(value)
    return None if number is None else pytest.approx(number, rel=1e-9)
