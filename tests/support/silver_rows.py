"""Four days of two groups as rows of silver tables: gaps, incidents, limits that are not kept."""

import random
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from warren_archiver.gold.catalogue import PROGRESS
from warren_archiver.lake.lake import Lake, ensure
from warren_archiver.lake.table import Field, Table
from warren_archiver.silver import catalogue

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
START = 1_795_219_200_000
"""2026-11-21, midnight."""
DAYS = 4
END = START + DAYS * DAY
HEARTBEAT = 150
"""Seconds; a status holds for at most three."""
GROUPS = ("billing", "a|b")
NOTHING: dict[str, object] = {
    "string": "",
    "bigint": 0,
    "int": 0,
    "double": 0.0,
    "boolean": False,
    "binary": b"",
    "timestamp": datetime(1970, 1, 1, tzinfo=UTC),
    "date": date(1970, 1, 1),
}
"""Of columns that are never null; lists are empty."""
Rows = dict[str, list[dict[str, Any]]]


def at(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def frame(spark: SparkSession, table: Table, rows: Sequence[dict[str, Any]]) -> DataFrame:
    """What a row does not say is null, or nothing of its type where null may not be."""
    nothing = {field.name: _nothing(field) for field in table.fields}
    values = [tuple((nothing | row)[name] for name in table.names) for row in rows]
    return spark.createDataFrame(values, table.schema)


def _nothing(field: Field) -> object:
    return None if field.null is not None else NOTHING.get(field.type.simpleString(), [])


def append(spark: SparkSession, lake: Lake, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Adds rows to a table of silver, as one file."""
    added = frame(spark, table, rows).coalesce(1)
    added.write.format("delta").mode("append").save(lake.silver(table.name))


def ensure_tables(
    spark: SparkSession, lake: Lake, silver: Iterable[Table], gold: Iterable[Table]
) -> None:
    """These tables, and how far gold has come."""
    for table in silver:
        ensure(spark, lake.silver(table.name), table)
    for table in (*gold, PROGRESS):
        ensure(spark, lake.gold(table.name), table)


def silver_rows(seed: int = 7) -> Rows:
    """By the tables' names. Only the tables that gold is made of."""
    chance = random.Random(seed)
    rows: Rows = {name: [] for name in SOURCES}
    for group in GROUPS:
        _evaluations(rows, chance, group)
        _minutes(rows, chance, group)
        _incidents(rows, group)
        _memberships(rows, group)
    return rows


SOURCES = {
    table.name: table
    for table in (
        catalogue.EVALUATIONS,
        catalogue.GROUP_MINUTES,
        catalogue.PARTITION_MINUTES,
        catalogue.LATENESS_MINUTES,
        catalogue.INCIDENTS,
        catalogue.NOTIFICATIONS,
        catalogue.MEMBERSHIP_CHANGES,
    )
}


def _of(group: str, moment: int, column: str, **more: Any) -> dict[str, Any]:
    own = {"cluster": "prod", "group": group, column: at(moment), "date": at(moment).date()}
    return own | more


def _evaluations(rows: Rows, chance: random.Random, group: str) -> None:
    moment, number = START + 1_234, 0
    while moment < END - 10 * MINUTE:
        number += 1
        place = {"kafka_topic_id": "t", "kafka_partition": 0, "kafka_offset": len(_found(rows))}
        row = _of(group, moment, "at", position=number, total_lag=chance.randrange(100_000))
        row |= place | {"status": chance.choice(["OK", "OK", "WARN", "ERR"])}
        row["kafka_timestamp"] = row["at"]
        _found(rows).append(row)
        if number % 40 == 0:  # the same event once more
            _found(rows).append(row | {"kafka_offset": len(_found(rows))})
        moment += chance.choice([4, 7, 7, 9, 30]) * MINUTE + chance.randrange(1000)


def _found(rows: Rows) -> list[dict[str, Any]]:
    return rows[catalogue.EVALUATIONS.name]


def _minutes(rows: Rows, chance: random.Random, group: str) -> None:
    """Around each midnight and at noon."""
    lag = 0
    for minute in range(0, DAYS * 1440):
        if 20 <= minute % 1440 < 700 or 760 <= minute % 1440 < 1420:
            continue
        moment = START + minute * MINUTE
        produced = 600 + minute // 1440 * 60
        consumed = 900 if lag > 900 else chance.choice([0, produced + lag])
        lag += produced - consumed
        moved = {"produced": produced, "consumed": consumed, "rewound": 0, "lag": lag}
        row = _of(group, moment, "minute", partitions=2, topics=1, lag_max=lag, **moved)
        rows[catalogue.GROUP_MINUTES.name].append(row)
        for partition in (0, 1):
            half = _of(group, moment, "minute", topic="orders", partition=partition, lag=lag // 2)
            rows[catalogue.PARTITION_MINUTES.name].append(half)
        late = None if minute % 17 == 0 else lag * 100
        left = DAY * 3 - (minute % 1440) * MINUTE // 2
        measured = {"late_ms": late, "late_max_ms": late, "lost_records": 0, "produce_rate": 10.0}
        row = _of(group, moment, "minute", topic="orders", time_to_loss_ms=left, **measured)
        rows[catalogue.LATENESS_MINUTES.name].append(row)


def _incidents(rows: Rows, group: str) -> None:
    """The third begins soon after the second, which was short; the last one lasts."""
    for number, (begin, length) in enumerate(
        [(12 * HOUR, 2 * HOUR), (DAY, 4 * MINUTE), (DAY + 10 * MINUTE, HOUR), (3 * DAY, None)]
    ):
        opened, own = START + begin + 5_000, f"{group}-{number}"
        told = {"told_at": at(opened + 2_000), "deliveries": 2, "failures": number % 2}
        over = {} if length is None else {"closed_at": at(opened + length), "duration_ms": length}
        row = _of(group, opened, "opened_at", incident_id=own, worst="ERR", peak_lag=100 + number)
        rows[catalogue.INCIDENTS.name].append(row | told | over)
        for kind, outcome in enumerate(("delivered", "failed", "delivered")):
            sent = {"delivery_id": f"{own}-{kind}", "attempt": 1, "outcome": outcome}
            row = _of(group, opened + 2_000 * kind, "at", incident_id=own, duration_ms=20 + kind)
            to = {"route": "all", "channel": "mail" if kind else "hook"}
            rows[catalogue.NOTIFICATIONS.name].append(row | sent | to)


def _memberships(rows: Rows, group: str) -> None:
    for number in range(8):
        members = {"members": ["x", "y"][: number % 3], "joined": ["x"], "left": ["y"]}
        counts = {"idle_members": number, "unowned_partitions": 1, "assignment_skew": 1.5}
        state = {"position": number, "deleted": False, "generation": number // 2}
        row = _of(group, START + number * 11 * HOUR, "at", **members, **counts, **state)
        rows[catalogue.MEMBERSHIP_CHANGES.name].append(row)
