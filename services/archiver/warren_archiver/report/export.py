"""A report's figures as files for other programs."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb

from warren_archiver.report.group_report import (
    STATUSES,
    Budget,
    GroupReport,
    Incident,
    Outlook,
    Report,
)

_NESTED = ("lag_over_time",)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_OUTLOOK = {each.name: None for each in dataclasses.fields(Outlook)}


def write_csv(report: Report, folder: Path) -> list[Path]:
    """`groups.csv`, `incidents.csv`, `budgets.csv`; which files were written. Raises OSError.

    A text that a spreadsheet would take for a formula has an apostrophe before it (OWASP, "CSV
    injection"): anybody who may join a group chooses its name.
    """
    return _write(report, folder, _as_text)


def _as_text(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _write(report: Report, folder: Path, shown: Callable[[Any], Any]) -> list[Path]:
    written = []
    for name, rows in _tables(report).items():
        file = folder / f"{name}.csv"
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(rows[0] if rows else _names(name))
            writer.writerows([map(shown, row.values()) for row in rows])
        written.append(file)
    return written


def write_parquet(report: Report, folder: Path) -> list[Path]:
    """The same as Parquet. Raises OSError."""
    written = []
    with duckdb.connect() as database:
        for source in _write(report, folder, lambda value: value):
            file = source.with_suffix(".parquet")
            target = str(file).replace("'", "''")
            # Told what it is: it would guess otherwise.
            found = database.read_csv(
                str(source), header=True, sep=",", quotechar='"', escapechar='"'
            )
            found.create_view("rows", replace=True)
            try:
                database.execute(f"COPY rows TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
            except duckdb.IOException as problem:
                raise OSError(str(problem)) from problem
            source.unlink()
            written.append(file)
    return written


def _names(table: str) -> list[str]:
    """Columns of a table that has no rows."""
    kind = {"groups": GroupReport, "incidents": Incident, "budgets": Budget}[table]
    nothing = dict.fromkeys(each.name for each in dataclasses.fields(kind))
    if "held_ms" in nothing:
        nothing["held_ms"] = dict.fromkeys(STATUSES)
    return list(_columns(nothing))


def _tables(report: Report) -> dict[str, list[dict[str, Any]]]:
    return {
        "groups": [_flat(group) for group in report.groups],
        "incidents": [_flat(each) for each in report.incidents],
        "budgets": [_flat(each) for each in report.budgets],
    }


def _flat(found: Any) -> dict[str, Any]:
    """A dataclass's fields, those of others in it beside its own."""
    return _columns(dataclasses.asdict(found))


def _columns(fields: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in fields.items():
        if name in _NESTED:
            continue
        inner = _OUTLOOK if name == "outlook" and value is None else value
        if name == "also":
            row[name] = "; ".join(each["sentence"] for each in value or ())
        elif isinstance(inner, dict):
            row |= {f"{name}_{own.lower()}": each for own, each in inner.items()}
        else:
            row[name] = value
    return row
