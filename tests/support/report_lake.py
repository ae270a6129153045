"""A lake with two days of some groups, written without Spark: bronze, silver and gold as the report
reads them.
"""

import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from support.archive_events import lag_event
from support.lake_files import write_table
from support.report_recount import LagRecord
from support.silver_events import folded, status_change
from warren.contracts import StatusChangeEvent
from warren.contracts.event import KeyedEvent
from warren.contracts.topics import Topic
from warren_archiver.gold.conventions import GROWTH

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
START = 1_795_219_200_000
"""2026-11-21, midnight."""
END = START + 2 * DAY
STEP_MS = 2 * MINUTE
HEARTBEAT = 60
NAMES = ("billing", "shipping", "search-index", "<b>fraud&co", "mail", "metrics", "audit", "web")
Row = dict[str, Any]


def lag_records(seed: int = 5) -> list[LagRecord]:
    """What was published: some groups are in trouble now and then."""
    chance = random.Random(seed)
    found = []
    for number, name in enumerate(NAMES):
        at = START + number * 1_000
        while at < END:
            status, lag = _state(number, at, chance)
            event = lag_event(name, at, status, lag, position=at)
            found.append(LagRecord(f"prod|{name}".encode(), event.to_bytes(), at + 40))
            at += STEP_MS + chance.randrange(500)
    return found


def _state(number: int, at: int, chance: random.Random) -> tuple[str, int]:
    hour = (at - START) // HOUR
    noise = chance.randrange(40 * (number + 1))
    if number == 0 and 9 <= hour % 24 < 12:
        return "ERR", round(400_000 * math.sin((at - START) % DAY / HOUR - 9) ** 2) + noise
    if number == 1 and hour % 24 == 15 and (at // (10 * MINUTE)) % 2:
        return "WARN", 9_000 + noise
    if number == 2 and hour >= 40:
        return ("WARN" if hour < 44 else "ERR"), round((at - START - 40 * HOUR) / 300) + noise
    if number == 3 and hour == 30:
        return "ERR", 1_200 + noise
    return "OK", noise


def write_lake(path: Path, records: Sequence[LagRecord], *, gold: bool, silver_until: int) -> None:
    """Silver has evaluations up to then; bronze has all records."""
    junk = (b"\xff", b"not an event", b"[1]")
    add_bronze(path, [*records, *(LagRecord(b"prod|x", value, START) for value in junk)])
    rows = [_evaluation(record) for record in records if record.timestamp_ms < silver_until]
    write_table(path, "silver/evaluations", EVALUATIONS, rows)
    _incidents(path)
    _minutes(path)
    if gold:
        _hours(path, rows, min(silver_until, END))


EVALUATIONS = {
    "cluster": "VARCHAR",
    "group": "VARCHAR",
    "at": "TIMESTAMPTZ",
    "position": "BIGINT",
    "status": "VARCHAR",
    "total_lag": "BIGINT",
    "kafka_timestamp": "TIMESTAMPTZ",
}


def moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def add_bronze(path: Path, records: Sequence[LagRecord]) -> None:
    add_records(path, *(("warren.lag", *each) for each in records))


def add_events(path: Path, *events: tuple[Topic, KeyedEvent, int]) -> None:
    """With when they were appended."""
    add_records(
        path,
        *(
            (topic.full_name("warren."), event.key, event.to_bytes(), at)
            for topic, event, at in events
        ),
    )


def add_records(path: Path, *records: tuple[str, bytes | None, bytes | None, int]) -> None:
    """Of the table of events: topic, key, value and when it was appended."""
    columns = {"topic": "VARCHAR", "key": "BLOB", "value": "BLOB", "timestamp": "TIMESTAMPTZ"}
    rows = [dict(zip(columns, (*record, moment(at)), strict=True)) for *record, at in records]
    write_table(path, "bronze/events", columns, rows)


def _evaluation(record: LagRecord) -> Row:
    assert record.value is not None
    event = json.loads(record.value)
    return {
        "cluster": event["cluster"],
        "group": event["group"],
        "at": moment(event["evaluated_at"]),
        "position": event["position"],
        "status": event["status"],
        "total_lag": event["total_lag"],
        "kafka_timestamp": moment(record.timestamp_ms),
    }


def _incidents(path: Path) -> None:
    said = [
        (0, 9, 12, "ERR", "no_commit", "no_members", "orders/3 has had no commit for 4m 12s"),
        (0, 33, 36, "ERR", "no_commit", "no_members", "orders/1 has had no commit for 2m 40s"),
        (2, 40, None, "ERR", "lag_growing", "too_slow", "110/s are produced, 80/s are consumed"),
        (3, 30, 31, "ERR", "no_progress", "stuck_record", "payments/0 stays at offset 4,711"),
    ]
    said += [
        (1, 15 + number / 3 + day * 24, 15 + number / 3 + day * 24 + 1 / 6, *_NOISY)
        for day in (0, 1)
        for number in range(3)
    ]
    found = []
    for number, (group, begin, end, worst, reason, cause, explanation) in enumerate(said):
        opened, id_ = START + round(begin * HOUR), f"i-{number:02}"
        why = {"reason": reason, "explanation": explanation, "opened_at": opened}
        why["cause"] = {"name": cause, "sentence": explanation}
        changes = [status_change(NAMES[group], opened, worst, "OK", id_, **why)]
        if end is not None:
            closed = START + round(end * HOUR)
            changes.append(status_change(NAMES[group], closed, "OK", worst, id_, opened_at=opened))
        found.append((changes, opened + 4_000))
    add_incidents(path, *found)


def add_incidents(path: Path, *incidents: tuple[Sequence[StatusChangeEvent], int | None]) -> None:
    """Incidents as silver has them, each of its status changes, and when somebody was notified."""
    rows, changes = [], []
    for of_one, notified_ms in incidents:
        events = list(folded(of_one))
        changes += [
            {"incident_id": data.incident_id, "at": moment(data.changed_at)}
            | {"revision": data.revision, "event": event.to_bytes()}
            for event in events
            for data in [event.data]
        ]
        last = events[-1].data
        rows.append(
            {"incident_id": last.incident_id, "opened_at": moment(last.opened_at)}
            | {"closed_at": None if last.closed_at is None else moment(last.closed_at)}
            | {"told_at": None if notified_ms is None else moment(notified_ms)}
            | {"changed_at": moment(last.changed_at), "event": events[-1].to_bytes()}
        )
    own = {"incident_id": "VARCHAR", "event": "BLOB"}
    times = dict.fromkeys(("opened_at", "closed_at", "changed_at", "told_at"), "TIMESTAMPTZ")
    write_table(path, "silver/incidents", own | times, rows)
    of_change = {"at": "TIMESTAMPTZ", "revision": "BIGINT"}
    write_table(path, "silver/incident_changes", own | of_change, changes)


_NOISY = ("WARN", "lag_not_shrinking", "flapping", "the lag of invoices/2 does not shrink")


def _minutes(path: Path) -> None:
    moves = {"produced": "BIGINT", "consumed": "BIGINT", "lag": "BIGINT"}
    who = {"cluster": "VARCHAR", "group": "VARCHAR", "minute": "TIMESTAMPTZ"}
    measured = {"late_ms": "BIGINT", "late_max_ms": "BIGINT", "time_to_loss_ms": "BIGINT"}
    minutes, lates = [], []
    for number, name in enumerate(NAMES):
        for at in range(START, END, 10 * MINUTE):
            own = {"cluster": "prod", "group": name, "minute": moment(at)}
            minutes.append(own | {"produced": 600 + number, "consumed": 600, "lag": number})
            late = number * 1_500
            lost = {"topic": "orders", "lost_records": 0, "time_to_loss_ms": DAY}
            lates.append(own | lost | {"late_ms": late, "late_max_ms": late})
    write_table(path, "silver/group_minutes", who | moves, minutes)
    columns = who | {"topic": "VARCHAR", "lost_records": "BIGINT"} | measured
    write_table(path, "silver/lateness_minutes", columns, lates)


def _hours(path: Path, rows: Sequence[Row], known_until: int) -> None:
    """As gold makes them, in plain Python."""
    held: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    lags: dict[tuple[str, int], list[int]] = defaultdict(list)
    by_group: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_group[row["group"]].append(row)
    for name, found in by_group.items():
        for number, row in enumerate(found):
            at = _ms(row["at"])
            longest = at + 3 * HEARTBEAT * 1000
            until = min(
                _ms(found[number + 1]["at"]) if number + 1 < len(found) else longest, longest
            )
            lags[name, at // HOUR].append(row["total_lag"])
            for hour in range(at // HOUR, (until - 1) // HOUR + 1):
                part = min(until, (hour + 1) * HOUR) - max(at, hour * HOUR)
                held[name, hour][row["status"]] += part
    hours = [
        {
            "cluster": "prod",
            "group": name,
            "hour": moment(hour * HOUR),
            **{
                f"{status.lower()}_ms": held[name, hour][status] for status in ("OK", "WARN", "ERR")
            },
            "evaluations": len(lags[name, hour]),
            "lag_max": max(lags[name, hour], default=None),
            "lag_sketch": sketch(lags[name, hour]),
        }
        for name, hour in held
    ]
    columns = {"cluster": "VARCHAR", "group": "VARCHAR", "hour": "TIMESTAMPTZ"}
    counts = dict.fromkeys(("ok_ms", "warn_ms", "err_ms", "evaluations", "lag_max"), "BIGINT")
    sketches = {"lag_sketch": "STRUCT(bucket INTEGER, count BIGINT)[]"}
    write_table(path, "gold/status_hours", columns | counts | sketches, hours)
    _other_hours(path)
    until = {"source": "evaluations", "until": moment(known_until)}
    progress = {"source": "VARCHAR", "until": "TIMESTAMPTZ"}
    write_table(path, "gold/gold_progress", progress, [until])


def _other_hours(path: Path) -> None:
    """Ten minutes of each are known."""
    who = {"cluster": "VARCHAR", "group": "VARCHAR", "hour": "TIMESTAMPTZ"}
    moves = dict.fromkeys(("minutes", "produced", "consumed"), "BIGINT")
    late = dict.fromkeys(("late_max_ms", "time_to_loss_ms", "lost_records"), "BIGINT")
    own = [
        {"cluster": "prod", "group": name, "hour": moment(at), "minutes": 6}
        | {"produced": 6 * (600 + number), "consumed": 6 * 600, "late_max_ms": number * 1_500}
        | {"time_to_loss_ms": DAY, "lost_records": 0, "late_sketch": sketch([number * 1_500] * 6)}
        for number, name in enumerate(NAMES)
        for at in range(START, END, HOUR)
    ]
    shown = dict.fromkeys(("busiest_hour_rate", "pace_behind"), "DOUBLE")
    write_table(path, "gold/rate_hours", who | moves | shown, [*own, *_growth()])
    sketches = {"late_sketch": "STRUCT(bucket INTEGER, count BIGINT)[]"}
    write_table(path, "gold/lateness_hours", who | late | sketches, own)


def sketch(values: Sequence[int]) -> list[Row]:
    buckets = Counter(
        0 if value <= 0 else math.ceil(math.log(value) / math.log(GROWTH) - 1e-9)
        for value in values
    )
    return [{"bucket": bucket, "count": count} for bucket, count in sorted(buckets.items())]


def _growth() -> list[Row]:
    """Three days before, of a group of which more is produced each day."""
    return [
        {"cluster": "prod", "group": NAMES[2], "hour": moment(START - day * DAY), "minutes": 144}
        | {"busiest_hour_rate": 97.5 - 0.75 * day, "pace_behind": 120.0}
        for day in (1, 2, 3)
    ]


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)
