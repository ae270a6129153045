"""What is archived is taken into silver and gold, once, whatever happens."""

import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from delta.tables import DeltaTable
from pyspark.errors import PySparkException
from support.archive_lab import Archive, events_between
from support.few_tables import OF_OFFSETS, only
from support.manual_clock import ManualClock
from support.other_readers import rows_of
from warren.clock import SystemClock
from warren.history.delta_log import LOG, commit_name
from warren_archiver.errors import ArchiveFailed
from warren_archiver.gold.catalogue import RATE_HOURS
from warren_archiver.refining.new_events import NewEvents, Position, Progress
from warren_archiver.refining.refine import Refinery

pytestmark = pytest.mark.timeout(1800)


def test_what_is_archived_is_in_silver_once_and_gold_follows(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though who was there before was killed while the tables were created, and then amid them."""
    only(monkeypatch, *OF_OFFSETS, RATE_HOURS)
    _leave_half_made(lab)
    lake = Path(lab.settings.archiver.path)
    lab.send([*events_between(0, 10), b"not an event"])
    lab.whole_pass()
    assert rows_of(lake / "silver/group_minutes", "consumed, lag, partitions") == [(9, 3, 2)]
    lab.send(events_between(10, 20), partition=1)
    with monkeypatch.context() as patch:
        patch.setattr(Progress, "note", _killed)
        with pytest.raises(ArchiveFailed):
            lab.whole_pass()
    lab.whole_pass()
    assert rows_of(lake / "silver/group_minutes", "consumed, lag, partitions") == [(19, 3, 2)]
    assert rows_of(lake / "gold/rate_hours", "minutes, consumed") == [(1, 19)]
    assert len(rows_of(lake / "silver/quarantine", "value")) == 1
    ((source, until),) = rows_of(lake / "gold/gold_progress", "source, epoch_ms(until)")
    assert (source, until > 0) == ("group_minutes", True)
    with monkeypatch.context() as patch:
        patch.setattr(Refinery, "take", _killed)
        lab.whole_pass()  # there is nothing new


def _killed(*_: object) -> None:
    raise PySparkException("killed")


def _leave_half_made(lab: Archive) -> None:
    """Leave only the folders that Spark and Delta create before they have written anything."""
    lake = lab.lake
    shutil.rmtree(lake.root.removeprefix("file:"))
    silver = (lake.silver(table.name) for table in OF_OFFSETS)
    for path in (lake.events, lake.gaps, *silver, lake.gold("rate_hours")):
        Path(path.removeprefix("file:"), "_delta_log").mkdir(parents=True)


def _taken(lab: Archive, known: Position | None, days: float = 0) -> tuple[list[int], Position]:
    """Offsets, and the position afterwards."""
    clock = ManualClock(SystemClock().now_ms())
    clock.advance(days * 86_400)
    offsets: list[int] = []
    for events, position in NewEvents(lab.spark, lab.lake, clock).since(known):
        if events is not None:
            offsets += sorted(row["offset"] for row in events.collect())
        known = position or known
    assert known is not None
    return offsets, known


def test_all_is_taken_in_where_it_is_not_known_what_is_new(lab: Archive, tmp_path: Path) -> None:
    """As where the table of events comes from a backup, or was made anew."""
    bronze = Path(lab.settings.archiver.path) / "bronze"

    def archive(start: int) -> None:
        lab.send(events_between(start, start + 5))
        lab.once()

    archive(0)
    offsets, first = _taken(lab, None)
    assert offsets == [*range(5)]
    shutil.copytree(bronze, tmp_path / "backup")
    archive(5)
    offsets, second = _taken(lab, first)
    assert offsets == [*range(5, 10)]
    lab.spark.sql(f"DELETE FROM delta.`{lab.lake.events}` WHERE offset = 3")
    assert _taken(lab, second)[0] == [], "nothing has come"
    _, third = _taken(lab, second)
    (bronze / "events" / LOG / commit_name(third.version + 1)).touch()
    assert _taken(lab, second) == ([], third), "somebody was killed at writing a commit"
    shutil.rmtree(bronze)
    shutil.copytree(tmp_path / "backup", bronze)
    archive(10)
    assert _taken(lab, second)[0] == [*range(15)]
    lab.spark.sql(f"RESTORE TABLE delta.`{lab.lake.events}` TO VERSION AS OF {first.version}")
    assert _taken(lab, first)[0] == [*range(5)]
    shutil.rmtree(bronze)
    lab.once()
    assert _taken(lab, first)[0] == [*range(15)]


@pytest.mark.heavy
def test_who_was_off_for_longer_than_versions_are_kept_takes_all_in_again(lab: Archive) -> None:
    """What would be read next was joined with other files, and is removed."""
    lab.send(events_between(0, 5))
    lab.once()
    _, position = _taken(lab, None)
    lab.send(events_between(5, 10))
    lab.once()
    _remove_what_was_joined(lab)
    with pytest.raises(PySparkException):
        _taken(lab, position, days=6)
    offsets, position = _taken(lab, position, days=7)
    assert offsets == [*range(10)]
    assert _taken(lab, position, days=14)[0] == [], "there is nothing to read"


def _remove_what_was_joined(lab: Archive) -> None:
    """As upkeep does after a week."""
    DeltaTable.forPath(lab.spark, lab.lake.events).optimize().executeCompaction()
    live = {
        Path(unquote(urlsplit(file).path))
        for file in lab.spark.read.format("delta").load(lab.lake.events).inputFiles()
    }
    files = set((Path(lab.settings.archiver.path) / "bronze" / "events").rglob("*.parquet"))
    assert live < files
    for file in files - live:
        file.unlink()
