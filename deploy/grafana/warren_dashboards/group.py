"""Group: one consumer group, its topics and its partitions."""

from __future__ import annotations

from warren_dashboards import figures, links
from warren_dashboards.dashboard import CLUSTER, GROUP, TOPICS_OF_GROUP, Dashboard
from warren_dashboards.figures import Scope
from warren_dashboards.panel import (
    BY_STATUS,
    LATE,
    LOSS,
    NONE_IS_BEST,
    NONE_IS_GOOD,
    OLD,
    STATUSES,
    Query,
    graph,
    section,
    stat,
    table,
)

_CHOSEN = 'cluster="$cluster",group="$group"'
_GROUP = Scope("group", _CHOSEN, ("cluster", "group"))
_TOPICS = Scope("topic", f'{_CHOSEN},topic=~"$topic"', ("topic",))
_PARTITIONS = Scope("partition", f'{_CHOSEN},topic=~"$topic"', ("topic", "partition"))

GROUP_DASHBOARD = Dashboard(
    links.GROUP,
    "Warren: consumer group",
    "One consumer group. A click on a topic leads to it.",
    (CLUSTER, GROUP, TOPICS_OF_GROUP),
    (
        stat("Status", _GROUP.status, meanings=STATUSES),
        stat(
            "Late",
            _GROUP.largest("freshness_seconds"),
            unit="s",
            steps=LATE,
            about=figures.LATE_MEANS,
        ),
        stat("Lag, records", _GROUP.largest("lag")),
        stat(
            "Until loss of data",
            _GROUP.smallest("time_to_loss_seconds"),
            unit="s",
            steps=LOSS,
            about="Nothing here: nothing that it has not consumed will be deleted",
        ),
        stat("Lost records", _GROUP.largest("lost_records"), steps=NONE_IS_GOOD),
        stat(
            "Catches up in",
            _GROUP.largest("time_to_catch_up_seconds"),
            unit="s",
            about="At the rates of now; nothing here: it will not, or nobody knows",
        ),
        stat(
            "In trouble for",
            f"{_GROUP.largest('open_incident_seconds')} or vector(0)",
            unit="s",
            steps=NONE_IS_GOOD,
        ),
        stat(
            "Limits not kept",
            "count(count by (objective, limit) "
            f"(warren_evaluator_objective_broken_timestamp_seconds{{{_CHOSEN}}})) or vector(0)",
            steps=NONE_IS_BEST,
            about="Of its objectives",
        ),
        section("Topics"),
        table(
            "Topics",
            figures.late_column(_TOPICS),
            figures.lag_column(_TOPICS),
            figures.produced_column(_TOPICS),
            figures.consumed_column(_TOPICS),
            to={"topic": links.to_topic(of_row=True)},
            height=8,
        ),
        figures.late(_TOPICS, links.to_topic()),
        figures.lag(_TOPICS, links.to_topic()),
        figures.rates(_TOPICS, links.to_topic()),
        graph(
            "Partitions by status",
            Query(
                f"max by (status) (warren_group_partitions{{{_CHOSEN}}})",
                "{{status}}",
            ),
            stacked=True,
            colours=BY_STATUS,
        ),
        section("Partitions"),
        figures.late(_PARTITIONS, title="Latest partitions"),
        figures.lag(_PARTITIONS, title="Partitions with most lag, records"),
        figures.until_loss(_PARTITIONS),
        graph(
            "What is left of the retention",
            Query(_PARTITIONS.least("retention_left_ratio"), _PARTITIONS.legend),
            unit="percentunit",
            steps=(("red", None), ("yellow", 0.25), ("green", 0.5)),
            most=1,
            about="Before the oldest record that was not consumed may be deleted",
        ),
        section("Whether to believe it"),
        stat(
            "Judged before",
            f"time() - {_GROUP.largest('evaluated_timestamp_seconds')}",
            unit="s",
            width=6,
            steps=OLD,
        ),
        stat(
            "Measured before",
            f"time() - {_GROUP.largest('freshness_measured_timestamp_seconds')}",
            unit="s",
            width=6,
            steps=OLD,
        ),
        stat(
            "Partitions of unknown lateness",
            _GROUP.largest("freshness_unknown_partitions"),
            width=6,
            steps=NONE_IS_BEST,
        ),
        stat(
            "Cluster is read",
            'max by (cluster) (warren_cluster_state{cluster="$cluster",state="ok"})',
            width=6,
            meanings={0: ("no", "red"), 1: ("yes", "green")},
        ),
    ),
)
