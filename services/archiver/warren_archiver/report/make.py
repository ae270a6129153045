"""The report on a period, read from the lake without Spark."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import structlog
from warren.clock import Clock
from warren.contracts.topics import INCIDENTS, LAG, NOTIFICATIONS
from warren.history.lake_tables import LakeTables, LakeUnreadable, typed
from warren.settings import Settings

from warren_archiver.errors import NothingArchived
from warren_archiver.gold.conventions import ERROR, longest_ms
from warren_archiver.report import beginnings, facts, incidents, known, statuses
from warren_archiver.report.group_report import STATUSES, GroupReport, Key, Report, trouble
from warren_archiver.report.period import HOUR_MS, Period, Split, group_matcher, split

log = structlog.get_logger(__name__)
SETTLE_MS = 5_000
"""The default period ends this much before the newest record, as evaluations of that time that
another evaluator publishes a little later may not be archived yet."""
MOST_STEPS = 300
COUNTS: Mapping[str, str] = {
    "lost_records": "losses",
    "rebalances": "members",
    "idle_members": "members",
}
"""Figures of a group of which none is a statement, too."""
SILENT_MS = 6 * HOUR_MS
"""What nothing was told of for so long, while others were, is not waited for: its service is down
or was switched off."""


def report(
    tables: LakeTables,
    settings: Settings,
    wanted: Period | int,
    *,
    clock: Clock,
    groups: str | None = None,
) -> Report:
    """`wanted`: a period, or the length in milliseconds of the one that ends with what is archived.
    `groups`: a regular expression (RE2) that groups match, anywhere.

    Raises NothingArchived, SettingsError or LakeUnreadable.
    """
    matches, damages = group_matcher(groups or ""), tables.tolerate()
    topics = [
        each.full_name(settings.home.topic_prefix) for each in (LAG, INCIDENTS, NOTIFICATIONS)
    ]
    topic, changes, deliveries = topics
    newest = statuses.newest_ms(tables, topic, clock.now_ms())
    if newest is None:
        if damages:
            raise LakeUnreadable(" ".join(damages))
        raise NothingArchived(
            f"no evaluation has been archived in {settings.archiver.path}: where an archiver runs "
            "already, that takes some minutes after its first start; else run `warren archive run`"
        )
    end = newest - SETTLE_MS
    period = wanted if isinstance(wanted, Period) else Period(end - wanted, end)
    max_gap_ms = longest_ms(settings.collector.heartbeat)
    untils = _gold_until(tables)
    until = _whole_until(untils)
    parts = split(period, until)
    is_whole = until is not None and until >= period.end_ms
    statuses.prepare(tables, topics, period, parts, max_gap_ms, is_whole=is_whole)
    is_closed = parts.hours == period
    archived_ms = period.end_ms if is_closed else newest
    since = beginnings.find(tables, period, parts, topic, changes, deliveries)
    stamps = known.find(tables, period, archived_ms, untils, until, since)
    every = _groups(tables, period, parts, stamps)
    found = [each for each in every if matches(each.group)]
    latest_ms = 0 if is_closed else max_gap_ms  # evaluations of a closed one may be gone
    servers = {name: each.bootstrap for name, each in settings.clusters.items()}
    of_period = incidents.incidents(tables, period, changes, deliveries, topic, latest_ms)
    lasting = [
        each.addressed(servers.get(each.cluster, "")) for each in of_period if matches(each.group)
    ]
    if every and not found and not lasting:
        raise NothingArchived(f"no group of that time matches {groups!r} (--group)")
    budgets = facts.budgets(tables, period)
    for each in damages:
        log.warning("left out of the report", damage=each)
    return Report(
        period,
        is_closed,
        archived_ms,
        max_gap_ms,
        ERROR if parts.hours.length_ms else 0.0,
        sorted(found, key=trouble),
        lasting,
        [each for each in budgets if matches(each.group)],
        stamps.stamps,
        damages,
        step_ms(period, parts),
    )


def _gold_until(tables: LakeTables) -> dict[str, int]:
    """Up to when gold has the rows of each table of silver that has an end."""
    columns = typed(VARCHAR="source", TIMESTAMPTZ="until")
    tables.view("progress", "gold/gold_progress", None, columns)
    rows = tables.rows(
        "SELECT source, epoch_ms(until) AS until FROM progress WHERE until IS NOT NULL"
    )
    return {row["source"]: row["until"] for row in rows}


def _whole_until(untils: Mapping[str, int]) -> int | None:
    """Hours that ended by then are whole in gold, in all of its tables: those that are made of
    something that is not told any more, too."""
    last = max(untils.values(), default=0) - SILENT_MS
    return min((until for until in untils.values() if until >= last), default=None)


def _groups(
    tables: LakeTables, period: Period, parts: Split, stamps: known.Known
) -> list[GroupReport]:
    rates = facts.rates(tables, parts)
    late = facts.lateness(tables, parts)
    lost = facts.losses(tables, period)
    members = facts.memberships(tables, period)
    outlooks = facts.outlooks(tables, period)
    lags: dict[Key, list[tuple[int, int]]] = defaultdict(list)
    for row in statuses.lag_over_time(tables, parts, step_ms(period, parts)):
        lags[row["cluster"], row["group"]].append((row["at"], row["lag"]))
    judged: dict[Key, dict[str, Any]] = {
        (row["cluster"], row["group"]): row for row in statuses.figures(tables, parts, period)
    }
    made = []
    for key in judged.keys() | rates.keys() | late.keys() | lost.keys() | members.keys():
        row = defaultdict(lambda: None, judged.get(key, {}))
        held = {name: row[name.lower()] or 0 for name in STATUSES}
        more = rates.get(key, {}) | late.get(key, {}) | lost.get(key, {})
        more |= {"rebalances": 0} | members.get(key, {})
        counts = {name: stamps.counted(kind, more.get(name)) for name, kind in COUNTS.items()}
        made.append(
            GroupReport(
                *key,
                row["status"],
                held,
                period.length_ms - sum(held.values()),
                row["evaluations"] or 0,
                row["lag_p50"],
                row["lag_p95"],
                row["lag_max"],
                **more | counts,
                outlook=outlooks.get(key),
                lag_over_time=tuple(lags[key]),
            )
        )
    return made


def step_ms(period: Period, parts: Split) -> int:
    """Of the plots: seconds to hours."""
    if parts.hours.length_ms:
        return HOUR_MS
    for step in (10_000, 60_000, 300_000):
        if period.length_ms <= step * MOST_STEPS:
            return step
    return HOUR_MS
