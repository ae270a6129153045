"""Plots as SVG, by Vega-Lite and without a network: the same figures give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import vl_convert
from warren.words import visible

from warren_archiver.report.group_report import GroupReport, Report

MOST_GROUPS = 20
"""In a timeline."""
COLOURS = {"OK": "#2da44e", "WARN": "#d4a72c", "ERR": "#cf222e"}
_INK, _LINE, _BLUE = "#57606a", "#d8dee4", "#0969da"
_CONFIG: dict[str, Any] = {
    "font": "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif",
    "background": None,
    "view": {"stroke": None},
    "axis": {
        "labelColor": _INK,
        "titleColor": _INK,
        "titleFontWeight": "normal",
        "gridColor": _LINE,
        "domainColor": _LINE,
        "tickColor": _LINE,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "labelLimit": 180,
    },
    "legend": {"labelColor": _INK, "title": None, "orient": "top", "labelFontSize": 11},
}
_WIDTH = 880
_NAMES = 190  # pixels for groups' names: Vega does not know the reader's font


def timeline(report: Report) -> str:
    """When which group was not OK; empty when none was."""
    start, end = report.period.start_ms, report.period.end_ms
    names = _names(report.groups)
    shown: list[tuple[str, str]] = []
    for group in report.groups:
        if group.held_ms["ERR"] or group.held_ms["WARN"]:
            shown.append((group.cluster, group.group))
    shown = shown[:MOST_GROUPS]
    values = [
        {
            "group": names[each.cluster, each.group],
            "from": max(each.opened_ms, start),
            "to": min(each.closed_ms or end, end),
            "worst": each.worst,
        }
        for each in report.incidents
        if (each.cluster, each.group) in shown
    ]
    if not values:
        return ""
    order = [names[key] for key in shown if any(v["group"] == names[key] for v in values)]
    time = _time(start, end, grid=True)
    return _svg(
        {
            "width": _WIDTH - _NAMES - 20,
            "height": {"step": 22},
            "data": {"values": values},
            "mark": {"type": "bar", "cornerRadius": 2, "height": 12},
            "encoding": {
                "y": {
                    "field": "group",
                    "type": "nominal",
                    "sort": order,
                    "axis": {"title": None, "minExtent": _NAMES, "maxExtent": _NAMES},
                },
                "x": {"field": "from", **time},
                "x2": {"field": "to"},
                "color": {
                    "field": "worst",
                    "type": "nominal",
                    "scale": {
                        "domain": ["ERR", "WARN"],
                        "range": [COLOURS["ERR"], COLOURS["WARN"]],
                    },
                },
            },
        }
    )


def lag(report: Report, group: GroupReport) -> str:
    """How far a group was behind, and when it was not OK."""
    start, end = report.period.start_ms, report.period.end_ms
    trouble = [
        {
            "from": max(each.opened_ms, start),
            "to": min(each.closed_ms or end, end),
            "worst": each.worst,
        }
        for each in report.incidents
        if (each.cluster, each.group) == (group.cluster, group.group)
    ]
    points = [{"at": at, "lag": value} for at, value in group.lag_over_time]
    x = _time(start, end, grid=False)
    colours = {"domain": ["ERR", "WARN"], "range": [COLOURS["ERR"], COLOURS["WARN"]]}
    shade = {
        "data": {"values": trouble},
        "mark": {"type": "rect", "opacity": 0.13},
        "encoding": {
            "x": {"field": "from", **x},
            "x2": {"field": "to"},
            "color": {"field": "worst", "type": "nominal", "scale": colours, "legend": None},
        },
    }
    area = {
        "data": {"values": points},
        "mark": {
            "type": "area",
            "interpolate": "monotone",
            "line": {"color": _BLUE, "strokeWidth": 1.5},
            "color": _BLUE,
            "fillOpacity": 0.12,
        },
        "encoding": {
            "x": {"field": "at", **x},
            "y": {
                "field": "lag",
                "type": "quantitative",
                "axis": {"title": None, "format": "~s", "tickCount": 4, "minExtent": 44},
            },
        },
    }
    return _svg({"width": _WIDTH - 70, "height": 110, "layer": [shade, area]})


def _names(groups: Sequence[GroupReport]) -> Mapping[tuple[str, str], str]:
    """With the cluster where there are several."""
    clusters = {each.cluster for each in groups}
    return {
        (each.cluster, each.group): visible(
            each.group if len(clusters) == 1 else f"{each.group} ({each.cluster})"
        )
        for each in groups
    }


def _time(start: int, end: int, *, grid: bool) -> dict[str, Any]:
    day_ms = 86_400_000
    if end - start > 3 * day_ms:
        written = "%a %d %b"
    else:
        written = "%H:%M" if end - start <= day_ms else "%d %b %H:%M"
    axis = {
        "title": None,
        "grid": grid,
        "format": written,
        "tickCount": 6,
        "labelOverlap": "greedy",
        "labelFlush": False,
        "labelSeparation": 24,
    }
    scale = {"type": "utc", "domain": [start, end], "nice": False}
    return {"type": "temporal", "scale": scale, "axis": axis}


def _svg(plot: dict[str, Any]) -> str:
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "config": _CONFIG,
        "padding": 4,
        **plot,
    }
    svg: str = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    return svg.replace("<svg ", '<svg role="img" ', 1)
