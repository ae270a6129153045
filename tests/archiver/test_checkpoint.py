"""What is left of a query's checkpoint where somebody was killed, or a machine lost its power."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from warren_archiver.lake.checkpoint import Checkpoint
from warren_archiver.lake.small_files import SmallFiles

READ = '{"reservoirId":"t","reservoirVersion":7,"index":-1}'


def _write(folder: Path) -> None:
    """As Spark does, after its first batch."""
    files = {
        "metadata": json.dumps({"id": "q"}),
        "offsets/0": f'v1\n{{"batchTimestampMs":1}}\n{READ}',
        "commits/0": 'v1\n{"nextBatchWatermarkMs":0}',
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_a_checkpoint_with_nothing_but_folders_is_that_of_a_new_query(
    spark: SparkSession, tmp_path: Path
) -> None:
    for name in ("sources/0", "offsets", "commits"):
        (tmp_path / name).mkdir(parents=True)
    checkpoint = Checkpoint(spark, f"file:{tmp_path}")
    assert checkpoint.is_whole()
    assert checkpoint.newest() == -1


@pytest.mark.parametrize("text", ["", "v1\n", f"v1\n{READ[:-3]}"])
@pytest.mark.parametrize("name", ["metadata", "offsets/0", "commits/0"])
def test_a_file_of_which_a_part_is_missing_makes_it_none(
    spark: SparkSession, tmp_path: Path, name: str, text: str
) -> None:
    _write(tmp_path)
    checkpoint = Checkpoint(spark, f"file:{tmp_path}")
    assert checkpoint.is_whole()
    (tmp_path / name).write_text(text)
    assert not checkpoint.is_whole()


def test_what_is_left_of_one_that_was_being_deleted_is_none(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path)
    delete = SmallFiles.delete

    def killed(self: SmallFiles, path: str) -> None:
        delete(self, path)
        raise KeyboardInterrupt

    monkeypatch.setattr(SmallFiles, "delete", killed)
    checkpoint = Checkpoint(spark, f"file:{tmp_path}")
    with pytest.raises(KeyboardInterrupt):
        checkpoint.delete()
    assert (tmp_path / "offsets" / "0").exists()
    assert not checkpoint.is_whole()
