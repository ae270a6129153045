"""Stat: one figure, coloured by what it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warren_dashboards.panel import PLAIN, Colour, Json, Panel, Query, Steps, Unit, thresholds

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
