"""Links: from one dashboard to the next, with what was clicked on, source and time as they are."""

from __future__ import annotations

from warren_dashboards.panel import Link

OVERVIEW, GROUP, TOPIC, CAPACITY, ITSELF = (
    "warren-groups",  # what the only dashboard was called once: bookmarks stay
    "warren-group",
    "warren-topic",
    "warren-capacity",
    "warren-itself",
)
_KEPT = "var-datasource=${datasource}&${__url_time_range}"


def _label(name: str, *, of_row: bool) -> str:
    """A label's value: of a table's row, or of a series."""
    place = "__data.fields" if of_row else "__field.labels"
    return f"var-{name}=${{{place}.{name}:percentencode}}"


def to_group(*, of_row: bool = False) -> Link:
    labels = f"{_label('cluster', of_row=of_row)}&{_label('group', of_row=of_row)}"
    return Link("Show the group", f"/d/{GROUP}?{labels}&{_KEPT}")


def to_topic(*, of_row: bool = False) -> Link:
    """On a dashboard that is about one cluster."""
    chosen = "var-cluster=${cluster:percentencode}"
    return Link("Show the topic", f"/d/{TOPIC}?{chosen}&{_label('topic', of_row=of_row)}&{_KEPT}")


def to_group_here(*, of_row: bool = False) -> Link:
    """The same as `to_group`, on a dashboard that is about one cluster."""
    chosen = "var-cluster=${cluster:percentencode}"
    return Link("Show the group", f"/d/{GROUP}?{chosen}&{_label('group', of_row=of_row)}&{_KEPT}")
