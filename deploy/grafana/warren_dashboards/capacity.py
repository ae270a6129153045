"""Capacity: who will not keep up, and for how long Warren's own services still will."""

from __future__ import annotations

from warren_dashboards import figures, links
from warren_dashboards.dashboard import CLUSTERS, GROUPS, Dashboard
from warren_dashboards.figures import Scope
from warren_dashboards.panel import (
    LATE,
    NONE_IS_BEST,
    PLAIN,
    Column,
    Panel,
    Query,
    Steps,
    graph,
    section,
    stat,
    table,
)

_CHOSEN = 'cluster=~"$cluster",group=~"$group"'
_BY = ("cluster", "group")
_GROUPS = Scope("group", _CHOSEN, _BY)
_CONSUMED, _PRODUCED = _GROUPS.largest("consume_rate"), _GROUPS.largest("produce_rate")
_SHARE = f"{_CONSUMED} / ({_PRODUCED} > 0)"
_SLOWER = f"count(({_SHARE}) < 0.95) or vector(0)"
_BUSY: Steps = (("green", None), ("yellow", 0.7), ("red", 0.9))
_TO_GROUP = {"group": links.to_group(of_row=True)}


def _over(how: str, figure: str, span: str) -> str:
    return f"topk(20, max by (cluster, group) ({how}(warren_group_{figure}{{{_CHOSEN}}}[{span}])))"


def _busy(title: str, histogram: str, by: str, about: str) -> Panel:
    """The share of its time that something takes."""
    query = Query(f"sum by ({by}) (rate({histogram}_sum[5m]))", f"{{{{{by}}}}}")
    return graph(title, query, unit="percentunit", steps=_BUSY, width=8, about=about)


CAPACITY = Dashboard(
    links.CAPACITY,
    "Warren: capacity",
    "Groups that do not keep up, and how much of their time Warren's services are busy.",
    (CLUSTERS, GROUPS),
    (
        stat("Consumed a second", f"sum({_CONSUMED})", unit="cps", width=6),
        stat(
            "Slower than what is produced",
            _SLOWER,
            width=6,
            steps=NONE_IS_BEST,
            about="Groups that consume less than 95 % of it in the last minute",
        ),
        stat("Groups", f"count({_GROUPS.largest('lag')})", width=6),
        stat("Partitions of groups", "max(warren_api_partitions)", width=6),
        table(
            "What each group consumes of what is produced",
            Column(
                "share",
                _SHARE,
                "percentunit",
                (("red", None), ("yellow", 0.95), ("green", 1)),
            ),
            figures.produced_column(_GROUPS),
            figures.consumed_column(_GROUPS),
            figures.lag_column(_GROUPS),
            figures.catch_up_column(_GROUPS),
            descending=False,
            to=_TO_GROUP,
        ),
        graph(
            "Lag that comes, records a second",
            Query(_over("deriv", "lag", "30m"), _GROUPS.legend),
            unit="cps",
            to=(links.to_group(),),
            about="Over half an hour; what stays above 0 is never caught up",
        ),
        graph(
            "Until a group has caught up",
            Query(_GROUPS.most("time_to_catch_up_seconds"), _GROUPS.legend),
            unit="s",
            to=(links.to_group(),),
            about="At the rates of the moment; a group that never will is not here",
        ),
        table(
            "Worst of a day",
            Column("latest", _over("max_over_time", "freshness_seconds", "1d"), "s", LATE),
            Column("most lag", _over("max_over_time", "lag", "1d")),
            to=_TO_GROUP,
            width=12,
            height=8,
            about="What a group has to make up for at its peak: what to size it for",
        ),
        figures.until_loss(_GROUPS, links.to_group()),
        section("Warren's services, share of their time"),
        _busy(
            "Collector: ticks",
            "warren_collector_tick_seconds",
            "cluster",
            "Of one cluster, all its collectors together; start one more before a tick takes as "
            "long as `collector.interval`",
        ),
        _busy(
            "Evaluator: batches",
            "warren_evaluator_batch_seconds",
            "instance",
            "A worker that is busy all the time is behind: start one more",
        ),
        _busy(
            "Freshness: passes",
            "warren_freshness_pass_seconds",
            "cluster",
            "A pass may take `freshness.interval`: 10 s by default",
        ),
        graph(
            "Offset events a second",
            Query("sum(rate(warren_collector_events_total[5m]))", "published by collectors"),
            Query("sum(rate(warren_evaluator_events_total[5m]))", "judged"),
            unit="cps",
            width=8,
            about="Where fewer are judged than published, evaluators are behind",
        ),
        graph(
            "Bytes a second read from monitored clusters",
            Query("sum by (cluster) (rate(warren_freshness_read_bytes_total[5m]))", "{{cluster}}"),
            unit="Bps",
            width=8,
            about="By freshness; `freshness.pass_bytes` bounds it",
        ),
        graph(
            "Offsets topic: records that the collectors are behind",
            Query("max by (cluster) (warren_collector_backlog_records)", "{{cluster}}"),
            width=8,
            steps=(("green", None), ("red", 10_000)),
            about="WarrenCollectorBehind fires where it is above 10,000 for 10 min",
        ),
        graph(
            "Groups and partitions in the API",
            Query("max(warren_api_groups)", "groups"),
            Query("max(warren_api_partitions)", "partitions"),
            width=8,
            steps=PLAIN,
        ),
        graph(
            "Archived rows a second",
            Query("sum by (topic) (rate(warren_archiver_rows_total[1h]))", "{{topic}}"),
            unit="cps",
            width=8,
            stacked=True,
        ),
        graph(
            "Groups of each evaluator",
            Query("sum by (instance) (warren_evaluator_groups)", "{{instance}}"),
            width=8,
            stacked=True,
        ),
    ),
)
