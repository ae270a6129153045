"""Overview: how it stands with all groups, and which of them to look at first."""

from __future__ import annotations

from warren_dashboards import figures, links
from warren_dashboards.dashboard import CLUSTERS, GROUPS, Dashboard
from warren_dashboards.figures import Scope, clusters
from warren_dashboards.panel import (
    BY_STATUS,
    LATE,
    LOSS,
    NONE_IS_BEST,
    NONE_IS_GOOD,
    Column,
    Query,
    graph,
    section,
    stat,
    table,
)

_CHOSEN = 'cluster=~"$cluster",group=~"$group"'
_GROUPS = Scope("group", _CHOSEN, ("cluster", "group"))
_TOPICS = Scope("topic", _CHOSEN, ("cluster", "group", "topic"))
_NOT_KEPT = (
    "count(count by (cluster, group) "
    f"(warren_evaluator_objective_broken_timestamp_seconds{{{_CHOSEN}}})) or vector(0)"
)

OVERVIEW = Dashboard(
    links.OVERVIEW,
    "Warren: consumer groups",
    "How it stands with all groups. A click on a group leads to it.",
    (CLUSTERS, GROUPS),
    (
        stat("In error", _GROUPS.with_status("ERR"), steps=NONE_IS_GOOD),
        stat("Warning", _GROUPS.with_status("WARN"), steps=NONE_IS_BEST),
        stat("Unknown", _GROUPS.with_status("UNKNOWN"), steps=NONE_IS_BEST),
        stat("Fine", _GROUPS.with_status("OK"), steps=(("green", None),)),
        stat(
            "Break objectives",
            _NOT_KEPT,
            steps=NONE_IS_BEST,
            about="Groups that do not keep some objective",
        ),
        stat(
            "Latest group",
            f"max({_GROUPS.largest('freshness_seconds')})",
            unit="s",
            steps=LATE,
            about=figures.LATE_MEANS,
        ),
        stat(
            "Next loss of data",
            f"min({_GROUPS.smallest('time_to_loss_seconds')})",
            unit="s",
            steps=LOSS,
        ),
        stat(
            "Lost records",
            f"sum({_GROUPS.largest('lost_records')})",
            steps=NONE_IS_GOOD,
            about="Deleted before they were consumed",
        ),
        table(
            "Groups",
            figures.status_column(_GROUPS),
            figures.late_column(_GROUPS),
            figures.lag_column(_GROUPS),
            figures.loss_column(_GROUPS),
            figures.catch_up_column(_GROUPS),
            Column("in trouble for", _GROUPS.largest("open_incident_seconds"), "s"),
            to={"group": links.to_group(of_row=True)},
        ),
        section("Over time"),
        figures.late(_GROUPS, links.to_group()),
        figures.lag(_GROUPS, links.to_group()),
        graph(
            "Groups by status",
            Query(
                "sum by (status) (max by (cluster, group, status) "
                f"(warren_group_status{{{_CHOSEN}}}))",
                "{{status}}",
            ),
            stacked=True,
            colours=BY_STATUS,
        ),
        figures.until_loss(_GROUPS, links.to_group()),
        figures.lag(_TOPICS, links.to_group(), title="Lag by topic, records"),
        graph(
            "Groups that change between OK and trouble, changes in half an hour",
            Query(
                "topk(20, max by (cluster, group) "
                f'(changes(warren_group_status{{status="OK",{_CHOSEN}}}[30m])))',
                _GROUPS.legend,
            ),
            steps=(("green", None), ("yellow", 6)),
            to=(links.to_group(),),
            about="From 6 on it is told as flapping",
        ),
        section("Where they are"),
        clusters(),
    ),
)
