"""The report's figures against a recount in plain Python, without Spark."""

import csv
import dataclasses
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.archive_events import lag_event
from support.lake_files import write_table
from support.manual_clock import ManualClock
from support.report_lake import (
    DAY,
    END,
    EVALUATIONS,
    HEARTBEAT,
    HOUR,
    MINUTE,
    START,
    add_bronze,
    lag_records,
    moment,
    write_lake,
)
from support.report_recount import LagRecord, recount
from support.silver_events import delivery, status_change
from warren.contracts.topics import LAG, LAG_STATUS, NOTIFICATIONS
from warren.errors import SettingsError
from warren.history.lake_tables import LakeTables, LakeUnreadable
from warren.settings import Settings
from warren_archiver.errors import NothingArchived
from warren_archiver.report import export, page
from warren_archiver.report.group_report import Report
from warren_archiver.report.make import SETTLE_MS, SILENT_MS, report
from warren_archiver.report.period import Period

MAX_GAP = 3 * HEARTBEAT * 1000
AFTERWARDS = ManualClock(END + 5 * MINUTE)
SECOND_DAY = Period(START + DAY, END)


@pytest.fixture(scope="module")
def records() -> list[LagRecord]:
    return lag_records()


@pytest.fixture(scope="module")
def lake(records: Sequence[LagRecord], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Silver is a quarter of an hour behind."""
    path = tmp_path_factory.mktemp("lake")
    write_lake(path, records, gold=True, silver_until=END - 15 * MINUTE)
    return path


@pytest.fixture(scope="module")
def of_days_that_are_over(
    records: Sequence[LagRecord], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    path = tmp_path_factory.mktemp("closed")
    write_lake(path, records, gold=True, silver_until=END + HOUR)
    add_bronze(path, [LagRecord(b"prod|web", None, END + at) for at in (HOUR, 9 * DAY)])
    return path


@pytest.fixture
def closed(of_days_that_are_over: Path, tmp_path: Path) -> Path:
    """Silver and gold have both days; bronze has a third as well, of which somebody was early."""
    return shutil.copytree(of_days_that_are_over, tmp_path / "closed")


def _made(path: Path, wanted: Period | int, **more: Any) -> Report:
    clock = more.pop("clock", AFTERWARDS)
    given = {"archiver": {"path": str(path)}, "collector": {"heartbeat": HEARTBEAT}}
    with LakeTables(str(path)) as tables:
        return report(tables, Settings.model_validate(given), wanted, clock=clock, **more)


def _counted(made: Report) -> dict[tuple[str, str], dict[str, Any]]:
    """What the recount tells, too."""
    rows = [dataclasses.asdict(group) for group in made.groups]
    return {
        (row["cluster"], row["group"]): {name: row[name] for name in _RECOUNTED} for row in rows
    }


_RECOUNTED = (
    "cluster",
    "group",
    "status",
    "held_ms",
    "unknown_ms",
    "evaluations",
    "lag_p50",
    "lag_p95",
    "lag_max",
)


@pytest.mark.parametrize(
    ("start", "end"),
    [(END - 10 * MINUTE, END - 7), (END - 3 * HOUR, END), (START + 9 * HOUR, START + 10 * HOUR)],
    ids=["bronze", "both", "silver"],
)
def test_a_short_period_is_a_recount(
    lake: Path, records: Sequence[LagRecord], start: int, end: int
) -> None:
    made = _made(lake, Period(start, end))
    assert _counted(made) == recount(records, start, end, MAX_GAP)
    assert made.error == 0
    troubles = [(-group.held_ms["ERR"], -group.held_ms["WARN"]) for group in made.groups]
    assert troubles == sorted(troubles)


def test_a_long_period_is_a_recount_but_for_what_gold_rounds(
    lake: Path, records: Sequence[LagRecord]
) -> None:
    """Whole hours are from gold, some minutes at both ends are not."""
    start, end = START + 20 * HOUR + 7 * MINUTE, END - 7 * MINUTE
    made = _made(lake, Period(start, end))
    expected = recount(records, start, end, MAX_GAP)
    found = _counted(made)
    assert found.keys() == expected.keys()
    for key, row in expected.items():
        for name, value in row.items():
            if name in ("lag_p50", "lag_p95"):
                assert found[key][name] == pytest.approx(value, rel=made.error, abs=1)
            else:
                assert found[key][name] == value, (key, name)


@pytest.mark.parametrize("now", [END + 5 * MINUTE, END - HOUR], ids=["afterwards", "before some"])
def test_the_default_period_ends_shortly_before_what_is_archived(
    lake: Path, records: Sequence[LagRecord], now: int
) -> None:
    """A record of the future does not move it."""
    newest = max(at for record in records if (at := record.timestamp_ms) <= now)
    made = _made(lake, MINUTE, clock=ManualClock(now))
    assert made.archived_until_ms == newest
    assert made.period == Period(newest - SETTLE_MS - MINUTE, newest - SETTLE_MS)


def test_a_period_that_silver_has_needs_no_event(closed: Path) -> None:
    made = _made(closed, SECOND_DAY)
    assert made.is_closed
    for day in ("2026-11-21", "2026-11-22"):
        _lose(closed / f"bronze/events/date={day}")
    clock = ManualClock(END + 3 * DAY)
    assert page.render(_made(closed, SECOND_DAY, clock=clock)) == page.render(made)


def _lose(folder: Path) -> None:
    for file in folder.glob("*.parquet"):
        file.unlink()


def test_the_end_of_a_group_ends_its_status(tmp_path: Path) -> None:
    records = [record for record in lag_records() if record.timestamp_ms > END - HOUR]
    value = (records[0].value or b"").replace(b'"billing"', b'"g"')
    records += [LagRecord(b"prod|g", value, END - 60_000), LagRecord(b"prod|g", None, END - 30_000)]
    add_bronze(tmp_path, records)
    found = _counted(_made(tmp_path, Period(END - HOUR, END)))
    assert found == recount(records, END - HOUR, END, MAX_GAP)


def test_a_closed_day_has_the_same_bytes_whenever_it_is_reported(
    closed: Path, tmp_path: Path
) -> None:
    before = _made(closed, SECOND_DAY, clock=ManualClock(END + MINUTE))
    first = page.render(before)
    late = {"cluster": "prod", "group": "web", "at": moment(END + HOUR), "position": 1}
    late |= {"status": "ERR", "total_lag": 5, "kafka_timestamp": moment(END + HOUR)}
    write_table(closed, "silver/evaluations", EVALUATIONS, [late])
    again = _made(closed, SECOND_DAY, clock=ManualClock(END + 3 * DAY))
    assert again.is_closed
    assert again == before
    assert page.render(again) == first
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        export.write_csv(again, tmp_path / folder)
    names = sorted(file.name for file in (tmp_path / "a").iterdir())
    assert names == ["budgets.csv", "groups.csv", "incidents.csv"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_only_groups_that_are_asked_for_are_in_it(lake: Path) -> None:
    made = _made(lake, SECOND_DAY, groups="^(b|ship)")
    assert {group.group for group in made.groups} == {"billing", "shipping"}
    assert {each.group for each in made.incidents} == {"billing", "shipping"}


def test_an_expression_that_matches_no_group_or_is_none_is_told(
    lake: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(
        NothingArchived, match=r"no group of that time matches 'nosuch' \(--group\)"
    ):
        _made(lake, SECOND_DAY, groups="nosuch")
    with pytest.raises(SettingsError, match="regular expression: missing") as refused:
        _made(lake, SECOND_DAY, groups="([")
    assert "b'" not in str(refused.value)
    assert capfd.readouterr().err == ""


def test_incidents_are_told_as_they_were_at_the_periods_end(lake: Path) -> None:
    until = START + 34 * HOUR
    made = _made(lake, Period(START + DAY, until))
    found = {(each.group, each.closed_ms): each for each in made.incidents}
    lasting = found["billing", None]
    assert (lasting.worst, lasting.cause) == ("ERR", "no_members")
    assert found["<b>fraud&co", START + 31 * HOUR].length_ms == HOUR
    whole = _made(lake, SECOND_DAY)
    assert sum(each.flapped for each in whole.incidents) == 2


def test_an_incident_that_lasts_for_months_is_told(closed: Path) -> None:
    """Of its changes nothing is read any more: what the incident's row says is enough."""
    opened = moment(START - 80 * DAY)
    old = {"cluster": "prod", "group": "web", "incident_id": "old", "opened_at": opened}
    old |= {"closed_at": None, "told_at": opened, "worst": "ERR", "reason": "no_commit"}
    times = dict.fromkeys(("opened_at", "closed_at", "told_at"), "TIMESTAMPTZ")
    text = dict.fromkeys(("cluster", "group", "incident_id", "worst", "reason"), "VARCHAR")
    write_table(closed, "silver/incidents", times | text, [old])
    (found,) = [each for each in _made(closed, SECOND_DAY).incidents if each.group == "web"]
    assert (found.worst, found.reason, found.closed_ms) == ("ERR", "no_commit", None)
    assert found.opened_ms == START - 80 * DAY
    before = _made(closed, Period(START - 90 * DAY, START - 81 * DAY))
    assert before.incidents == []


def test_a_service_that_is_down_holds_no_figure_back(closed: Path) -> None:
    """Gold goes on without it, and so do reports once all others have gone on for long enough."""
    progress = {"source": "VARCHAR", "until": "TIMESTAMPTZ"}
    for ago, is_closed in ((SILENT_MS - HOUR, False), (SILENT_MS + DAY, True)):
        silent = {"source": f"lateness_minutes {ago}", "until": moment(END + HOUR - ago)}
        write_table(closed, "gold/gold_progress", progress, [silent])
        assert _made(closed, SECOND_DAY).is_closed is is_closed
        shutil.rmtree(closed / "gold" / "gold_progress")
        whole = {"source": "evaluations", "until": moment(END + HOUR)}
        write_table(closed, "gold/gold_progress", progress, [whole])


def test_rebalances_are_generations_that_were_new(closed: Path) -> None:
    columns = {"cluster": "VARCHAR", "group": "VARCHAR", "at": "TIMESTAMPTZ", "deleted": "BOOLEAN"}
    columns |= {"generation": "BIGINT", "idle_members": "BIGINT", "position": "BIGINT"}
    columns |= {"previous_state": "VARCHAR", "joined": "VARCHAR[]", "left": "VARCHAR[]"}
    steady = {"cluster": "prod", "group": "web", "deleted": False, "position": 1}
    steady |= {"idle_members": 0, "previous_state": "Stable", "joined": [], "left": []}
    generations = {0: 7, DAY // 2: 7, DAY: 7, DAY + HOUR: 8, DAY + 2 * HOUR: 8, DAY + 3 * HOUR: 9}
    rows = [steady | {"at": moment(START + a), "generation": g} for a, g in generations.items()]
    write_table(closed, "silver/membership_changes", columns, rows)
    for period, rebalances in ((SECOND_DAY, 2), (Period(START, START + DAY), 0)):
        (web,) = [each for each in _made(closed, period).groups if each.group == "web"]
        assert web.rebalances == rebalances


def test_incidents_that_silver_does_not_have_yet_are_told(tmp_path: Path) -> None:
    """One is in bronze alone, of another silver knows the beginning only."""
    noon = START + 12 * HOUR
    fresh = [
        (NOTIFICATIONS, delivery("billing", noon + 9_000, "ERR", 1, "a")),
        (LAG_STATUS, status_change("billing", noon + 5_000, "ERR", "OK", "a", opened_at=noon)),
        (LAG_STATUS, status_change("billing", noon + HOUR, "OK", "ERR", "a", opened_at=noon)),
        (LAG_STATUS, status_change("mail", noon + MINUTE, "OK", "WARN", "b", opened_at=noon)),
    ]
    columns = {"topic": "VARCHAR", "key": "BLOB", "value": "BLOB", "timestamp": "TIMESTAMPTZ"}
    rows: list[dict[str, Any]] = [
        {
            "topic": topic.full_name("warren."),
            "value": event.to_bytes(),
            "timestamp": moment(noon + HOUR),
        }
        for topic, event in (*fresh, *fresh[1:2])
    ]
    rows.append(rows[0] | {"value": b"no event"})
    evaluation = lag_event("billing", noon + 2 * HOUR, "OK", 1)
    rows.append(
        {
            "topic": "warren.lag",
            "key": b"prod|billing",
            "value": evaluation.to_bytes(),
            "timestamp": moment(noon + 2 * HOUR),
        }
    )
    write_table(tmp_path, "bronze/events", columns, rows)
    of_b = {"cluster": "prod", "group": "mail", "incident_id": "b", "opened_at": moment(noon)}
    of_b |= {"closed_at": None, "told_at": moment(noon + 1_000)}
    times = {"opened_at": "TIMESTAMPTZ", "closed_at": "TIMESTAMPTZ", "told_at": "TIMESTAMPTZ"}
    ids = {"cluster": "VARCHAR", "group": "VARCHAR", "incident_id": "VARCHAR"}
    write_table(tmp_path, "silver/incidents", times | ids, [of_b])
    made = _made(tmp_path, Period(noon, noon + 3 * HOUR)).incidents
    assert [(each.group, each.opened_ms, each.closed_ms, each.told_ms) for each in made] == [
        ("billing", noon, noon + HOUR, noon + 9_000),
        ("mail", noon, noon + MINUTE, noon + 1_000),
    ]
    assert (made[0].worst, made[0].reason, made[0].flapped) == ("ERR", "no_commit", False)
    (lasting, _) = _made(tmp_path, Period(noon, noon + 30_000)).incidents
    assert (lasting.group, lasting.closed_ms) == ("billing", None)


@pytest.mark.parametrize("is_in_silver", [False, True])
def test_a_condition_is_told_with_its_groups_incident(tmp_path: Path, is_in_silver: bool) -> None:
    """The delivery has the id of the group's incident, and names the conditions it told of."""
    noon = START + 12 * HOUR
    told = delivery("billing", noon + 9_000, "ERR", 1, "first")
    told = told.model_copy(update={"conditions": ["first", "second"]})
    events = [
        (LAG_STATUS, status_change("billing", noon, "WARN", "OK", "first", opened_at=noon)),
        (LAG_STATUS, status_change("billing", noon + 1, "ERR", "OK", "second", opened_at=noon + 1)),
        (LAG_STATUS, status_change("mail", noon + 2, "ERR", "OK", "untold", opened_at=noon + 2)),
        (LAG, lag_event("billing", noon + HOUR, "ERR", 1)),
    ]
    if is_in_silver:
        kinds = {"outcome": "VARCHAR", "at": "TIMESTAMPTZ", "conditions": "VARCHAR[]"}
        row = {"outcome": "delivered", "at": moment(told.at), "conditions": told.conditions}
        old = {"outcome": "delivered", "at": moment(noon), "conditions": None}
        write_table(tmp_path, "silver/notifications", kinds, [row, old])
    else:
        events.append((NOTIFICATIONS, told))
    columns = {"topic": "VARCHAR", "key": "BLOB", "value": "BLOB", "timestamp": "TIMESTAMPTZ"}
    rows = [
        {
            "topic": topic.full_name("warren."),
            "key": b"prod|billing",
            "value": event.to_bytes(),
            "timestamp": moment(noon + HOUR),
        }
        for topic, event in events
    ]
    write_table(tmp_path, "bronze/events", columns, rows)
    made = _made(tmp_path, Period(noon, noon + HOUR)).incidents
    assert {each.incident_id: each.told_ms for each in made} == {
        "first": noon + 9_000,
        "second": noon + 9_000,
        "untold": None,
    }


def test_other_figures_are_of_gold_and_of_minutes(lake: Path) -> None:
    for period in (SECOND_DAY, Period(END - HOUR, END)):
        groups = {group.group: group for group in _made(lake, period).groups}
        assert groups["shipping"].late_max_ms == 1_500
        assert groups["shipping"].consume_rate == pytest.approx(10)
        assert groups["shipping"].late_p95_ms == pytest.approx(1_500, rel=0.01)
        outlook = groups["search-index"].outlook
        assert outlook is not None
        assert str(outlook.crosses_on) == "2026-12-21"


def test_the_minute_that_silver_is_in_counts_for_no_rate(lake: Path, tmp_path: Path) -> None:
    """It is not known for how much of it there are records."""
    lake = shutil.copytree(lake, tmp_path / "lake")
    columns = {"cluster": "VARCHAR", "group": "VARCHAR", "minute": "TIMESTAMPTZ"}
    columns |= dict.fromkeys(("produced", "consumed", "lag"), "BIGINT")
    last = END - 10 * MINUTE
    own = {"cluster": "prod", "group": "shipping"}
    begun = own | {"minute": moment(last + MINUTE), "produced": 10, "consumed": 10}
    write_table(lake, "silver/group_minutes", columns, [begun])

    def rate(start: int) -> float | None:
        (group,) = _made(lake, Period(start, END), groups="^shipping$").groups
        return group.consume_rate

    assert rate(END - HOUR) == pytest.approx(10)
    assert rate(last) == pytest.approx(10)
    assert rate(last + MINUTE) is None


def test_a_lag_beyond_all_numbers_is_unknown_and_spoils_no_other(tmp_path: Path) -> None:
    noon = START + 12 * HOUR
    huge = 2**63 - 10
    records = [
        LagRecord(
            f"prod|{group}".encode(), lag_event(group, at, "OK", lag, position=at).to_bytes(), at
        )
        for group, lag in (("huge", huge), ("mail", 7))
        for at in range(noon, noon + HOUR, MINUTE)
    ]
    add_bronze(tmp_path, records)
    found = {each.group: each for each in _made(tmp_path, Period(noon, noon + HOUR)).groups}
    assert (found["mail"].lag_p50, found["mail"].lag_p95) == (7, 7)
    assert (found["huge"].lag_p50, found["huge"].lag_max) == (None, huge)


def test_nothing_archived_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NothingArchived, match="warren archive run"):
        _made(tmp_path / "no lake", MINUTE)


def test_a_name_is_no_formula_of_a_spreadsheet(lake: Path, tmp_path: Path) -> None:
    made = _made(lake, SECOND_DAY)
    hostile = dataclasses.replace(made.groups[0], group="=HYPERLINK(0)", produce_rate=-1.5)
    export.write_csv(dataclasses.replace(made, groups=[hostile]), tmp_path)
    with (tmp_path / "groups.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["group"], row["produce_rate"]) == ("'=HYPERLINK(0)", "-1.5")


def test_files_without_rows_have_the_columns_of_those_that_have_some(
    lake: Path, tmp_path: Path
) -> None:
    """Who reads them needs no case of their own."""
    some = _made(lake, SECOND_DAY)
    none = dataclasses.replace(some, groups=[], incidents=[], budgets=[])
    for made, folder in ((some, tmp_path / "some"), (none, tmp_path / "none")):
        folder.mkdir()
        export.write_csv(made, folder)
    for file in (tmp_path / "some").glob("*.csv"):
        header, *_ = file.read_text().splitlines()
        assert (tmp_path / "none" / file.name).read_text().splitlines() == [header]
        if file.name == "groups.csv":
            assert {"cluster", "held_ms_err", "outlook_capacity"} <= set(header.split(","))


def test_a_log_that_was_cut_off_is_told_in_one_line(lake: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(lake, broken)
    *_, last = sorted((broken / "silver/evaluations/_delta_log").glob("*.json"))
    last.write_text(last.read_text()[:100])
    with pytest.raises(LakeUnreadable, match="silver/evaluations") as refused:
        _made(broken, MINUTE)
    assert len(str(refused.value).splitlines()) == 1
