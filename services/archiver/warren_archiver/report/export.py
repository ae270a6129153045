"""A report's figures as files for other programs."""

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any

from warren_archiver.report.group_report import STATUSES, Budget, GroupReport, Outlook, Report
from warren_archiver.report.incident import Incident

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_KINDS = {"groups": GroupReport, "incidents": Incident, "budgets": Budget}
Column = tuple[str, Callable[[Any], Any]]


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
            writer.writerow([column for column, _ in columns])
            writer.writerows([_as_text(of(row)) for _, of in columns] for row in rows)
    return files


def _as_text(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _columns(kind: type[Any]) -> Iterator[Column]:
    """Of a dataclass's fields, those of others in it beside its own."""
    for name in (each.name for each in fields(kind)):
        if name == "held_ms":
            yield from ((f"held_ms_{each.lower()}", _held(each)) for each in STATUSES)
        elif name == "outlook":
            yield from ((f"outlook_{each.name}", _ahead(each.name)) for each in fields(Outlook))
        elif name == "also":
            yield name, lambda row: "; ".join(each.sentence for each in row.also)
        elif name != "lag_over_time":
            yield name, attrgetter(name)


def _held(status: str) -> Callable[[Any], Any]:
    return lambda group: group.held_ms[status]


def _ahead(name: str) -> Callable[[Any], Any]:
    return lambda group: getattr(group.outlook, name, None)
