"""Panel: what every kind of panel has, and its JSON as Grafana 10 and newer read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any, Literal, NamedTuple

Json = dict[str, Any]
Unit = Literal["short", "s", "percentunit", "Bps", "cps", "reqps", "bytes", "dateTimeFromNow"]
Colour = Literal["green", "yellow", "orange", "red", "purple", "blue", "text"]
Steps = Sequence[tuple[Colour, float | None]]
"""From which value on which colour; None: below all others."""

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
"""Chosen on the dashboard: no installation's own name stands here."""

PLAIN: Steps = (("text", None),)
NONE_IS_GOOD: Steps = (("green", None), ("red", 1))
NONE_IS_BEST: Steps = (("green", None), ("yellow", 1))
LATE: Steps = (("green", None), ("yellow", 300), ("red", 900))
"""Seconds. 900 is what WarrenGroupLate has: how late is too late is for its owner to say."""
LOSS: Steps = (("red", None), ("yellow", 3600), ("green", 6 * 3600))
"""Seconds that are left. An hour is what WarrenDataLossNear has."""
OLD: Steps = (("green", None), ("yellow", 60), ("red", 120))
"""Seconds since something that happens every few seconds."""


class Query(NamedTuple):
    """What Prometheus is asked. `legend` names each series by its labels."""

    expression: str
    legend: str = ""


class Link(NamedTuple):
    """Where a click leads: another dashboard, told by the labels of what was clicked on."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Panel:
    """`field_config` and `options` are the kind's own."""

    title: str
    kind: Literal["stat", "timeseries", "table", "row"]
    width: int
    height: int
    queries: tuple[Query, ...] = ()
    about: str = ""
    field_config: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    transformations: tuple[Json, ...] = ()

    def render(self, number: int, x: int, y: int) -> Json:
        """`number` tells it from the other panels of a dashboard."""
        place = {"x": x, "y": y, "w": self.width, "h": self.height}
        head: Json = {"id": number, "title": self.title, "type": self.kind, "gridPos": place}
        if self.kind == "row":
            return {**head, "collapsed": False, "panels": []}
        return {
            **head,
            **({"description": self.about} if self.about else {}),
            "datasource": SOURCE,
            "targets": [
                self._target(ascii_uppercase[place], query)
                for place, query in enumerate(self.queries)
            ],
            "fieldConfig": self.field_config,
            "options": self.options,
            **({"transformations": list(self.transformations)} if self.transformations else {}),
        }

    def _target(self, letter: str, query: Query) -> Json:
        target: Json = {
            "refId": letter,
            "datasource": SOURCE,
            "expr": query.expression,
            "legendFormat": query.legend,
        }
        if self.kind == "timeseries":
            return {**target, "range": True}
        return {
            **target,
            "instant": True,
            **({"format": "table"} if self.kind == "table" else {}),
        }


def section(title: str) -> Panel:
    """A line across, above the panels that follow."""
    return Panel(title, "row", 24, 1)


def thresholds(steps: Steps) -> Json:
    return {
        "mode": "absolute",
        "steps": [{"color": colour, "value": value} for colour, value in steps],
    }


def links(found: Sequence[Link]) -> list[Json]:
    return [{"title": link.title, "url": link.url} for link in found]
