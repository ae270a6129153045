"""`warren archive check` of silver: right as it was taken in, and every planted hole is found."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from support.archive_lab import Archive, events_between
from support.few_tables import OF_OFFSETS, STATUS_HOURS, only_silver, only_status_hours
from warren.clock import SystemClock
from warren_archiver.check.backfill import backfill
from warren_archiver.check.gold_check import check_gold
from warren_archiver.check.silver_check import check_silver, silver_at_rest
from warren_archiver.errors import NothingArchived, SilverBeingWritten
from warren_archiver.lake.checkpoint import Checkpoint
from warren_archiver.silver.catalogue import EVALUATIONS, GROUP_MINUTES, POSITIONS, QUARANTINE
from warren_archiver.silver.evaluations import Evaluations
from warren_archiver.steps import Step

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(autouse=True)
def _few_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all tables, test_jobs.py's check is one."""
    only_silver(monkeypatch, *OF_OFFSETS)
    only_status_hours(monkeypatch)


def _first_day(lab: Archive, table: str) -> date:
    days = lab.spark.read.format("delta").load(lab.lake.silver(table)).select("date").collect()
    return min(row["date"] for row in days)


def test_holes_in_silver_are_found(lab: Archive) -> None:
    """What is archived and not yet in silver is none."""
    assert check_silver(lab.spark, lab.settings) == []
    lab.send([*events_between(0, 10), b"not an event"])
    lab.once(silver_interval=600, gold_interval=3600)
    lab.send(events_between(10, 20))
    lab.once()

    def path(name: str) -> str:
        return lab.lake.silver(name)

    DeltaTable.forPath(lab.spark, path(POSITIONS.name)).delete("position = 3 AND partition = 0")
    table = DeltaTable.forPath(lab.spark, path(GROUP_MINUTES.name))
    table.update(set={"commits": F.lit(99)})
    evaluations = lab.spark.read.format("delta").load(path(EVALUATIONS.name)).limit(1)
    evaluations.write.format("delta").mode("append").save(path(EVALUATIONS.name))
    strange = lab.spark.read.format("delta").load(path(QUARANTINE.name))
    strange = strange.withColumn("kafka_offset", F.lit(77).cast("bigint"))
    strange.write.format("delta").mode("append").save(path(QUARANTINE.name))

    of_rows = _first_day(lab, POSITIONS.name)
    checks = {
        check.table.removeprefix("silver/"): check
        for check in check_silver(lab.spark, lab.settings)
    }
    assert checks["partition_minutes"].rows == 2
    wrong = {
        name: (check.missing, check.invented, check.other, check.to_make_again)
        for name, check in checks.items()
        if not check.correct
    }
    assert wrong == {
        POSITIONS.name: (1, 0, 0, of_rows),
        GROUP_MINUTES.name: (0, 0, 1, of_rows),
        EVALUATIONS.name: (0, 0, 1, of_rows),
        QUARANTINE.name: (0, 1, 0, None),  # no backfill takes it away
    }
    DeltaTable.forPath(lab.spark, path(EVALUATIONS.name)).delete("position = 5")
    DeltaTable.forPath(lab.spark, lab.lake.gold(STATUS_HOURS.name)).delete()
    clock = SystemClock()
    told: list[Step] = []
    (of_gold,) = check_gold(lab.spark, lab.settings, clock, told.append)
    assert [step.phase for step in told] == ["gold", "gold"]
    assert (of_gold.table, of_gold.correct) == (f"gold/{STATUS_HOURS.name}", False)
    assert of_gold.to_make_again == of_rows
    told.clear()
    day = lab.rows()[0]["date"]
    mended = backfill(lab.spark, lab.settings, day, clock, told.append)
    assert {step.phase for step in told} == {"silver", "judging", "gold"}
    ends = [step for step in told if step.done == step.total]
    assert [step.phase for step in ends] == ["silver", "judging", "gold"]
    # Each event has two positions, and ten events were not taken in yet.
    assert mended[f"silver/{POSITIONS.name}"] == 21
    assert mended[f"silver/{GROUP_MINUTES.name}"] == 1
    assert mended[f"silver/{EVALUATIONS.name}"] == 11
    assert mended[f"gold/{STATUS_HOURS.name}"] == of_gold.missing
    assert not any(backfill(lab.spark, lab.settings, day, clock).values())
    for away, why in ((-40, "older than archiver.keep_days = 30"), (2, "it has not begun")):
        with pytest.raises(NothingArchived, match=why):
            backfill(lab.spark, lab.settings, day + timedelta(days=away), clock)


def test_what_is_written_meanwhile_is_no_difference(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by a pass that begins and ends while the check goes on nor by one that had begun."""

    def goes_on(step: Step) -> None:
        if (step.phase, step.done) == (phase, 0) and values:
            lab.send(values)
            values.clear()
            lab.once(silver_interval=600, gold_interval=3600 if phase == "gold" else 0)

    lab.send(events_between(0, 10))
    lab.once(silver_interval=600, gold_interval=3600)
    lab.send(events_between(10, 20))
    lab.once()  # archived, judged beside what came before, and not yet in silver
    Evaluations(lab.spark, lab.lake, lab.settings).catch_up()
    clock, phase, values = SystemClock(), "silver", list(events_between(20, 30))
    found = check_silver(lab.spark, lab.settings, goes_on)
    assert not values, "silver went on"
    rows = {check.table.removeprefix("silver/"): check.rows for check in found}
    assert (rows[POSITIONS.name], rows[EVALUATIONS.name]) == (20, 20)
    assert all(check.correct for check in found), found
    phase, values = "gold", list(events_between(7200, 7210))
    (of_gold,) = check_gold(lab.spark, lab.settings, clock, goes_on)
    assert not values, "gold went on"
    assert of_gold.correct, of_gold

    checkpoint = Path(lab.lake.silver_checkpoint.removeprefix("file:"))
    newest = max(
        int(file.name) for file in (checkpoint / "offsets").iterdir() if file.name.isdigit()
    )
    begun = checkpoint / f"offsets/{newest + 1}"
    begun.write_bytes((checkpoint / f"offsets/{newest}").read_bytes())
    with pytest.raises(SilverBeingWritten, match="warren archive run --once"):
        check_silver(lab.spark, lab.settings)
    looks = []

    def begun_until_looked_at(_: Checkpoint) -> bool:
        looks.append(begun.exists())
        begun.unlink(missing_ok=True)
        return looks[-1]

    monkeypatch.setattr(Checkpoint, "begun", begun_until_looked_at)
    assert silver_at_rest(lab.spark, lab.lake, [POSITIONS], wait=60) is not None
    assert looks == [True, False, False]
