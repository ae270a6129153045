"""How soon the lake answers without a JVM: a day of one group from its minutes, and a report on a
week, of many groups. The tables are as upkeep leaves them: a day's rows in the order of groups.
Bronze has all days, and the one after them, at a sixtieth of what there is when groups commit every
5 s: an offset event and an evaluation of each group every `--event-every` s. What is read of it is
told by itself: a whole day of it is sixty times that.

Prints one JSON line. `--lake` keeps the tables for another run.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb
from deltalake import write_deltalake
from support.measuring import usage
from warren.clock import ManualClock
from warren.contracts.topics import LAG
from warren.history.history import History
from warren.history.lake_tables import LakeTables
from warren.settings import Settings
from warren_archiver.report import page
from warren_archiver.report.make import report
from warren_archiver.report.period import Period
from warren_archiver.report.statuses import newest_ms

FIRST = date(2026, 10, 1)
DAY_MS, STEP_MS = 86_400_000, 300_000
START_MS = round(datetime(2026, 10, 1, tzinfo=UTC).timestamp() * 1000)
_NAME = "format('group-{:05d}', g) AS \"group\""


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as directory:
        lake = arguments.lake or Path(directory)
        if not (lake / "silver").exists():
            _write(lake, arguments.groups, arguments.days, arguments.event_every)
        result = _history(lake, arguments) | _report(lake, arguments)
    print(json.dumps({"benchmark": "history"} | result))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=1_000)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--event-every", type=int, default=300, help="seconds, of each group")
    parser.add_argument("--lake", type=Path, help="where the tables are, or will be")
    return parser.parse_args()


def _write(lake: Path, groups: int, days: int, event_every: int) -> None:
    each = {"groups": groups, "name": _NAME, "every": event_every, "events": 86_400 // event_every}
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        for number in range(days + 1):
            day = FIRST + timedelta(days=number)
            print(f"writing {day}", file=sys.stderr)
            for table, query in _TABLES.items():
                if number < days or table == "bronze/events":
                    rows = database.sql(query.format(day=day, **each))
                    target = str(lake / table)
                    write_deltalake(target, rows, mode="append", partition_by=["date"])
        until = FIRST + timedelta(days=days)
        progress = f"SELECT 'evaluations' AS source, TIMESTAMPTZ '{until}' AS until"
        write_deltalake(str(lake / "gold/gold_progress"), database.sql(progress))


_MINUTE = "TIMESTAMPTZ '{day}' + INTERVAL (m) MINUTE AS minute"
_HOUR = "TIMESTAMPTZ '{day}' + INTERVAL (h) HOUR AS hour"
_MINUTES = "FROM range({groups}) a(g), range(1440) b(m) ORDER BY g, m"
_HOURS = "FROM range({groups}) a(g), range(24) b(h) ORDER BY g, h"
_TABLES = {
    "silver/group_minutes": f"""SELECT 'prod' AS cluster, {{name}}, {_MINUTE},
      (hash(g, m) % 100000)::BIGINT AS lag, (hash(g, m, 1) % 60000)::BIGINT AS produced,
      (hash(g, m, 2) % 60000)::BIGINT AS consumed, DATE '{{day}}' AS date {_MINUTES}""",
    "silver/lateness_minutes": f"""SELECT 'prod' AS cluster, {{name}}, 'orders' AS topic, {_MINUTE},
      (hash(g, m) % 90000)::BIGINT AS late_ms, (hash(g, m) % 90000)::BIGINT AS late_max_ms,
      0::BIGINT AS lost_records, 86400000::BIGINT AS time_to_loss_ms,
      DATE '{{day}}' AS date {_MINUTES}""",
    "gold/status_hours": f"""SELECT 'prod' AS cluster, {{name}}, {_HOUR}, 3500000::BIGINT AS ok_ms,
      (hash(g, h) % 100000)::BIGINT AS warn_ms, 0::BIGINT AS err_ms, 360::BIGINT AS evaluations,
      100000::BIGINT AS lag_max, [{{{{'bucket': x::INTEGER, 'count': 12::BIGINT}}}}
      FOR x IN range(400, 430)] AS lag_sketch, DATE '{{day}}' AS date {_HOURS}""",
    "gold/rate_hours": f"""SELECT 'prod' AS cluster, {{name}}, {_HOUR}, 60::BIGINT AS minutes,
      (hash(g, h) % 6000000)::BIGINT AS produced, (hash(g, h) % 5000000)::BIGINT AS consumed,
      DATE '{{day}}' AS date {_HOURS}""",
    "gold/lateness_hours": f"""SELECT 'prod' AS cluster, {{name}}, {_HOUR}, 9000::BIGINT AS
      late_max_ms, 86400000::BIGINT AS time_to_loss_ms, 0::BIGINT AS lost_records,
      [{{{{'bucket': x::INTEGER, 'count': 6::BIGINT}}}} FOR x IN range(300, 310)] AS late_sketch,
      DATE '{{day}}' AS date {_HOURS}""",
    "bronze/events": """WITH told AS (
        SELECT g, e, 'prod|' || format('group-{{:05d}}', g) AS name,
          TIMESTAMPTZ '{day}' + INTERVAL (e * {every}) SECOND AS appended
        FROM range({groups}) a(g), range({events}) b(e)
      ), sent AS (
        SELECT 'warren.lag' AS topic, name, appended, format('{{{{"v":1,"cluster":"prod","group":
          "group-{{:05d}}","evaluated_at":{{}},"position":{{}},"status":"OK","total_lag":{{}},
          "partitions":[[{{}},{{}}],[{{}},{{}}]]}}}}', g, epoch_ms(appended), epoch_ms(appended),
          hash(g, e) % 100000, hash(g, e, 1) % 10000000, hash(g, e, 2) % 1000,
          hash(g, e, 3) % 10000000, hash(g, e, 4) % 1000) AS value FROM told
        UNION ALL
        SELECT 'warren.offsets', name, appended, format('{{{{"v":1,"observed_at":{{}},"topics":{{{{
          "orders":[[{{}},{{}}],[{{}},{{}}]]}}}}}}}}', epoch_ms(appended), hash(g, e, 1) % 10000000,
          hash(g, e, 2) % 1000, hash(g, e, 3) % 10000000, hash(g, e, 4) % 1000) FROM told
      ) SELECT topic, encode(name) AS key, encode(value) AS value, appended AS timestamp,
      DATE '{day}' AS date FROM sent ORDER BY appended""",
}


def _history(lake: Path, arguments: argparse.Namespace) -> dict[str, float]:
    chance, taken = random.Random(1), []
    with History(str(lake)) as history:
        for _ in range(arguments.queries):
            group = f"group-{chance.randrange(arguments.groups):05}"
            start = START_MS + chance.randrange(arguments.days) * DAY_MS
            began = time.perf_counter()
            points = history.group("prod", group, start, start + DAY_MS, STEP_MS)
            taken.append((time.perf_counter() - began) * 1000)
            if len(points) != DAY_MS // STEP_MS:
                sys.exit(f"{group} has {len(points)} points on a day")
    taken.sort()
    return {
        "query_ms_p50": round(taken[len(taken) // 2], 1),
        "query_ms_p95": round(taken[len(taken) * 95 // 100], 1),
        "lake_mb": round(sum(f.stat().st_size for f in lake.rglob("*.parquet")) / 1e6, 1),
    }


def _report(lake: Path, arguments: argparse.Namespace) -> dict[str, float]:
    """Twice: files are in the system's cache, and modules are loaded, the second time."""
    end = START_MS + arguments.days * DAY_MS
    settings = Settings.model_validate({"archiver": {"path": str(lake)}})
    for _ in range(2):
        began, used = time.perf_counter(), time.process_time()
        with LakeTables(str(lake)) as tables:
            clock = ManualClock(end + 90 * DAY_MS)
            made = report(tables, settings, Period(end - 7 * DAY_MS, end), clock=clock)
        read = time.perf_counter()
        rendered = page.render(made)
        shown, used = time.perf_counter(), time.process_time() - used
    topic = LAG.full_name(settings.home.topic_prefix)
    with LakeTables(str(lake)) as tables:
        newest_ms(tables, topic, end + DAY_MS)
        asked = time.perf_counter()
        newest_ms(tables, topic, end + DAY_MS)
        found = time.perf_counter()
    return {
        "newest_s": round(found - asked, 2),
        "report_cpu_s": round(used, 2),
        "report_groups": len(made.groups),
        "report_read_s": round(read - began, 2),
        "report_page_s": round(shown - read, 2),
        "report_page_kb": round(len(rendered) / 1000),
        "rss_mb": round(usage().peak_rss_mb),
    }


if __name__ == "__main__":
    main()
