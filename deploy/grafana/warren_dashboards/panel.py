"""Panels as Grafana 10 and newer read them: a figure, series over time, a table."""

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


Meanings = Mapping[int, tuple[str, Colour]]
"""What a number stands for."""

STATUSES: Meanings = {
    0: ("OK", "green"),
    1: ("UNKNOWN", "purple"),
    2: ("WARN", "yellow"),
    3: ("ERR", "red"),
}
"""Of a group, worse ones larger: `figures.status` gives them."""
YES_NO: Meanings = {0: ("no", "red"), 1: ("yes", "green")}


def stat(
    title: str,
    expression: str,
    *,
    unit: Unit = "short",
    width: int = 3,
    steps: Steps = PLAIN,
    meanings: Meanings | None = None,
    about: str = "",
) -> Panel:
    defaults: dict[str, Any] = {
        "unit": unit,
        "thresholds": thresholds(steps),
        "color": {"mode": "thresholds"},
    }
    if meanings:
        defaults["mappings"] = [mapping(meanings)]
    return Panel(
        title,
        "stat",
        width,
        4,
        (Query(expression),),
        about,
        {"defaults": defaults, "overrides": []},
        {
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
            "colorMode": "value",
            "graphMode": "none",
            "textMode": "value",
        },
    )


def mapping(meanings: Meanings) -> Json:
    return {
        "type": "value",
        "options": {
            str(value): {"text": text, "color": colour, "index": place}
            for place, (value, (text, colour)) in enumerate(meanings.items())
        },
    }


BY_STATUS: Mapping[str, Colour] = {
    "OK": "green",
    "UNKNOWN": "purple",
    "WARN": "yellow",
    "ERR": "red",
    "STOP": "red",
    "STALL": "orange",
    "REWIND": "blue",
}


def graph(
    title: str,
    *queries: Query,
    unit: Unit = "short",
    width: int = 12,
    steps: Steps = PLAIN,
    stacked: bool = False,
    colours: Mapping[str, Colour] | None = None,
    to: Sequence[Link] = (),
    about: str = "",
    most: float | None = None,
) -> Panel:
    """`steps` are drawn as lines, `colours` are of series by their names, `most`: the axis ends."""
    custom: Json = {
        "drawStyle": "line",
        "lineWidth": 1,
        "fillOpacity": 25 if stacked else 5,
        "showPoints": "never",
        "spanNulls": False,
        "stacking": {"mode": "normal" if stacked else "none", "group": "A"},
        "thresholdsStyle": {"mode": "off" if steps is PLAIN else "dashed"},
    }
    defaults: Json = {
        "unit": unit,
        "min": 0,
        "custom": custom,
        "color": {"mode": "palette-classic"},
        "thresholds": thresholds(steps),
    }
    if most is not None:
        defaults["max"] = most
    if to:
        defaults["links"] = links(to)
    return Panel(
        title,
        "timeseries",
        width,
        8,
        queries,
        about,
        {"defaults": defaults, "overrides": [_coloured(*each) for each in (colours or {}).items()]},
        {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
    )


def _coloured(name: str, colour: Colour) -> Json:
    return {
        "matcher": {"id": "byName", "options": name},
        "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}],
    }


class Column(NamedTuple):
    """A figure of each row. Colours where there are steps or meanings."""

    title: str
    expression: str
    unit: Unit = "short"
    steps: Steps = PLAIN
    meanings: Meanings | None = None


def table(
    title: str,
    *columns: Column,
    to: Mapping[str, Link] | None = None,
    descending: bool = True,
    width: int = 24,
    height: int = 10,
    about: str = "",
) -> Panel:
    """Sorted by the first column. `to`: where a click on a label's column leads."""
    letters = [f"Value #{letter}" for letter in ascii_uppercase[: len(columns)]]
    values = letters if len(columns) > 1 else ["Value"]
    titles = dict(zip(values, (column.title for column in columns), strict=True))
    return Panel(
        title,
        "table",
        width,
        height,
        tuple(Query(column.expression) for column in columns),
        about,
        {
            "defaults": {"custom": {"align": "auto", "filterable": True}},
            "overrides": [
                *(_shown(column) for column in columns),
                *(_leading(label, link) for label, link in (to or {}).items()),
            ],
        },
        {
            "showHeader": True,
            "footer": {"show": False, "enablePagination": True},
            "sortBy": [{"displayName": columns[0].title, "desc": descending}],
        },
        (
            {"id": "merge", "options": {}},
            {
                "id": "organize",
                "options": {"excludeByName": {"Time": True}, "renameByName": titles},
            },
        ),
    )


def _shown(column: Column) -> Json:
    properties: list[dict[str, Any]] = [{"id": "unit", "value": column.unit}]
    if column.meanings:
        properties.append({"id": "mappings", "value": [mapping(column.meanings)]})
    if column.meanings or column.steps is not PLAIN:
        properties += [
            {"id": "custom.cellOptions", "value": {"type": "color-text"}},
            {"id": "thresholds", "value": thresholds(column.steps)},
        ]
    return {"matcher": {"id": "byName", "options": column.title}, "properties": properties}


def _leading(label: str, link: Link) -> Json:
    return {
        "matcher": {"id": "byName", "options": label},
        "properties": [{"id": "links", "value": links([link])}],
    }
