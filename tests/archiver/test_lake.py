"""Where a lake is, and which of its tables are there."""

from pathlib import Path

import pytest
from delta.tables import DeltaTable
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # no py.typed
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType
from support.silver_rows import START, at
from warren_archiver.lake.catalogue import GAPS
from warren_archiver.lake.lake import (
    Lake,
    create,
    ensure,
    exists,
)
from warren_archiver.silver.catalogue import LATENESS_MINUTES


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("/data/lake", "file:/data/lake"),
        ("file:/data/lake", "file:/data/lake"),
        ("file:///data/lake", "file:/data/lake"),
        ("lake", f"file:{Path.cwd()}/lake"),
        ("a:b/lake", f"file:{Path.cwd()}/a:b/lake"),
        ("s3a://bucket/lake", "s3a://bucket/lake"),
    ],
)
def test_a_path_says_where(path: str, root: str) -> None:
    assert Lake.at(path).root == root


NULLABLE = StructType([StructField(field.name, field.type) for field in GAPS.fields])
COMMIT = f"{0:020d}.json"
HALF_MADE = {
    "empty": {},
    "temporary": {f".{COMMIT}.2f1c.tmp": '{"commitInfo":{}}'},
    "without a byte": {COMMIT: ""},
    "half a line": {COMMIT: '{"commitInfo":{"timestamp":179'},
}


@pytest.mark.parametrize("files", HALF_MADE.values(), ids=HALF_MADE)
def test_a_table_whose_creation_was_killed_is_created(
    spark: SparkSession, tmp_path: Path, files: dict[str, str]
) -> None:
    log, path = tmp_path / "_delta_log", f"file:{tmp_path}"
    log.mkdir()
    for name, text in files.items():
        (log / name).write_text(text)
    assert not exists(spark, path)
    create(spark, path, GAPS.schema)
    assert exists(spark, path)
    assert spark.read.format("delta").load(path).columns == GAPS.schema.names


def test_rows_whose_log_is_gone_stay_for_whoever_can_restore_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Created again, the table would be empty, and upkeep would remove the files."""
    (tmp_path / "_delta_log").mkdir()
    (tmp_path / "part-0.parquet").write_text("rows")
    with pytest.raises(PySparkException):
        create(spark, f"file:{tmp_path}", GAPS.schema)
    assert {file.name for file in tmp_path.iterdir()} == {"_delta_log", "part-0.parquet"}


def test_a_table_says_what_it_is_and_takes_null_where_the_catalogue_does(
    spark: SparkSession, tmp_path: Path
) -> None:
    row, path = ("t", "id", 0, 5, 9, "retention", at(START)), str(tmp_path)
    ensure(spark, path, GAPS)
    before = Lake("").ensured(spark, path)
    described = spark.sql(f"DESCRIBE TABLE EXTENDED delta.`{path}`").collect()
    said = {name: comment for name, _, comment in described if comment is not None}
    assert said.items() >= {field.name: field.description for field in GAPS.fields}.items()
    ((summary, properties),) = (
        DeltaTable.forPath(spark, path).detail().select("description", "properties").collect()
    )
    assert (summary, properties["warren.key"]) == (GAPS.summary, "topic, topic_id, partition, from")
    _add(spark, path, (*row[:4], None, *row[5:]))
    with pytest.raises(Py4JError, match=r"NOT NULL.*from"):
        _add(spark, path, (*row[:3], None, *row[4:]))
    # What was read stays: a pass writes between two queries of `warren archive check`.
    assert (before.count(), spark.read.format("delta").load(path).count()) == (0, 1)


def _add(spark: SparkSession, path: str, row: tuple[object, ...]) -> None:
    rows = spark.createDataFrame([row], NULLABLE)
    rows.write.format("delta").mode("append").save(path)


def test_files_are_sought_by_keys_and_times_alone() -> None:
    """Of each other column the least and greatest of a file would be looked for and never used."""
    sought = LATENESS_MINUTES.sought
    assert {*LATENESS_MINUTES.key, "cluster", "group", "at"} <= {*sought}
    assert not {"late_ms", "kafka_offset", "date"} & {*sought}
