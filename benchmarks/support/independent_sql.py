"""Bronze, silver and gold made again by SQL of DuckDB's, from what a plain consumer finds.

Written from what docs/tables.md says of the tables, not from the archiver's code: what both get
wrong in the same way is not found, all else is. It takes seconds, and no JVM. Offset events only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
from deltalake import DeltaTable
from warren.contracts.topics import OFFSETS
from warren.kafka.topic_reader import TopicReader
from warren.kafka.topics import HOME
from warren.settings import Settings
from warren_archiver.judging.groups import Evaluation, Source, judge_again
from warren_archiver.layers import LAYERS
from warren_core.evaluation import RuleBook

Columns = Mapping[str, Sequence[Any]]
EPOCH = datetime(1970, 1, 1)  # as DuckDB's timestamps have none
PLACE = "kafka_partition, kafka_offset"
_BY = 'cluster, "group", topic, "partition" ORDER BY "at", position, appended'
_STEP = f"OVER (PARTITION BY {_BY}, {PLACE})"
SQL = {
    "positions": f"""
        WITH each AS (
            SELECT *, unnest(map_entries(value::JSON::MAP(VARCHAR, JSON))) AS of_topic FROM (
                SELECT kafka_partition, kafka_offset, appended, e->>'cluster' AS cluster,
                    e->>'group' AS "group", e->'topics' AS value,
                    make_timestamp((e->>'observed_at')::BIGINT * 1000) AS "at",
                    (e->>'position')::BIGINT AS position
                FROM (SELECT *, decode(value)::JSON AS e FROM records))
        ), single AS (
            SELECT * EXCLUDE (value, of_topic), of_topic.key AS topic,
                unnest(range(json_array_length(of_topic.value->'partition')::BIGINT)) AS i,
                of_topic.value AS c FROM each
        ), told AS (
            SELECT * EXCLUDE (c, i), (c->'partition'->>i)::BIGINT AS "partition",
                (c->'committed'->>i)::BIGINT AS committed, (c->'commits'->>i)::BIGINT AS commits,
                (c->'log_end'->>i)::BIGINT AS log_end FROM single
        ), before AS (
            SELECT *, greatest(log_end - committed, 0) AS lag,
                lag("at") {_STEP} AS was_at, lag(position) {_STEP} AS was_position,
                lag(committed) {_STEP} AS was_committed, lag(log_end) {_STEP} AS was_end
            FROM told
        ), near AS (
            SELECT *, CASE WHEN "at" - was_at <= INTERVAL 10 MINUTE
                THEN epoch_ms("at") - epoch_ms(was_at) END AS elapsed_ms,
                "at" = was_at AND position = was_position AND committed = was_committed
                AND log_end = was_end AS repeated FROM before
        )
        SELECT cluster, "group", topic, "partition", "at", position, committed, commits,
            log_end, lag,
            CASE WHEN elapsed_ms IS NOT NULL AND log_end >= was_end THEN log_end - was_end
                END AS produced,
            CASE WHEN elapsed_ms IS NOT NULL THEN greatest(committed - was_committed, 0)
                END AS consumed,
            CASE WHEN elapsed_ms IS NOT NULL THEN greatest(was_committed - committed, 0)
                END AS rewound,
            elapsed_ms, coalesce(repeated, false) AS repeated, kafka_partition, kafka_offset
        FROM near""",
    "partition_minutes": """
        SELECT cluster, "group", topic, "partition", date_trunc('minute', "at") AS minute,
            count(*) AS observations, sum(commits)::BIGINT AS commits,
            arg_max(committed, ("at", position, kafka_offset)) AS committed,
            arg_max(log_end, ("at", position, kafka_offset)) AS log_end,
            arg_max(lag, ("at", position, kafka_offset)) AS lag, min(lag) AS lag_min,
            max(lag) AS lag_max, sum(produced)::BIGINT AS produced,
            sum(consumed)::BIGINT AS consumed, sum(rewound)::BIGINT AS rewound
        FROM made_positions WHERE NOT repeated GROUP BY ALL""",
    "group_minutes": """
        SELECT cluster, "group", minute, count(DISTINCT topic) AS topics, count(*) AS partitions,
            sum(commits)::BIGINT AS commits, sum(lag)::BIGINT AS lag, max(lag_max) AS lag_max,
            sum(produced)::BIGINT AS produced, sum(consumed)::BIGINT AS consumed,
            sum(rewound)::BIGINT AS rewound
        FROM made_partition_minutes GROUP BY ALL""",
    "rate_hours": """
        WITH before AS (
            SELECT *, CASE WHEN lag(minute) OVER w = minute - INTERVAL 1 MINUTE
                THEN lag(lag) OVER w END AS was
            FROM made_group_minutes WINDOW w AS (PARTITION BY cluster, "group" ORDER BY minute)
        ), behind AS (SELECT *, coalesce(was > 0 AND was >= consumed, false) AS behind FROM before)
        , paced AS (
            SELECT *, CASE WHEN count(*) FILTER (WHERE behind) OVER five = 5
                THEN sum(consumed) OVER five / 300 END AS pace FROM behind
            WINDOW five AS (PARTITION BY cluster, "group" ORDER BY minute
                RANGE BETWEEN INTERVAL 4 MINUTES PRECEDING AND CURRENT ROW)
        )
        SELECT cluster, "group", date_trunc('hour', minute) AS hour, count(*) AS minutes,
            count(produced) AS produced_minutes, count(consumed) AS consumed_minutes,
            sum(produced)::BIGINT AS produced, sum(consumed)::BIGINT AS consumed,
            sum(rewound)::BIGINT AS rewound, sum(produced) / (count(produced) * 60) AS produce_rate,
            max(produced) / 60 AS produce_peak, max(consumed) / 60 AS consume_peak,
            CASE WHEN count(produced) >= 30 THEN sum(produced) / (count(produced) * 60)
                END AS busiest_hour_rate,
            count(*) FILTER (WHERE behind) AS behind_minutes, max(pace) AS pace_behind,
            arg_max(lag, minute) AS lag_end, max(lag) AS lag_max, max(partitions) AS partitions
        FROM paced GROUP BY ALL""",
    "rate_days": """
        SELECT cluster, "group", date_trunc('day', hour)::TIMESTAMP AS day,
            sum(minutes)::BIGINT AS minutes, sum(produced)::BIGINT AS produced,
            sum(consumed)::BIGINT AS consumed, sum(rewound)::BIGINT AS rewound,
            max(produce_peak) AS produce_peak, max(busiest_hour_rate) AS busiest_hour_rate,
            sum(behind_minutes)::BIGINT AS behind_minutes, max(pace_behind) AS pace_behind,
            arg_max(lag_end, hour) AS lag_end, max(lag_max) AS lag_max,
            max(partitions) AS partitions
        FROM made_rate_hours GROUP BY ALL""",
    "evaluations": """
        SELECT cluster, "group", "at", position, status, total_lag, bad_partitions,
            kafka_partition, kafka_offset
        FROM judged""",
    **{
        f"status_{unit}s": f"""
        WITH once AS (
            SELECT * FROM made_evaluations QUALIFY row_number() OVER (
                PARTITION BY cluster, "group", "at", position ORDER BY kafka_offset) = 1
        ), held AS (
            SELECT *, least(coalesce(lead("at") OVER (PARTITION BY cluster, "group"
                ORDER BY "at", position), "at" + most), "at" + most) AS until FROM once, most
        ), parts AS (
            SELECT cluster, "group", status, unnest(range(date_trunc('{unit}', "at")::TIMESTAMP,
                until, INTERVAL 1 {unit})) AS {unit}, "at", until FROM held WHERE until > "at"
        ), spans AS (
            SELECT cluster, "group", {unit}, status,
                epoch_ms(least(until, {unit} + INTERVAL 1 {unit}))
                - epoch_ms(greatest("at", {unit})) AS ms FROM parts
        ), times AS (
            SELECT cluster, "group", {unit}, sum(ms) FILTER (WHERE status = 'OK') AS ok_ms,
                sum(ms) FILTER (WHERE status = 'WARN') AS warn_ms,
                sum(ms) FILTER (WHERE status = 'ERR') AS err_ms FROM spans GROUP BY ALL
        ), lags AS (
            SELECT cluster, "group", date_trunc('{unit}', "at")::TIMESTAMP AS {unit},
                count(*) AS evaluations, quantile_disc(total_lag, 0.5) AS lag_p50,
                quantile_disc(total_lag, 0.95) AS lag_p95, max(total_lag) AS lag_max
            FROM once GROUP BY ALL
        )
        SELECT cluster, "group", {unit}, coalesce(evaluations, 0)::BIGINT AS evaluations,
            coalesce(ok_ms, 0)::BIGINT AS ok_ms, coalesce(warn_ms, 0)::BIGINT AS warn_ms,
            coalesce(err_ms, 0)::BIGINT AS err_ms, lag_p50, lag_p95, lag_max
        FROM times FULL JOIN lags USING (cluster, "group", {unit})"""
        for unit in ("hour", "day")
    },
    **{
        f"objective_{unit}s": f"""
        WITH lags AS (
            SELECT cluster, "group", minute, sum(lag) AS lag FROM made_partition_minutes
            GROUP BY ALL
        )
        SELECT cluster, "group", name AS objective, 'max_lag' AS "limit", wanted, target,
            date_trunc('{unit}', minute)::TIMESTAMP AS {unit}, count(*) AS minutes,
            count(*) FILTER (WHERE lag > wanted) AS broken,
            1 - count(*) FILTER (WHERE lag > wanted) / count(*) AS attainment
        FROM lags, objectives GROUP BY ALL"""
        for unit in ("hour", "day")
    },
    "error_budgets": """
        SELECT cluster, "group", objective, "limit", day,
            (sum(minutes) OVER w)::BIGINT AS minutes_30d,
            (sum(broken) OVER w)::BIGINT AS broken_30d,
            1 - sum(broken) OVER w / (sum(minutes) OVER w * (1 - target)) AS budget_left
        FROM made_objective_days WINDOW w AS (PARTITION BY cluster, "group", objective, "limit"
            ORDER BY day RANGE BETWEEN INTERVAL 29 DAYS PRECEDING AND CURRENT ROW)""",
    "capacity": """
        SELECT cluster, "group", day, max(pace_behind) OVER w AS capacity,
            max(busiest_hour_rate) OVER w AS busiest_hour_rate_max,
            max(produce_peak) OVER w AS produce_peak_max
        FROM made_rate_days WINDOW w AS (PARTITION BY cluster, "group" ORDER BY day
            RANGE BETWEEN INTERVAL 27 DAYS PRECEDING AND CURRENT ROW)""",
}
"""By table: its rows, of columns that are compared. What is made is `made_TABLE` to the next."""
_LAYER_OF = {table.name: layer for layer, tables in LAYERS.items() for table in tables}
_DIGITS = 9  # of ratios: sums of them come in another order


def differences(settings: Settings) -> Iterator[tuple[str, int, int]]:
    """Of each table: its name, its rows, and how many of them differ, or are there only once."""
    lake = Path(settings.archiver.path)
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        _put(database, "records", _records(settings))
        name = OFFSETS.full_name(settings.home.topic_prefix)
        columns = 'partition AS kafka_partition, "offset" AS kafka_offset, key, value'
        stored = f"SELECT {columns} FROM {_files(lake / 'bronze' / 'events', 'records')}"
        of_topic = f"SELECT {PLACE}, key, value FROM records"
        yield _compared(database, "bronze/events", of_topic, f"{stored} WHERE topic = '{name}'")
        _put(database, "judged", _judged(database, settings))
        most = round(settings.collector.heartbeat * 3)
        database.execute(f"CREATE TABLE most AS SELECT INTERVAL {most} SECOND AS most")
        database.execute("CREATE TABLE objectives (name TEXT, wanted DOUBLE, target DOUBLE)")
        for each in settings.objectives:
            row = [each.name, each.max_lag, each.target]
            database.execute("INSERT INTO objectives VALUES (?, ?, ?)", row)
        for table, made in SQL.items():
            database.execute(f"CREATE TABLE made_{table} AS {made}")
            layer = _LAYER_OF[table]
            columns = _columns(database.table(f"made_{table}"))
            wanted, stored = (
                f"SELECT {columns} FROM {rows}"
                for rows in (f"made_{table}", _files(lake / layer / table, f"made_{table}"))
            )
            yield _compared(database, f"{layer}/{table}", wanted, stored)


def _columns(table: duckdb.DuckDBPyRelation) -> str:
    def shown(name: str, type_: str) -> str:
        if type_ == "DOUBLE":
            return f'round("{name}", {_DIGITS}) AS "{name}"'
        return f'"{name}"::{type_} AS "{name}"'

    return ", ".join(
        shown(name, str(type_)) for name, type_ in zip(table.columns, table.types, strict=True)
    )


def _compared(
    database: duckdb.DuckDBPyConnection, name: str, wanted: str, stored: str
) -> tuple[str, int, int]:
    (rows,) = database.execute(f"SELECT count(*) FROM ({stored})").fetchall()[0]
    (unlike,) = database.execute(
        f"SELECT count(*) FROM (({wanted} EXCEPT ALL {stored}) UNION ALL "
        f"({stored} EXCEPT ALL {wanted}))"
    ).fetchall()[0]
    return name, rows, unlike


def _files(path: Path, like: str) -> str:
    """A Delta table, as DuckDB reads the files that delta-rs names; `like`: what it has no row of
    where there are none."""
    is_there = DeltaTable.is_deltatable(str(path))
    uris = DeltaTable(str(path)).file_uris() if is_there else []
    files = [f"'{unquote(uri)}'" for uri in uris]
    if not files:
        return f"(FROM {like} WHERE false)"
    return f"read_parquet([{', '.join(files)}], hive_partitioning = true)"


def _put(database: duckdb.DuckDBPyConnection, name: str, columns: Columns) -> None:
    """A table of these columns; several rows."""
    listed = ", ".join(f'unnest(${column}) AS "{column}"' for column in columns)
    database.execute(f"CREATE TABLE {name} AS SELECT {listed}", dict(columns))


def _records(settings: Settings) -> Columns:
    """As a plain consumer finds them in the topic of offset events."""
    name = OFFSETS.full_name(settings.home.topic_prefix)
    reader = TopicReader(HOME, "home", settings.home, [name])
    rows = []
    try:
        while not reader.caught_up:
            for each in reader.poll(1.0):
                key, value = each.key(), each.value()
                rows.append((each.partition(), each.offset(), each.timestamp()[1], key, value))
    finally:
        reader.close()
    return _named(("kafka_partition", "kafka_offset", "appended", "key", "value"), rows)


def _judged(database: duckdb.DuckDBPyConnection, settings: Settings) -> Columns:
    """Each event by the evaluator's judgement, in the order of the log: no Spark, no state that was
    kept between two batches."""
    rows = database.execute(
        f"SELECT {PLACE}, appended * 1000, key, value FROM records ORDER BY {PLACE}"
    ).fetchall()
    rules = RuleBook(settings.evaluation, settings.collector)
    told = [
        (
            each.event.cluster,
            each.event.group,
            EPOCH + timedelta(milliseconds=each.event.observed_at),
            each.event.position,
            each.brief.status.name,
            each.brief.total_lag,
            each.brief.bad_partitions,
            each.source.partition,
            each.source.offset,
        )
        for each in judge_again([Source(*row) for row in rows], {}, rules)
        if isinstance(each, Evaluation)
    ]
    names = ("cluster", "group", "at", "position", "status", "total_lag", "bad_partitions")
    return _named((*names, "kafka_partition", "kafka_offset"), told)


def _named(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Columns:
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
