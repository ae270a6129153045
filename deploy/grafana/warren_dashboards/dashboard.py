"""Dashboard: what is chosen above it, and its panels from left to right, below each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warren_dashboards.panel import SOURCE, Json, Panel


@dataclass(frozen=True, slots=True)
class Variable:
    """A label's values, as `metric` has them. `several`: more than one, and all, may be chosen."""

    label: str
    title: str
    metric: str
    several: bool = False

    def render(self) -> Json:
        query = f"label_values({self.metric}, {self.label})"
        several: Json = {
            "multi": True,
            "includeAll": True,
            "allValue": ".*",
            "current": {"text": ["All"], "value": ["$__all"]},
        }
        one: Json = {"multi": False, "includeAll": False, "current": {}}
        return {
            "name": self.label,
            "label": self.title,
            "type": "query",
            "datasource": SOURCE,
            "query": {"query": query, "refId": "A"},
            "definition": query,
            "refresh": 2,
            "sort": 1,
            **(several if self.several else one),
        }


CLUSTERS = Variable("cluster", "Cluster", "warren_group_lag", several=True)
GROUPS = Variable("group", "Group", 'warren_group_lag{cluster=~"$cluster"}', several=True)
CLUSTER = Variable("cluster", "Cluster", "warren_group_lag")
GROUP = Variable("group", "Group", 'warren_group_lag{cluster="$cluster"}')
TOPIC = Variable("topic", "Topic", 'warren_topic_lag{cluster="$cluster"}')
TOPICS_OF_GROUP = Variable(
    "topic", "Topic", 'warren_topic_lag{cluster="$cluster",group="$group"}', several=True
)
WATCHED = Variable("cluster", "Cluster", "warren_cluster_state", several=True)


SCHEMA = 38  # of Grafana 10.0; newer ones take it further by themselves
COLUMNS = 24
TAG = "warren"

_SOURCE: Json = {
    "name": "datasource",
    "label": "Prometheus",
    "type": "datasource",
    "query": "prometheus",
    "current": {},
}
_OTHERS: Json = {
    "title": "Warren",
    "tooltip": "",
    "type": "dashboards",
    "tags": [TAG],
    "asDropdown": False,
    "includeVars": True,
    "keepTime": True,
    "targetBlank": False,
    "icon": "external link",
    "url": "",
}


@dataclass(frozen=True, slots=True)
class Dashboard:
    uid: str
    title: str
    about: str
    variables: tuple[Variable, ...]
    panels: tuple[Panel, ...]

    def render(self) -> Json:
        return {
            "uid": self.uid,
            "title": self.title,
            "description": self.about,
            "tags": ["kafka", TAG],
            "timezone": "browser",
            "schemaVersion": SCHEMA,
            "version": 1,
            "editable": True,
            "graphTooltip": 1,
            "refresh": "30s",
            "time": {"from": "now-3h", "to": "now"},
            "annotations": {"list": []},
            "links": [_OTHERS],
            "templating": {"list": [_SOURCE, *(each.render() for each in self.variables)]},
            "panels": list(self._placed()),
        }

    def _placed(self) -> Iterator[Json]:
        """A panel that has no room beside the one before begins a new line."""
        x = y = height = 0
        for number, panel in enumerate(self.panels, start=1):
            if x + panel.width > COLUMNS:
                x, y, height = 0, y + height, 0
            yield panel.render(number, x, y)
            x, height = x + panel.width, max(height, panel.height)
