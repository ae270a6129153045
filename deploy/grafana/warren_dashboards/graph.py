"""Graph: series over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warren_dashboards.panel import (
    PLAIN,
    Colour,
    Json,
    Link,
    Panel,
    Query,
    Steps,
    Unit,
    links,
    thresholds,
)

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
