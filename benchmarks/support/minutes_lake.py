"""Tables of minutes as the archiver leaves them: of some groups of the served API, up to today."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
from deltalake import write_deltalake
from support.served_groups import CLUSTER

_WHO = f"""'{CLUSTER}' AS cluster, format('service-{{{{:05d}}}}', g) AS "group",
  TIMESTAMPTZ '{{day}}' + INTERVAL (m) MINUTE AS minute, DATE '{{day}}' AS date"""
_ALL = "FROM range({groups}) a(g), range(1440) b(m) ORDER BY g, m"
_TABLES = {
    "silver/group_minutes": f"""SELECT {_WHO}, (hash(g, m) % 100000)::BIGINT AS lag,
      6000::BIGINT AS produced, 6000::BIGINT AS consumed {_ALL}""",
    "silver/lateness_minutes": f"""SELECT {_WHO}, 'orders' AS topic,
      (hash(g, m) % 90000)::BIGINT AS late_max_ms, 86400000::BIGINT AS time_to_loss_ms {_ALL}""",
}


def write_minutes(lake: Path, groups: int, days: int) -> None:
    """Of the first so many groups, so many days until yesterday."""
    today = datetime.now(UTC).date()
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        for ago in range(days, 0, -1):
            for table, query in _TABLES.items():
                rows = database.sql(query.format(day=today - timedelta(days=ago), groups=groups))
                write_deltalake(str(lake / table), rows, mode="append", partition_by=["date"])
