"""Variables: what is chosen above a dashboard's panels."""

from __future__ import annotations

from dataclasses import dataclass

from warren_dashboards.panel import SOURCE, Json


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
