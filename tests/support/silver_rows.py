"""Four days of two groups as rows of silver tables: gaps, incidents, limits that are not kept."""

import random
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from warren_archiver.lake.table import Table
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
    given = nothing(table)
    values = [tuple((given | row)[name] for name in table.names) for row in rows]
    return spark.createDataFrame(values, table.schema)


def nothing(table: Table) -> dict[str, object]:
    """By the table's columns: null, or what stands for it where null may not be."""
    return {
        field.name: None if field.null is not None else NOTHING.get(field.type.simpleString(), [])
        for field in table.fields
    }


def silver_rows(seed: int = 7) -> Rows:
    """By the tables' names. Only the tables that gold is made of."""
    chance = random.Random(seed)
    rows: Rows = {name: [] for name in SOURCES}
    for group in GROUPS:
        _evaluations(rows, chance, group)
        _minutes(rows, chance, group)
    return rows


SOURCES = {
    table.name: table
    for table in (
        catalogue.EVALUATIONS,
        catalogue.GROUP_MINUTES,
        catalogue.PARTITION_MINUTES,
        catalogue.LATENESS_MINUTES,
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
