"""What an evaluator has published, judged again from the archive."""

import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from support.evaluator_process import PARTITIONS, Home
from support.freshness_events import WELL, freshness_event, late
from support.group_lives import interleaved, lives
from support.lake_files import write_table
from support.manual_clock import ManualClock
from support.offset_events import NOW
from support.other_readers import assert_others_find_the_same
from support.report_lake import moment
from warren.clock import SystemClock
from warren.contracts import OffsetEvent, StatusChangeEvent, group_key
from warren.contracts.topics import FRESHNESS, LAG_STATUS, OFFSETS
from warren.settings import Settings
from warren_archiver.bronze.bronze import Bronze
from warren_archiver.errors import NothingArchived
from warren_archiver.lake.lake import Lake
from warren_archiver.replay.replay import Archived, Replay, changed, newest_ms, write
from warren_archiver.replay.shown import as_json
from warren_archiver.report.period import Period
from warren_archiver.steps import Step

pytestmark = pytest.mark.timeout(1800)
HOUR = 3_600_000
MINUTE = 60_000


def _shifted(event: OffsetEvent, by: int) -> OffsetEvent:
    topics = {
        name: columns.model_copy(update={"committed_at": [at + by for at in columns.committed_at]})
        for name, columns in event.topics.items()
    }
    return event.model_copy(update={"observed_at": event.observed_at + by, "topics": topics})


@pytest.fixture
def home(broker: Any, unique: str, tmp_path: Path) -> Home:
    """An evaluator has judged the lives of some groups, which end now."""
    home = Home(broker.bootstrap, unique, tmp_path)
    events = interleaved(lives())
    by = round(time.time() * 1000) - events[-1].observed_at
    with home.worker() as worker:
        worker.start().await_ready()
        sender = home.events()
        sender.send(*(_shifted(event, by) for event in events))
        for at, row in ((by - 60_000, late(400_000)), (by, WELL)):
            measured = freshness_event(at, row, group="group-1")
            sender.send_raw(group_key("prod", "group-1"), measured.to_bytes(), FRESHNESS.name)
        sender.flush()
        home.await_caught_up()
        worker.terminate()
    return home


@pytest.fixture
def settings(spark: SparkSession, home: Home) -> Settings:
    """Those of a lake that has all that was published."""
    settings = Settings.model_validate(
        {
            "home": {
                "bootstrap": home.bootstrap,
                "topic_prefix": home.prefix,
                "partitions": PARTITIONS,
            },
            "archiver": {"path": str(home.directory / "lake")},
            "evaluation": {"policy": "burrow"},  # as the evaluator judges
        }
    )
    topics = [OFFSETS, LAG_STATUS, FRESHNESS]
    lake = Lake.at(settings.archiver.path)
    lake.ensure(spark)
    Bronze(spark, settings, lake, topics, SystemClock()).take()
    return settings


def test_the_settings_of_the_time_give_what_was_published(
    spark: SparkSession, home: Home, settings: Settings
) -> None:
    changes = [
        StatusChangeEvent.from_bytes(record.value()) for record in home.records("lag-status")
    ]
    first = min(event.data.opened_at for event in changes)
    period = Period(first - HOUR, first + HOUR)
    told: list[Step] = []
    archived = Archived(spark, settings, period, warm_up_ms=HOUR, tell=told.append)
    found = archived.compared(settings)
    assert [step.phase for step in told] == ["replay", "judging", "judging"]
    assert {one.incident_id for one in found.replayed} == {e.data.incident_id for e in changes}
    assert found.replayed == found.published
    assert {pair.kind for pair in found.pairs} == {"same"}
    _assert_goes_on_amid_incidents(spark, settings, found)
    _assert_other_settings_differ(spark, settings, found)
    _assert_what_no_group_matches_is_told_from_a_time_without_events(spark, settings, period)
    _assert_what_was_told_late_counts(spark, settings, found)


def _assert_what_was_told_late_counts(
    spark: SparkSession, settings: Settings, whole: Replay
) -> None:
    """The evaluator was down when the events came, and judged them long afterwards."""
    at = "timestamp_millis(CAST(get_json_object(CAST(value AS STRING), '$.observed_at') AS BIGINT))"
    events = Lake.at(settings.archiver.path).events
    spark.sql(
        f"UPDATE delta.`{events}` SET timestamp = {at}, date = to_date({at}) "
        f"WHERE topic = '{OFFSETS.full_name(settings.home.topic_prefix)}'"
    )
    first = min(one.opened_at for one in whole.published)
    period = Period(first - HOUR, first + MINUTE)
    found = Archived(spark, settings, period, warm_up_ms=HOUR).compared(settings)
    assert found.published
    assert found.replayed == found.published


def _assert_goes_on_amid_incidents(spark: SparkSession, settings: Settings, whole: Replay) -> None:
    """From the middle, with what was before as a warm-up."""
    moments = sorted(one.opened_at for one in whole.published)
    middle = moments[len(moments) // 2] + 1
    period = Period(middle, whole.period.end_ms)
    found = Archived(spark, settings, period, warm_up_ms=HOUR).compared(settings)
    assert any(one.opened_at < middle for one in found.published)
    assert found.replayed == found.published
    short = Archived(spark, settings, period, "(?P<a>group-1)", 60_000).compared(settings)
    assert {pair.group[1][:7] for pair in short.pairs} == {"group-1"}


def _assert_other_settings_differ(spark: SparkSession, settings: Settings, whole: Replay) -> None:
    archived = Archived(spark, settings, whole.period, warm_up_ms=HOUR)
    mute = archived.compared(changed(settings, ["evaluation.allowed_lag=1000000"]))
    assert mute.replayed == []
    assert {pair.kind for pair in mute.pairs} == {"missed"}
    shorter = archived.compared(changed(settings, ["evaluation.intervals=3"]))
    assert shorter.published == whole.published
    assert {"sooner", "raised"} & {pair.kind for pair in shorter.pairs}
    lake = Lake.at(settings.archiver.path)
    clock = ManualClock(NOW)
    for replay in (mute, shorter):
        write(spark, lake, replay, {"set": ["x"]}, clock)
        clock.advance(1)
    runs = spark.read.format("delta").load(lake.replay("runs")).orderBy("run").collect()
    assert [row["replayed"] for row in runs] == [0, len(shorter.replayed)]
    rows = spark.read.format("delta").load(lake.replay("incidents"))
    counts = rows.groupBy("run").count().orderBy("run").collect()
    assert [row["count"] for row in counts] == [len(mute.pairs), len(shorter.pairs)]
    assert as_json(mute)["missed"] == len(whole.published)
    assert assert_others_find_the_same(spark, lake.replay("runs")) == 2
    assert assert_others_find_the_same(spark, lake.replay("incidents")) == len(
        [*mute.pairs, *shorter.pairs]
    )


def _assert_what_no_group_matches_is_told_from_a_time_without_events(
    spark: SparkSession, settings: Settings, period: Period
) -> None:
    with pytest.raises(NothingArchived, match="no group of that time matches 'nosuch'"):
        Archived(spark, settings, period, "nosuch")
    with pytest.raises(NothingArchived, match="no offset event of that time has been archived"):
        Archived(spark, settings, Period(0, HOUR), "nosuch")


def test_days_before_the_newest_event_are_not_read_to_find_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    day = 24 * HOUR
    times = {"topic": "VARCHAR", "timestamp": "TIMESTAMPTZ"}
    for at in (NOW - day, NOW, NOW + 2 * day):
        row = {"topic": "warren.offsets", "timestamp": moment(at)}
        write_table(tmp_path, "bronze/events", times, [row])
    for file in tmp_path.glob(f"bronze/events/date={moment(NOW - day):%Y-%m-%d}/*.parquet"):
        file.write_bytes(b"not to be opened")
    settings = Settings.model_validate({"archiver": {"path": str(tmp_path)}})
    assert newest_ms(spark, settings, NOW + day) == NOW
    other = Settings.model_validate(
        {"archiver": {"path": str(tmp_path)}, "home": {"topic_prefix": "other."}}
    )
    with pytest.raises(NothingArchived):
        newest_ms(spark, other, NOW - 2 * day)
