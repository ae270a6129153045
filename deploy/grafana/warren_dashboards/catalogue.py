"""Catalogue: all dashboards, by the names of their files."""

from __future__ import annotations

import json

from warren_dashboards.capacity import CAPACITY
from warren_dashboards.dashboard import Dashboard
from warren_dashboards.group import GROUP_DASHBOARD
from warren_dashboards.itself import ITSELF
from warren_dashboards.overview import OVERVIEW
from warren_dashboards.topic import TOPIC_DASHBOARD

CATALOGUE: dict[str, Dashboard] = {
    "overview": OVERVIEW,
    "group": GROUP_DASHBOARD,
    "topic": TOPIC_DASHBOARD,
    "capacity": CAPACITY,
    "warren-itself": ITSELF,
}


def pages() -> dict[str, str]:
    """File contents by path below deploy/grafana/."""
    return {
        f"{name}.json": json.dumps(each.render(), indent=2, ensure_ascii=False) + "\n"
        for name, each in CATALOGUE.items()
    }
