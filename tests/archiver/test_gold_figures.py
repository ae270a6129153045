"""What single figures of gold are, of few rows each."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from support.manual_clock import ManualClock
from support.silver_rows import DAY, END, HOUR, MINUTE, START, append, at, ensure_tables, frame
from warren.settings import Settings
from warren_archiver.gold import catalogue
from warren_archiver.gold import gold as gold_module
from warren_archiver.gold.capacity import capacity
from warren_archiver.gold.gold import Gold
from warren_archiver.gold.incidents import incidents, with_noise
from warren_archiver.gold.plan import lateness, memberships
from warren_archiver.gold.rates import rates
from warren_archiver.gold.units import Unit
from warren_archiver.lake.lake import Lake
from warren_archiver.silver.catalogue import (
    GROUP_MINUTES,
    INCIDENTS,
    LATENESS_MINUTES,
    MEMBERSHIP_CHANGES,
    NOTIFICATIONS,
)

pytestmark = pytest.mark.timeout(1800)
GROUP = {"cluster": "prod", "group": "billing"}


def _of(column: str, moment: int, **more: Any) -> dict[str, Any]:
    return GROUP | {column: at(moment), "date": at(moment).date()} | more


def test_a_rate_is_of_the_minutes_that_are_known(spark: SparkSession) -> None:
    """The log end was unknown every other minute."""
    minutes = [
        _of("minute", START + n * MINUTE, consumed=10, produced=None if n % 2 else 12)
        for n in range(60)
    ]
    (row,) = rates(frame(spark, GROUP_MINUTES, minutes), Unit.HOUR).collect()
    assert (row["minutes"], row["produced_minutes"], row["consumed_minutes"]) == (60, 30, 60)
    assert (row["produce_rate"], row["consume_rate"]) == (0.2, pytest.approx(1 / 6))
    assert row["busiest_hour_rate"] == 0.2


def test_a_minute_is_no_busiest_hour(spark: SparkSession) -> None:
    minutes = [_of("minute", START + n * MINUTE, produced=60) for n in range(60)]
    minutes.append(_of("minute", START + HOUR, produced=54_000))
    (row,) = rates(frame(spark, GROUP_MINUTES, minutes), Unit.DAY).collect()
    assert (row["busiest_hour_rate"], row["produce_peak"]) == (1.0, 900.0)


def test_a_day_that_has_begun_does_not_bend_the_trend(spark: SparkSession) -> None:
    days = [
        _of("day", START + n * DAY, minutes=1440, busiest_hour_rate=rate, pace_behind=200.0)
        for n, rate in enumerate((100.0, 120.0, 140.0))
    ]
    morning = _of("day", START + 3 * DAY, minutes=6, busiest_hour_rate=20.0, pace_behind=200.0)
    evening = morning | {"minutes": 1400, "busiest_hour_rate": 160.0}
    made = {}
    for name, last in (("morning", morning), ("evening", evening)):
        rate_days = frame(spark, catalogue.RATE[Unit.DAY], [*days, last])
        found = capacity(rate_days, frame(spark, catalogue.LATENESS[Unit.HOUR], []))
        made[name] = max(found.collect(), key=lambda row: row["day"])
    for row in made.values():
        assert (row["slope"], row["level"], row["crosses_in_days"]) == (20.0, 160.0, 2.0)
    assert (made["morning"]["days"], made["evening"]["days"]) == (3, 4)


def test_what_began_before_another_was_over_is_no_flapping(spark: SparkSession) -> None:
    """An objective of freshness was broken all the time; a group of another name is none."""
    times = {"late": (0, 120), "first": (10, 12), "again": (20, 60), "later": (140, None)}
    rows = [
        _of("opened_at", START + begin * MINUTE, incident_id=name, deliveries=0)
        | {"closed_at": None if end is None else at(START + end * MINUTE)}
        for name, (begin, end) in times.items()
    ]
    other = rows[2] | {"group": "other", "incident_id": "other"}
    found = with_noise(frame(spark, INCIDENTS, [*rows, other])).collect()
    assert {row["incident_id"] for row in found if row["flapped"]} == {"again"}
    assert len(found) == len(rows) + 1


def _told(moment: int, generation: int, *members: str, **more: Any) -> dict[str, Any]:
    own = {"position": moment, "deleted": False, "generation": generation}
    own |= {"members": list(members), "joined": [], "left": [], "previous_state": "Stable"}
    return _of("at", moment, **(own | more))


def test_a_generation_that_is_told_again_is_no_rebalance(spark: SparkSession) -> None:
    new = {"joined": ["a"]}
    told = [
        _told(START, 7, "a", previous_state=None, **new),  # nobody knows for how long
        *(_told(START + n * DAY // 2, 7, "a") for n in range(1, 6)),
        _told(START + 3 * DAY, 8, "a"),
        _told(START + 3 * DAY + 1, -1),
        _told(START + 3 * DAY + 2, 0, deleted=True, left=["a"]),
        _told(START + 3 * DAY + 3, 1, "a", previous_state="Dead", **new),
        _told(START + 3 * DAY + HOUR, 2, "a"),
        _told(START + 9 * DAY, 5, "a", "b", joined=["b"]),  # after days without a word
        _told(START + 20 * DAY, 5, "a", "b"),
    ]
    changes = frame(spark, MEMBERSHIP_CHANGES, told)
    for unit, rebalances in ((Unit.DAY, [0, 0, 0, 3, 1, 0]), (Unit.HOUR, None)):
        found = memberships(changes, unit).collect()
        counts = [row["rebalances"] for row in sorted(found, key=lambda row: row[unit.column])]
        assert sum(counts) == 4
        assert rebalances in (None, counts)


MOST = 2**63 - 1
HOSTILE = [(START + number * MINUTE, 0 if number % 2 else MOST) for number in range(12)]


def test_sums_that_nobody_can_hold_are_unknown(spark: SparkSession) -> None:
    """Of a group that commits 0 and the greatest offset by turns."""
    unit = Unit.HOUR
    rows = [
        _of("minute", moment, consumed=moved, produced=moved, rewound=moved, lag=MOST)
        for moment, moved in HOSTILE
    ]
    minutes = frame(spark, GROUP_MINUTES, rows)
    (row,) = rates(minutes, unit).collect()
    assert (row["minutes"], row["consumed"], row["pace_behind"]) == (len(rows), None, None)
    opened = _of("opened_at", START + 5 * MINUTE, incident_id="i", peak_lag=MOST)
    found = frame(spark, INCIDENTS, [opened | {"deliveries": 0}])
    (row,) = incidents(found, minutes, unit).collect()
    assert row["peak_lag"] == MOST
    late = {"late_ms": MOST, "late_max_ms": MOST, "lost_records": MOST, "produce_rate": 1e308}
    rows = [
        _of("minute", moment, topic=topic, time_to_loss_ms=moved, **late)
        for moment, moved in HOSTILE
        for topic in ("orders", "bills")
    ]
    (row,) = lateness(frame(spark, LATENESS_MINUTES, rows), unit).collect()
    assert (row["late_p99_ms"], row["lost_records"]) == (MOST, None)


def test_a_group_of_which_nothing_grows_has_no_day_on_which_it_will_be_too_much(
    spark: SparkSession,
) -> None:
    """Nor is a slope of nothing divided by."""
    rates_ = [
        _of("day", START + number * DAY, busiest_hour_rate=0.0, pace_behind=1.0)
        for number in range(4)
    ]
    hours = [
        _of("hour", START + number * HOUR, time_to_loss_end_ms=left)
        for number, left in enumerate([5, 5, 5, MOST, 0, MOST, 5])
    ]
    made = capacity(
        frame(spark, catalogue.RATE[Unit.DAY], rates_),
        frame(spark, catalogue.LATENESS[Unit.HOUR], hours),
    )
    row = max(made.collect(), key=lambda row: row["day"])
    assert (row["slope"], row["crosses_in_days"], row["days_until_loss"]) == (0.0, None, None)


def test_figures_that_are_defined_otherwise_are_made_anew(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of days that nothing has changed since."""
    step = next(each for each in gold_module.STEPS if each.table is catalogue.RATE[Unit.HOUR])
    monkeypatch.setattr(gold_module, "STEPS", (step,))
    lake = Lake.at(str(tmp_path))
    ensure_tables(spark, lake, [GROUP_MINUTES], [step.table])
    minutes = [_of("minute", START, produced=60, consumed=60)]
    append(spark, lake, GROUP_MINUTES, minutes)
    gold = Gold(spark, lake, Settings(), ManualClock(END))
    assert gold.catch_up() == {step.table.name: 1}
    path = lake.gold(step.table.name)
    spark.sql(f"UPDATE delta.`{path}` SET produced_minutes = 0, produce_rate = 9")
    assert gold.catch_up() == {step.table.name: 0}
    monkeypatch.setattr(gold_module, "DEFINITIONS", gold_module.DEFINITIONS + 1)
    assert gold.catch_up() == {step.table.name: 1}
    (row,) = spark.read.format("delta").load(path).collect()
    assert (row["produced_minutes"], row["produce_rate"]) == (1, 1.0)
    assert gold.catch_up() == {step.table.name: 0}


def test_an_incident_is_noise_by_what_ended_before_it_whenever_that_began(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of days before, a pass reads what ended so late, and makes anew what a change can reach."""
    own = (catalogue.INCIDENT[Unit.DAY], catalogue.ALERT[Unit.DAY])
    monkeypatch.setattr(
        gold_module, "STEPS", [step for step in gold_module.STEPS if step.table in own]
    )
    lake = Lake.at(str(tmp_path))
    ensure_tables(spark, lake, (INCIDENTS, NOTIFICATIONS, GROUP_MINUTES), own)
    gold = Gold(spark, lake, Settings(), ManualClock(END))
    later = START + 3 * DAY
    long, again = _incident("long", START), _incident("again", later + 5 * MINUTE)
    sent = {"outcome": "delivered", "route": "all", "channel": "mail", "attempt": 1}
    told = _of("at", later + 6 * MINUTE, incident_id="again", delivery_id="d", **sent)
    other = _incident("other", later) | {"group": "other"}
    append(spark, lake, INCIDENTS, [long, again, other])
    append(spark, lake, NOTIFICATIONS, [told])

    def flapped() -> list[int]:
        rows = [
            row
            for table in own
            for row in spark.read.format("delta").load(lake.gold(table.name)).collect()
            if row["date"] == at(later).date()
        ]
        return [row["flapped"] for row in rows if row.asDict().get("group") != "other"]

    gold.catch_up()
    assert flapped() == [0, 0]
    ends = f"closed_at = '{at(later)}', duration_ms = {later - START}"
    spark.sql(f"UPDATE delta.`{lake.silver(INCIDENTS.name)}` SET {ends} WHERE incident_id = 'long'")
    gold.catch_up()
    assert flapped() == [1, 1]
    append(spark, lake, INCIDENTS, [_incident("much later", later + 9 * HOUR)])
    gold.catch_up()
    assert flapped() == [1, 1]


def _incident(name: str, opened: int) -> dict[str, Any]:
    return _of("opened_at", opened, incident_id=name, worst="ERR", deliveries=0, peak_lag=1)
