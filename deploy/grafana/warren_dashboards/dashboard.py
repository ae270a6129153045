"""Dashboard: panels set out from left to right, below each other, and what stands above them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warren_dashboards.panel import Json, Panel
from warren_dashboards.variables import Variable

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
