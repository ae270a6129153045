"""A report's figures as files for other programs."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any

import duckdb

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
    return [_write(report, folder, name, _as_text) for name in _KINDS]


def write_parquet(report: Report, folder: Path) -> list[Path]:
    """The same as Parquet. Raises OSError."""
    return [_as_parquet(_write(report, folder, name, lambda value: value)) for name in _KINDS]


def _as_text(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _write(report: Report, folder: Path, name: str, shown: Callable[[Any], Any]) -> Path:
    columns = list(_columns(_KINDS[name]))
    rows: Iterable[Any] = getattr(report, name)
    file = folder / f"{name}.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([column for column, _ in columns])
        writer.writerows([shown(of(row)) for _, of in columns] for row in rows)
    return file


def _as_parquet(source: Path) -> Path:
    file = source.with_suffix(".parquet")
    with duckdb.connect() as database:
        # Told what it is: it would guess otherwise.
        rows = database.read_csv(str(source), header=True, sep=",", quotechar='"', escapechar='"')
        try:
            rows.write_parquet(str(file), compression="zstd")
        except duckdb.IOException as problem:
            raise OSError(str(problem)) from problem
    source.unlink()
    return file


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
