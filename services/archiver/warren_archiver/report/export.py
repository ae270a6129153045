"""A report's figures as files for other programs."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from warren_archiver.report.group_report import Outlook, Report

_NESTED = ("lag_over_time",)
_OUTLOOK = {each.name: None for each in dataclasses.fields(Outlook)}


def write_csv(report: Report, folder: Path) -> list[Path]:
    """`groups.csv`, `incidents.csv`, `budgets.csv`; which files were written. Raises OSError."""
    written = []
    for name, rows in _tables(report).items():
        file = folder / f"{name}.csv"
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(_names(rows))
            writer.writerows([row.values() for row in rows])
        written.append(file)
    return written


def write_parquet(report: Report, folder: Path) -> list[Path]:
    """The same as Parquet."""
    written = []
    with duckdb.connect() as database:
        for source in write_csv(report, folder):
            file = source.with_suffix(".parquet")
            target = str(file).replace("'", "''")
            # Told what it is: it would guess otherwise.
            found = database.read_csv(
                str(source), header=True, sep=",", quotechar='"', escapechar='"'
            )
            found.create_view("rows", replace=True)
            database.execute(f"COPY rows TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
            source.unlink()
            written.append(file)
    return written


def _names(rows: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    return rows[0].keys() if rows else ()


def _tables(report: Report) -> dict[str, list[dict[str, Any]]]:
    return {
        "groups": [_flat(group) for group in report.groups],
        "incidents": [_flat(each) for each in report.incidents],
        "budgets": [_flat(each) for each in report.budgets],
    }


def _flat(found: Any) -> dict[str, Any]:
    """A dataclass's fields, those of others in it beside its own."""
    row: dict[str, Any] = {}
    for name, value in dataclasses.asdict(found).items():
        if name in _NESTED:
            continue
        inner = _OUTLOOK if name == "outlook" and value is None else value
        if isinstance(inner, dict):
            row |= {f"{name}_{own.lower()}": each for own, each in inner.items()}
        else:
            row[name] = value
    return row
