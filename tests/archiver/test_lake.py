"""Where a lake is, and which of its tables are there."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from warren_archiver.lake.lake import TOPIC_IDS_SCHEMA, Lake, create, exists


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
    create(spark, path, TOPIC_IDS_SCHEMA)
    assert exists(spark, path)
    assert spark.read.format("delta").load(path).columns == TOPIC_IDS_SCHEMA.names


def test_rows_whose_log_is_gone_stay_for_whoever_can_restore_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Created again, the table would be empty, and upkeep would remove the files."""
    (tmp_path / "_delta_log").mkdir()
    (tmp_path / "part-0.parquet").write_text("rows")
    with pytest.raises(PySparkException):
        create(spark, f"file:{tmp_path}", TOPIC_IDS_SCHEMA)
    assert {file.name for file in tmp_path.iterdir()} == {"_delta_log", "part-0.parquet"}
