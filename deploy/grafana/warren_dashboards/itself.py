"""Warren itself: whether each service does its work, and how fast."""

from __future__ import annotations

from warren_dashboards import links
from warren_dashboards.dashboard import WATCHED, Dashboard
from warren_dashboards.figures import clusters
from warren_dashboards.panel import (
    NONE_IS_GOOD,
    OLD,
    YES_NO,
    Panel,
    Query,
    Steps,
    Unit,
    graph,
    section,
    stat,
)

_CLUSTER = 'cluster=~"$cluster"'
_SERVICES = ("collector", "evaluator", "freshness", "notifier", "archiver", "api")
_STALLED = " or ".join(f"warren_{service}_stalled_seconds" for service in _SERVICES)
_STILL: Steps = (("green", None), ("yellow", 30), ("red", 60))
"""WarrenStandsStill fires at a minute."""


def _rate(title: str, *queries: Query, unit: Unit = "cps") -> Panel:
    return graph(title, *queries, unit=unit, width=8)


def _counted(counter: str, by: str, where: str = "") -> Query:
    """How fast a counter grows, by a label."""
    return Query(f"sum by ({by}) (rate({counter}{where}[5m]))", f"{{{{{by}}}}}")


def _slowest(title: str, histogram: str, by: str, *, also: str = "") -> Panel:
    """99th percentile of how long something takes."""
    expression = f"histogram_quantile(0.99, sum by (le, {by}) (rate({histogram}_bucket[5m])))"
    return graph(title, Query(expression, f"{{{{{by}}}}}"), unit="s", width=8, about=also)


ITSELF = Dashboard(
    links.ITSELF,
    "Warren: itself",
    "Whether Warren's own services do their work. docs/alerts.md says what to do.",
    (WATCHED,),
    (
        stat("An API is ready", "max(warren_api_ready)", meanings=YES_NO),
        stat("API reads its topics", "min(warren_api_feed_working)", meanings=YES_NO),
        stat("Redis answers", "min(warren_freshness_redis_up)", meanings=YES_NO),
        stat(
            "Newest verdict",
            f"time() - max(warren_group_evaluated_timestamp_seconds{{{_CLUSTER}}})",
            unit="s",
            steps=OLD,
        ),
        stat(
            "Clusters not read",
            "count(max by (cluster) (warren_cluster_state"
            f'{{state!="ok",{_CLUSTER}}}) == 1) or vector(0)',
            steps=NONE_IS_GOOD,
        ),
        stat(
            "Stands still",
            f"max({_STALLED})",
            unit="s",
            steps=_STILL,
            about="Work that waits without any progress, the longest",
        ),
        stat(
            "Notifications lost, a day",
            "sum(increase(warren_notifier_deliveries_total"
            '{outcome=~"refused|given_up"}[1d])) or vector(0)',
            steps=NONE_IS_GOOD,
        ),
        stat(
            "/metrics is reduced",
            "max(warren_api_metrics_reduced)",
            meanings={0: ("no", "green"), 1: ("yes", "yellow")},
            about="There are more partitions than `api.metrics_partitions`: series are left out",
        ),
        clusters(width=12),
        graph(
            "Work that does not move",
            Query(f"max by (instance, work) ({_STALLED})", "{{instance}} {{work}}"),
            unit="s",
            steps=_STILL,
        ),
        section("Collector"),
        _rate("Commits read", _counted("warren_collector_commits_total", "cluster")),
        _rate("Events published", _counted("warren_collector_events_total", "cluster")),
        _slowest("Tick, 99th percentile", "warren_collector_tick_seconds", "cluster"),
        graph(
            "Records behind in the offsets topic",
            Query("max by (cluster) (warren_collector_backlog_records)", "{{cluster}}"),
            width=8,
        ),
        graph(
            "Partitions whose end is unknown",
            Query("max by (cluster) (warren_collector_unknown_log_ends)", "{{cluster}}"),
            width=8,
        ),
        _rate(
            "Trouble",
            Query("sum(rate(warren_collector_failed_ticks_total[5m])) or vector(0)", "ticks"),
            Query("sum(rate(warren_collector_restarts_total[5m]))", "connections built anew"),
            Query("sum(rate(warren_collector_dead_letters_total[5m]))", "dead letters"),
        ),
        section("Evaluator"),
        _rate("Events judged", _counted("warren_evaluator_events_total", "instance")),
        _rate("Partitions judged", _counted("warren_evaluator_partitions_total", "instance")),
        _slowest("Batch, 99th percentile", "warren_evaluator_batch_seconds", "instance"),
        graph(
            "Groups by status",
            Query("sum by (status) (warren_evaluator_groups)", "{{status}}"),
            width=8,
            stacked=True,
        ),
        _rate("Status changes", _counted("warren_evaluator_status_changes_total", "status")),
        _rate(
            "Trouble",
            Query("sum(rate(warren_evaluator_dead_letters_total[5m]))", "dead letters"),
            Query("sum(rate(warren_evaluator_skipped_events_total[5m]))", "skipped"),
            Query("sum(rate(warren_evaluator_discarded_states_total[5m]))", "windows lost"),
        ),
        section("Freshness"),
        _rate("Passes", _counted("warren_freshness_passes_total", "result")),
        _slowest("Pass, 99th percentile", "warren_freshness_pass_seconds", "cluster"),
        _rate("Positions read", _counted("warren_freshness_reads_total", "outcome")),
        graph(
            "Passes until each partition was read",
            Query("max by (cluster) (warren_freshness_round_passes)", "{{cluster}}"),
            width=8,
            steps=(("green", None), ("red", 30)),
        ),
        graph(
            "Partitions, by how their lateness is known",
            Query("sum by (reason) (warren_freshness_partitions)", "{{reason}}"),
            width=8,
            stacked=True,
        ),
        _rate(
            "Where the time of a record was", _counted("warren_freshness_lookups_total", "found")
        ),
        section("Notifier"),
        _rate("Deliveries", _counted("warren_notifier_deliveries_total", "outcome")),
        graph(
            "Deliveries that wait",
            Query("sum by (channel) (warren_notifier_pending)", "{{channel}}"),
            width=8,
        ),
        graph(
            "Longest wait",
            Query("max by (channel) (warren_notifier_oldest_pending_seconds)", "{{channel}}"),
            unit="s",
            width=8,
            steps=(("green", None), ("red", 300)),
        ),
        graph(
            "What notifiers remember",
            Query("max by (instance) (warren_notifier_state_bytes)", "{{instance}}"),
            unit="bytes",
            width=8,
            steps=(("green", None), ("red", 500e6)),
        ),
        section("Archiver"),
        graph(
            "Not archived yet, records",
            Query("max by (topic) (warren_archiver_behind_records)", "{{topic}}"),
            width=8,
        ),
        graph(
            "Since all was archived",
            Query("time() - max(warren_archiver_caught_up_timestamp_seconds)", "all topics"),
            unit="s",
            width=8,
            steps=(("green", None), ("red", 43_200)),
            about="The topics keep records for 24 h at least",
        ),
        _rate(
            "Trouble",
            Query("sum(rate(warren_archiver_failures_total[5m]))", "passes or queries that failed"),
            Query("sum(rate(warren_archiver_lost_records_total[5m]))", "records lost"),
        ),
        section("API"),
        _rate("Requests by code", _counted("warren_api_requests_total", "code"), unit="reqps"),
        _slowest("Answers, 99th percentile", "warren_api_request_seconds", "route"),
        graph(
            "Open connections",
            Query("sum by (instance) (warren_api_connections)", "{{instance}}"),
            width=8,
        ),
    ),
)
