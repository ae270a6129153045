"""The report's figures against a recount in plain Python, without Spark."""

import csv
import dataclasses
import io
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from rich.console import Console
from structlog.testing import capture_logs
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
    add_events,
    add_incidents,
    add_records,
    lag_records,
    moment,
    write_lake,
)
from support.report_recount import LagRecord, recount
from support.silver_events import delivery, folded, status_change
from warren.contracts.topics import INCIDENTS, LAG, NOTIFICATIONS
from warren.errors import SettingsError
from warren.history.lake_tables import LakeTables
from warren.settings import Settings
from warren_archiver.errors import NothingArchived
from warren_archiver.report import export, page
from warren_archiver.report.group_report import Report
from warren_archiver.report.make import SETTLE_MS, SILENT_MS, report
from warren_archiver.report.period import Period
from warren_cli.resources import group_report

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


def test_what_every_other_reader_refuses_is_not_reported_while_silver_is_behind(
    tmp_path: Path,
) -> None:
    at = START + 12 * HOUR
    good = lag_event("mail", at, "OK", 7).to_bytes()
    changes: list[dict[str, object]] = [
        {"group": "other"},
        {"cluster": 0},
        {"group": {}},
        {"status": "WELL"},
        *({"evaluated_at": 2**63 - 1}, {"evaluated_at": 1.5}, {"v": 2}),
        *({"total_lag": -5}, {"total_lag": "12"}, {"complete": 1.001}),
    ]
    wrong = [json.dumps(json.loads(good) | change).encode() for change in changes]
    keys = [b"prod|mail"] * 2 + [b"prod|mail"] * len(wrong) + [b"+1|prod|mail", b"none"]
    values = [good, b"{", *wrong, good, good]
    add_bronze(tmp_path, [LagRecord(k, v, at) for k, v in zip(keys, values, strict=True)])
    (group,) = _made(tmp_path, Period(at - HOUR, at + HOUR)).groups
    assert (group.cluster, group.group, group.evaluations) == ("prod", "mail", 1)


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


def test_an_incident_that_lasts_for_months_is_told(closed: Path) -> None:
    opened = START - 80 * DAY
    change = status_change("web", opened, "ERR", "OK", "old", opened_at=opened)
    add_incidents(closed, ([change], opened))
    (found,) = [each for each in _made(closed, SECOND_DAY).incidents if each.group == "web"]
    assert (found.worst, found.reason, found.closed_ms) == ("ERR", "no_commit", None)
    assert found.opened_ms == opened
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
    billing = [
        status_change("billing", noon + 5_000, "ERR", "OK", "a", opened_at=noon),
        status_change("billing", noon + HOUR, "OK", "ERR", "a", opened_at=noon),
    ]
    mail = [
        status_change("mail", noon, "WARN", "OK", "b", opened_at=noon),
        status_change("mail", noon + MINUTE, "OK", "WARN", "b", opened_at=noon),
    ]
    again = status_change("mail", noon + 9 * MINUTE, "ERR", "OK", "c", opened_at=noon + 9 * MINUTE)
    incidents = [*folded(billing), *folded(mail), *folded([again])]
    late = noon + 2 * HOUR
    add_events(
        tmp_path,
        (NOTIFICATIONS, delivery("billing", noon + 9_000, "ERR", 1, "a"), late),
        *((INCIDENTS, each, late) for each in (*incidents, incidents[0])),
        (LAG, lag_event("billing", late, "OK", 1), late),
    )
    add_records(tmp_path, ("warren.notifications", b"prod|billing", b"no event", late))
    add_incidents(tmp_path, (mail[:1], noon + 1_000))
    made = _made(tmp_path, Period(noon, noon + 3 * HOUR)).incidents
    assert [
        (each.incident_id, each.closed_ms, each.notified_ms, each.flapped) for each in made
    ] == [
        ("a", noon + HOUR, noon + 9_000, False),
        ("b", noon + MINUTE, noon + 1_000, False),
        ("c", None, None, True),
    ]
    assert (made[0].worst, made[0].reason, made[0].peak_lag) == ("ERR", "no_commit", 3)
    (lasting,) = _made(tmp_path, Period(noon, noon + 3_000)).incidents
    assert (lasting.group, lasting.closed_ms) == ("mail", None)


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


HOURS = "gold/status_hours"
FIRST = f"{HOURS}/_delta_log/{0:020d}.json"


def _cut(path: Path, length: int) -> None:
    path.write_bytes(path.read_bytes()[:length])


def _spoilt(path: Path) -> None:
    """Its footer is whole, the pages that it leads to are not."""
    found = bytearray(path.read_bytes())
    found[4 : len(found) // 2] = b"\xff" * (len(found) // 2 - 4)
    path.write_bytes(found)


DAMAGES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "cut off": (f"{HOURS}/date=2026-11-22/*.parquet", lambda file: _cut(file, 20)),
    "spoilt": (f"{HOURS}/date=2026-11-22/*.parquet", _spoilt),
    "missing": (f"{HOURS}/date=2026-11-22/*.parquet", Path.unlink),
    "commit cut off": (FIRST, lambda file: _cut(file, 100)),
    "commit of zeros": (FIRST, lambda file: file.write_bytes(bytes(512))),
    "first commit empty": (FIRST, lambda file: _cut(file, 0)),
}


@pytest.mark.parametrize(("where", "damage"), DAMAGES.values(), ids=DAMAGES)
def test_what_cannot_be_read_is_named_and_the_rest_stands(
    closed: Path, where: str, damage: Callable[[Path], object]
) -> None:
    before = {each.group: each for each in _made(closed, SECOND_DAY).groups}
    file = max(closed.glob(where))
    damage(file)
    with capture_logs() as logs:
        made = _made(closed, SECOND_DAY)
    after = {each.group: each for each in made.groups}
    assert after.keys() == before.keys()
    for name, group in after.items():
        assert (group.late_max_ms, group.outlook) == (
            before[name].late_max_ms,
            before[name].outlook,
        )
        assert group.held_ms["OK"] < before[name].held_ms["OK"]
    (said,) = made.damages
    assert said.startswith(f"{HOURS}: {file.name} ")
    assert len(said.splitlines()) == 1
    assert said in BeautifulSoup(page.render(made), "html.parser").get_text()
    output = io.StringIO()
    Console(file=output, width=400, color_system=None).print(group_report.render(made))
    assert said in output.getvalue()
    assert file.name in logs[0]["damage"]


def test_a_report_stands_without_the_table_of_events(lake: Path, tmp_path: Path) -> None:
    """It is of what silver has: nothing newer is known."""
    broken = shutil.copytree(lake, tmp_path / "broken")
    *_, last = sorted((broken / "bronze/events/_delta_log").glob("*.json"))
    _cut(last, 100)
    made = _made(broken, HOUR)
    assert END - HOUR < made.archived_until_ms < END - 14 * MINUTE
    assert made.groups
    assert made.damages == [f"bronze/events: {last.name} cannot be read: the table is missing."]


def test_a_commit_that_is_empty_now_is_named(lake: Path, tmp_path: Path) -> None:
    """What Spark noted beside it says that it was written."""
    path = shutil.copytree(lake, tmp_path / "lake")
    log = path / "silver/evaluations/_delta_log"
    emptied = log / f"{len([*log.glob('*.json')]):020d}.json"
    emptied.touch()
    emptied.with_suffix(".crc").touch()
    said = f"silver/evaluations: {emptied.name} is empty: what it wrote is missing."
    assert _made(path, SECOND_DAY).damages == [said]


@pytest.mark.parametrize("number", [0, -1], ids=["in the middle", "newest"])
def test_a_commit_without_a_byte_hides_no_row(lake: Path, tmp_path: Path, number: int) -> None:
    """Somebody was killed at writing it."""
    path = shutil.copytree(lake, tmp_path / "lake")
    expected = _made(path, SECOND_DAY)
    for name in ("silver/evaluations", "bronze/events", "silver/incidents"):
        log = path / name / "_delta_log"
        commits = sorted(log.glob("*.json"))
        if number == 0:
            commits[-1].rename(log / f"{len(commits):020d}.json")
            commits[-1].touch()
        else:
            (log / f"{len(commits):020d}.json").touch()
    assert _made(path, SECOND_DAY) == expected
