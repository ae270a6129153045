"""Topic: who consumes it, and how far they are behind."""

from __future__ import annotations

from warren_dashboards import figures, links
from warren_dashboards.dashboard import CLUSTER, TOPIC, Dashboard
from warren_dashboards.figures import Scope
from warren_dashboards.panel import LATE, LOSS, NONE_IS_BEST, Query, graph, section, stat, table

_CHOSEN = 'cluster="$cluster",topic="$topic"'
_GROUPS = Scope("topic", _CHOSEN, ("group",))
_PARTITIONS = Scope("partition", _CHOSEN, ("group", "partition"))

TOPIC_DASHBOARD = Dashboard(
    links.TOPIC,
    "Warren: topic",
    "The groups that consume a topic. A click on a group leads to it.",
    (CLUSTER, TOPIC),
    (
        stat("Groups", f"count({_GROUPS.largest('lag')})", width=4),
        stat(
            "Latest group",
            f"max({_GROUPS.largest('freshness_seconds')})",
            unit="s",
            width=4,
            steps=LATE,
            about=figures.LATE_MEANS,
        ),
        stat("Most lag, records", f"max({_GROUPS.largest('lag')})", width=4),
        stat(
            "Next loss of data",
            f"min({_PARTITIONS.smallest('time_to_loss_seconds')})",
            unit="s",
            width=4,
            steps=LOSS,
            about="Nothing here: nothing that a group has not consumed will be deleted",
        ),
        stat(
            "Produced a second",
            f"max({_GROUPS.largest('produce_rate')})",
            unit="cps",
            width=4,
            about="In the partitions that the group consumes that consumes most of them",
        ),
        stat(
            "Groups that are late",
            f"count({_GROUPS.largest('freshness_seconds')} > {LATE[1][1]}) or vector(0)",
            width=4,
            steps=NONE_IS_BEST,
        ),
        table(
            "Groups that consume it",
            figures.late_column(_GROUPS),
            figures.lag_column(_GROUPS),
            figures.produced_column(_GROUPS),
            figures.consumed_column(_GROUPS),
            to={"group": links.to_group_here(of_row=True)},
            height=8,
        ),
        figures.late(_GROUPS, links.to_group_here()),
        figures.lag(_GROUPS, links.to_group_here()),
        figures.rates(_GROUPS, links.to_group_here()),
        section("Partitions"),
        figures.late(_PARTITIONS, links.to_group_here(), title="Latest partitions"),
        figures.lag(_PARTITIONS, links.to_group_here(), title="Partitions with most lag, records"),
        figures.until_loss(_PARTITIONS, links.to_group_here()),
        graph(
            "Share of the lag that is in one partition",
            Query(
                f"max by (group) ({_PARTITIONS.largest('lag')})"
                f" / (sum by (group) ({_PARTITIONS.largest('lag')}) > 0)",
                "{{group}}",
            ),
            unit="percentunit",
            most=1,
            to=(links.to_group_here(),),
            about="Near to 1 one partition is behind alone: a hot key, or a consumer that is stuck",
        ),
    ),
)
