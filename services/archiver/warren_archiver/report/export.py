"""A report's figures as files for other programs."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from warren_archiver.report.group_report import (
    STATUSES,
    Budget,
    GroupReport,
    Incident,
    Outlook,
    Report,
)

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_KINDS = {"groups": GroupReport, "incidents": Incident, "budgets": Budget}


def write_csv(report: Report, folder: Path) -> list[Path]:
    """`groups.csv`, `incidents.csv`, `budgets.csv`; which files were written. Raises OSError.

    A text that a spreadsheet would take for a formula has an apostrophe before it (OWASP, "CSV
    injection"): anybody who may join a group chooses its name.
    """
    files = []
    for name, kind in _KINDS.items():
        columns = list(_columns(kind))
        rows: Iterable[Any] = getattr(report, name)
        files.append(folder / f"{name}.csv")
        with files[-1].open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow([title for title, *_ in columns])
            writer.writerows([_value(row, *of) for _, *of in columns] for row in rows)
    return files


def _columns(kind: type[Any]) -> Iterator[tuple[str, str, str]]:
    """Titles, a dataclass's fields, and what of such a field, where it has several figures."""
    for name in (each.name for each in fields(kind)):
        if name == "held_ms":
            yield from ((f"held_ms_{each.lower()}", name, each) for each in STATUSES)
        elif name == "outlook":
            yield from ((f"outlook_{each.name}", name, each.name) for each in fields(Outlook))
        elif name != "lag_over_time":
            yield name, name, ""


def _value(row: Any, name: str, key: str) -> Any:
    value = getattr(row, name)
    if name == "also":
        value = "; ".join(each.sentence for each in value)
    elif key:
        value = value[key] if name == "held_ms" else getattr(value, key, None)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
