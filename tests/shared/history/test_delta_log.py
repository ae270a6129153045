"""Tables that somebody was killed at creating are not there yet."""

import shutil
from pathlib import Path

import pytest
from support.lake_files import write_table
from warren.history.delta_log import FIRST_COMMIT, has_version
from warren.history.history import History
from warren.history.lake_tables import LakeTables

WHOLE = '{"commitInfo":{}}\n{"metaData":{"id":"a"}}\n{"protocol":{"minReaderVersion":1}}\n'
TABLE = "silver/group_minutes"
HALF_MADE = {
    "empty": {},
    "temporary": {f".{FIRST_COMMIT}.2f1c.tmp": WHOLE},
    "without a byte": {FIRST_COMMIT: ""},
    "zeros": {FIRST_COMMIT: "\0" * 512},
    "half a line": {FIRST_COMMIT: WHOLE[:-20]},
    "half of its lines": {FIRST_COMMIT: WHOLE.splitlines()[0]},
}


@pytest.mark.parametrize("files", HALF_MADE.values(), ids=HALF_MADE)
def test_a_log_without_a_whole_commit_is_no_table(tmp_path: Path, files: dict[str, str]) -> None:
    """Nor is it trouble: the archiver makes it at its next start, and it is read then."""
    log = tmp_path / TABLE / "_delta_log"
    log.mkdir(parents=True)
    for name, text in files.items():
        (log / name).write_text(text)
    assert not has_version(files, lambda: files[FIRST_COMMIT])
    with LakeTables(str(tmp_path)) as tables, History(str(tmp_path)) as history:
        assert not tables.exists(TABLE)
        assert tables.days(TABLE) == []
        assert history.group("prod", "billing", 0, 60_000, 60_000) == []
        shutil.rmtree(log)
        row = {"minute": "2026-11-21T00:00:00+00:00"}
        write_table(tmp_path, TABLE, {"minute": "TIMESTAMPTZ"}, [row])
        assert tables.exists(TABLE)


def test_a_log_that_has_come_further_is_a_table() -> None:
    later = FIRST_COMMIT.replace("0.json", "1.json")
    assert has_version([FIRST_COMMIT], lambda: WHOLE)
    assert has_version([FIRST_COMMIT, later], lambda: pytest.fail("needs no look"))
    checkpoint = "00000000000000000010.checkpoint.parquet"
    assert has_version([checkpoint, "_last_checkpoint"], lambda: pytest.fail("has no such file"))
