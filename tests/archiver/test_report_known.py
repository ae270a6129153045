"""What a report knows, and up to when: a figure beyond that is unknown; advice is the pages'."""

import csv
import dataclasses
import io
import json
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from rich.console import Console
from support.archive_events import lag_event
from support.lake_files import write_table
from support.manual_clock import ManualClock
from support.report_lake import (
    DAY,
    HEARTBEAT,
    HOUR,
    MINUTE,
    START,
    add_events,
    add_incidents,
    add_records,
    moment,
)
from support.silver_events import delivery, folded, status_change
from warren.contracts import RETENTION_CHANGED
from warren.contracts.event import Event
from warren.contracts.topics import INCIDENTS, LAG, NOTIFICATIONS, Topic
from warren.history.lake_tables import LakeTables
from warren.settings import Settings
from warren_archiver.report import export, page
from warren_archiver.report.advice import advice
from warren_archiver.report.group_report import GroupReport, Report
from warren_archiver.report.make import SETTLE_MS, report
from warren_archiver.report.period import Period
from warren_archiver.report.summary import summary
from warren_cli.resources import group_report

ENDS = START + 6 * HOUR + 45 * MINUTE
"""Of the newest evaluation that is archived."""
MEASURED = ENDS - 10 * MINUTE
"""Nothing is known of lateness and losses after that."""
STUCK = {
    "name": "stuck_record",
    "sentence": "demo.sensors/0 has stood at offset 0 for 9m",
    "action": "restart the consumer",
    "also": [
        {"name": "records_lost", "sentence": "64 records are gone", "action": "raise retention.ms"}
    ],
}
SLOW = {
    "name": "too_slow",
    "sentence": "consumes 2/s of 11/s produced",
    "action": "there are as many members as partitions (1): let each record take less time",
}


def _judged(group: str, cause: dict[str, Any], incident: str) -> list[tuple[Topic, Event, int]]:
    """Each ten seconds, not OK for all the time; the cause is known since the last minute."""
    found = []
    for at in range(ENDS - 20 * MINUTE, ENDS + 1, 10_000):
        known = {"cause": cause} if at > ENDS - MINUTE else {}
        opened = {"id": incident, "opened_at": ENDS - 20 * MINUTE}
        event = lag_event(group, at, "ERR", 210, position=at, incident=opened, **known)
        found.append((LAG, event, at))
    return found


def _measured(path: Path, until: int, lost: int = 0) -> None:
    """Lateness and losses of `losing`, each ten seconds; of `slow` nothing. The losses are of the
    last two minutes."""
    columns = {"cluster": "VARCHAR", "group": "VARCHAR", "minute": "TIMESTAMPTZ"}
    columns |= {"at": "TIMESTAMPTZ", "topic": "VARCHAR"}
    columns |= dict.fromkeys(
        ("late_ms", "late_max_ms", "time_to_loss_ms", "lost_records"), "BIGINT"
    )
    rows = []
    for minute in range(until - until % MINUTE - 30 * MINUTE, until, MINUTE):
        at = min(minute + 50_000, until)
        own = {"minute": moment(minute), "at": moment(at)}
        own["lost_records"] = lost if minute >= until - 2 * MINUTE else 0
        rows.append({"cluster": "prod", "group": "losing", "topic": "t", "late_max_ms": 9} | own)
    write_table(path, "silver/lateness_minutes", columns, rows)


def _observed(path: Path, until: int) -> None:
    columns = {"cluster": "VARCHAR", "group": "VARCHAR", "minute": "TIMESTAMPTZ"}
    columns |= dict.fromkeys(("produced", "consumed"), "BIGINT")
    rows = [
        {"cluster": "prod", "group": "losing", "minute": moment(at), "produced": 600, "consumed": 0}
        for at in range(until - 30 * MINUTE, until + 1, MINUTE)
    ]
    write_table(path, "silver/group_minutes", columns, rows)


def _lake(path: Path) -> Path:
    """Two groups in trouble. The evaluator did not know the causes yet when their statuses
    changed; then an objective of `losing` was broken, too."""
    began = ENDS - 20 * MINUTE
    changes = [
        status_change(group, began, "ERR", "OK", f"i-{group}", opened_at=began)
        for group in ("losing", "slow")
    ]
    broken = status_change(
        "losing", began + MINUTE, "ERR", "OK", "i-loss", opened_at=began + MINUTE,
        reason="max_lag", explanation="demo.sensors/0 lost 3 records",
    ).model_copy(update={"type": RETENTION_CHANGED})  # fmt: skip
    add_events(
        path,
        *_judged("losing", STUCK, "i-losing"),
        *_judged("slow", SLOW, "i-slow"),
        *((INCIDENTS, each, began) for each in folded([changes[0], broken])),
        *((INCIDENTS, each, began) for each in folded(changes[1:])),
        (NOTIFICATIONS, delivery("slow", began + 5_000, "ERR", 1, "i-slow"), began + 5_000),
    )
    _observed(path, ENDS - 2 * MINUTE)
    return path


def _made(path: Path, wanted: Period | int = 10 * MINUTE) -> Report:
    settings = Settings.model_validate(
        {"archiver": {"path": str(path)}, "collector": {"heartbeat": HEARTBEAT}}
    )
    with LakeTables(str(path)) as tables:
        return report(tables, settings, wanted, clock=ManualClock(ENDS + MINUTE))


def _group(made: Report, name: str = "losing") -> GroupReport:
    (found,) = [each for each in made.groups if each.group == name]
    return found


def _text(made: Report) -> str:
    output = io.StringIO()
    Console(file=output, width=400, color_system=None).print(group_report.render(made))
    return output.getvalue()


def test_each_kind_of_data_has_a_stamp(tmp_path: Path) -> None:
    lake = _lake(tmp_path)
    _measured(lake, MEASURED)
    made = _made(lake)
    assert {each.kind: each.until_ms for each in made.known} == {
        "evaluations": ENDS,
        "incidents": ENDS,
        "notifications": ENDS,
        "rates": ENDS - 2 * MINUTE,
        "lateness": MEASURED - 10_000,
        "losses": MEASURED - 10_000,
        "members": None,
        "capacity": None,
        "error_budgets": None,
    }
    assert not any(each.why for each in made.known[:3])
    assert all(each.why for each in made.known[3:])
    said = (
        "Known: evaluations, incidents and notifications up to 2026-11-21 06:45:00 UTC; "
        "rates up to 2026-11-21 06:43:00 UTC; lateness and losses up to 2026-11-21 06:34:50 UTC; "
        "members, capacity and error budgets not at all."
    )
    assert said in _text(made)
    assert said in BeautifulSoup(page.render(made), "html.parser").get_text()
    stamps = json.loads(json.dumps(dataclasses.asdict(made), default=str))["known"]
    assert stamps[5] == {
        "kind": "losses",
        "until_ms": MEASURED - 10_000,
        "why": "freshness measured nothing later, or it is not in silver yet",
        "since_ms": None,
    }


def test_a_figure_beyond_what_is_known_is_unknown(tmp_path: Path) -> None:
    """Freshness measured until the period began, and lost no record by then."""
    lake = _lake(tmp_path)
    _measured(lake, MEASURED)
    made = _made(lake, Period(MEASURED, ENDS - SETTLE_MS))
    losing = _group(made)
    assert (losing.lost_records, losing.late_max_ms, losing.late_p95_ms) == (None, None, None)
    assert (losing.rebalances, losing.idle_members) == (None, None)
    assert summary(made)[0].sentences == [
        "An incident of losing says: 64 records are gone.",
        "It is not known whether records were lost.",
    ]
    (row,) = [line for line in _text(made).splitlines() if " losing " in line and "210" in line]
    assert row.split().count(group_report.UNKNOWN) == 2, "late and lost"
    shown = BeautifulSoup(page.render(made), "html.parser")
    why = "known up to 2026-11-21 06:34:50 UTC: freshness measured nothing later"
    titles = [str(cell.get("title")) for cell in shown.select("span.soft")]
    assert sum(title.startswith(why) for title in titles) == 4
    export.write_csv(made, tmp_path)
    with (tmp_path / "groups.csv").open(newline="") as file:
        assert {each["lost_records"] for each in csv.DictReader(file)} == {""}


def test_none_is_said_of_a_period_that_is_known_to_its_end(tmp_path: Path) -> None:
    lost: list[int | None] = []
    for number, (until, count) in enumerate(
        ((ENDS - 3 * MINUTE, 0), (ENDS - 3 * MINUTE, 7), (ENDS, 0), (ENDS, 7))
    ):
        lake = _lake(tmp_path / str(number))
        _measured(lake, until, count)
        made = _made(lake)
        lost.append(_group(made).lost_records)
        assert _group(made, "slow").lost_records is None, "nobody measured it"
    assert lost == [None, 7, 0, 7]


def test_advice_is_that_of_the_pages(tmp_path: Path) -> None:
    """Of each group's incident that is open, whatever is not known beside it."""
    made = _made(_lake(tmp_path))
    told = {(each.level, each.group, each.sentence) for each in advice(made)}
    at = "At 2026-11-21 06:44:50 UTC:"
    assert told == {
        (
            "ERR",
            "losing",
            f"Still open. {at} demo.sensors/0 has stood at offset 0 for 9m. What to do: restart "
            "the consumer. Also: 64 records are gone. Then: raise retention.ms. "
            "Also: at 06:26 UTC: demo.sensors/0 lost 3 records.",
        ),
        (
            "ERR",
            "slow",
            f"Still open. {at} consumes 2/s of 11/s produced. What to do: there are as many "
            "members as partitions (1): let each record take less time.",
        ),
    }
    for sentence in (each.sentence for each in advice(made)):
        assert sentence in _text(made)
        assert sentence in BeautifulSoup(page.render(made), "html.parser").get_text()
    (slow,) = [each for each in made.incidents if each.group == "slow"]
    assert slow.notified_ms == ENDS - 20 * MINUTE + 5_000
    export.write_csv(made, tmp_path)
    with (tmp_path / "incidents.csv").open(newline="") as file:
        found = {each["incident_id"]: each["also"] for each in csv.DictReader(file)}
    also = "64 records are gone; at 06:26 UTC: demo.sensors/0 lost 3 records"
    assert found == {"i-losing": also, "i-slow": ""}


def test_strange_causes_of_others_spoil_nobody_elses(tmp_path: Path) -> None:
    """Anybody may publish to these topics."""
    lake, before = _lake(tmp_path), advice(_made(tmp_path))
    also = ['"x"', "7", '[1, "x", null]', '[{"name": 5, "sentence": null}]', '{"name": [1]}']
    told: list[tuple[str, bytes | None]] = [
        (
            topic,
            f'{{{fields}"cause": {{"name": "odd", "sentence": "odd", "also": {each}}}}}'.encode(),
        )
        for each in also
        for topic, fields in (
            ("warren.lag", f'"incident": {{"id": "i-slow"}}, "evaluated_at": {-(2**63)}, '),
            ("warren.lag", '"incident": 7, "evaluated_at": "never", '),
            ("warren.lag", f'"incident": {{"id": "i"}}, "evaluated_at": {ENDS - 10_000}, '),
        )
    ]
    told.append(("warren.lag", b'{"cause": "none"}'))
    change = status_change("odd", ENDS - 20_000, "ERR", "OK", "i-odd", opened_at=ENDS - 20_000)
    (event,) = folded([change])
    bad = json.loads(event.to_bytes())
    bad["data"] |= {"revision": 9, "conditions": [1, None, {"name": 1}]}
    values = (event.to_bytes(), json.dumps(bad).encode(), b"[]", None)
    told += [("warren.incidents", value) for value in values]
    add_records(lake, *((topic, event.key, value, ENDS) for topic, value in told))
    after = advice(_made(lake))
    assert [each for each in after if each.group in ("losing", "slow")] == before
    assert [each.sentence for each in after if each.group == "odd"] == [
        "Still open, and not judged any more. Seen at 2026-11-21 06:44:40 UTC: Stopped."
    ]


def test_a_day_that_is_over_has_the_incidents_of_its_end(tmp_path: Path) -> None:
    """Bronze may be gone by then, and the incident may have changed."""
    progress = {"source": "VARCHAR", "until": "TIMESTAMPTZ"}
    whole = {"source": "evaluations", "until": moment(START + 3 * DAY)}
    write_table(tmp_path, "gold/gold_progress", progress, [whole])
    began = START + 10 * HOUR
    changes = [
        status_change("losing", began + after, status, "OK", "i", opened_at=began, cause=cause)
        for after, status, cause in (
            (0, "WARN", None),
            (MINUTE, "WARN", STUCK),
            (DAY, "ERR", SLOW),
            (2 * DAY, "OK", None),
        )
    ]
    add_incidents(tmp_path, (changes, began + DAY))
    # The newest evaluation of the archive.
    add_events(tmp_path, (LAG, lag_event("web", ENDS, "OK", 1), ENDS))
    made = _made(tmp_path, Period(START, START + DAY))
    assert made.is_closed
    (found,) = made.incidents
    assert (found.cause, found.said_ms) == ("stuck_record", began + MINUTE)
    assert (found.worst, found.closed_ms, found.notified_ms) == ("WARN", None, None)
    (said,) = [each.sentence for each in advice(made) if each.group == "losing"]
    assert "restart the consumer. Also: 64 records are gone. Then: raise retention.ms." in said
    (after,) = _made(tmp_path, Period(START + 2 * DAY, START + 3 * DAY)).incidents
    assert (after.cause, after.worst, after.length_ms) == ("too_slow", "ERR", 2 * DAY)
