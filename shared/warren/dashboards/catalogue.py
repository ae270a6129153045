"""Catalogue: all dashboards, by the names of their files."""

from __future__ import annotations

from warren.dashboards.capacity import CAPACITY
from warren.dashboards.dashboard import Dashboard
from warren.dashboards.group import GROUP_DASHBOARD
from warren.dashboards.itself import ITSELF
from warren.dashboards.overview import OVERVIEW
from warren.dashboards.topic import TOPIC_DASHBOARD
from warren.reference.schemas import render

CATALOGUE: dict[str, Dashboard] = {
    "overview": OVERVIEW,
    "group": GROUP_DASHBOARD,
    "topic": TOPIC_DASHBOARD,
    "capacity": CAPACITY,
    "warren-itself": ITSELF,
}


def pages() -> dict[str, str]:
    """File contents by path below deploy/grafana/."""
    return {f"{name}.json": render(each.render()) for name, each in CATALOGUE.items()}
