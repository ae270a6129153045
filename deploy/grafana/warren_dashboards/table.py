"""Table: a row for each set of labels, a column for each question that is asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any, NamedTuple

from warren_dashboards.panel import (
    PLAIN,
    Json,
    Link,
    Panel,
    Query,
    Steps,
    Unit,
    links,
    thresholds,
)
from warren_dashboards.stat import Meanings, mapping


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
