"""What of a table's log may go."""

from __future__ import annotations

from warren_archiver.lake.log_files import LogFile, unneeded


def version(number: int, ending: str = "json") -> str:
    return f"{number:020d}.{ending}"


def log(*, versions: int, checkpoints: tuple[int, ...]) -> list[LogFile]:
    """A version each millisecond."""
    kept = [LogFile(version(number), number) for number in range(versions)]
    made = [LogFile(version(number, "checkpoint.parquet"), number) for number in checkpoints]
    return [*kept, *made, LogFile("_last_checkpoint", 0)]


def test_what_is_older_than_an_old_checkpoint_goes() -> None:
    files = log(versions=30, checkpoints=(10, 20))
    expected = sorted([*map(version, range(20)), version(10, "checkpoint.parquet")])
    assert unneeded(files, before_ms=25) == expected
    assert unneeded(files, before_ms=20) == [version(number) for number in range(10)]


def test_without_a_checkpoint_that_is_old_enough_all_stays() -> None:
    assert unneeded(log(versions=30, checkpoints=(10, 20)), before_ms=10) == []
    assert unneeded(log(versions=30, checkpoints=()), before_ms=100) == []


def test_a_checkpoint_in_parts_does_not_count() -> None:
    """One of its parts may be missing."""
    part = LogFile(version(5, f"checkpoint.{1:010d}.{2:010d}.parquet"), 5)
    assert unneeded([*log(versions=9, checkpoints=()), part], before_ms=100) == []
