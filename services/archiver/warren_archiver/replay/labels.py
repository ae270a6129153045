"""Labels: what was really wrong, as somebody knows who was there, and how well it was told."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any, Self

from warren.errors import SettingsError
from warren.unread_file import why_unread

from warren_archiver.replay.incidents import GroupKey, Incident
from warren_archiver.report.period import Period, parse_moment

OPTION = "--labels"
_KEYS = {"cluster", "group", "from", "to", "what"}
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Label:
    """Groups that were in trouble from `start_ms` until before `end_ms`; None: the whole period."""

    cluster: re.Pattern[str]
    group: re.Pattern[str]
    start_ms: int | None
    end_ms: int | None

    @classmethod
    def of(cls, table: object, number: int) -> Self:
        """Raises SettingsError."""
        where = f"{OPTION}: fault {number}"
        if not isinstance(table, dict) or not isinstance(table.get("group"), str):
            raise SettingsError(where, 'names no group, such as group = "^orders$"')
        if unknown := table.keys() - _KEYS:
            known = ", ".join(sorted(_KEYS))
            raise SettingsError(where, f"has {sorted(unknown)[0]!r}, which is none of {known}")
        start, end = (_moment(table.get(name), f"{where}: {name}") for name in ("from", "to"))
        if start is not None and end is not None and start >= end:
            raise SettingsError(where, "ends before it begins")
        cluster, group = (_pattern(table.get(name, ""), where) for name in ("cluster", "group"))
        return cls(cluster, group, start, end)

    def matches(self, key: GroupKey) -> bool:
        return bool(self.cluster.search(key[0]) and self.group.search(key[1]))


@dataclass(frozen=True, slots=True)
class Score:
    """How well incidents told of labelled faults. An incident is false where none was."""

    faults: int
    found: int
    incidents: int
    false: int
    delay_median_ms: float | None
    """Until told, of those found; None where none was."""
    told: float
    """Share of the time of faults during which an incident was open; 1 where there was none."""
    flaps_per_100_h: float
    """Incidents beyond one a fault, in 100 hours of a group."""

    @property
    def precision(self) -> float:
        """Several incidents of one fault are flaps, not so many successes."""
        return self.found / (self.found + self.false) if self.incidents else 1.0

    @property
    def recall(self) -> float:
        return self.found / self.faults if self.faults else 1.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def labels_in(file: Path) -> list[Label]:
    """Its `[[fault]]` tables. Raises SettingsError."""
    try:
        tables = tomllib.loads(file.read_text()).get("fault", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(OPTION, f"{file}: {why_unread(error)}") from None
    if not isinstance(tables, list) or not tables:
        raise SettingsError(OPTION, f"{file} has no [[fault]]")
    return [Label.of(table, number) for number, table in enumerate(tables, start=1)]


def scored(
    incidents: Sequence[Incident], groups: Iterable[GroupKey], labels: Sequence[Label], of: Period
) -> Score:
    """`groups`: all that were watched in the period."""
    keys = sorted({*groups, *((one.cluster, one.group) for one in incidents)})
    faults, found, false = 0, 0, 0
    delays: list[int] = []
    hurt_ms = told_ms = 0
    for key in keys:
        told = [_within(one, of) for one in incidents if (one.cluster, one.group) == key]
        spans = _joined(_span(label, of) for label in labels if label.matches(key))
        faults += len(spans)
        for start, end in spans:
            during = [min(e, end) - max(s, start) for s, e in told if s < end and e > start]
            opened = [s for s, e in told if s < end and e > start]
            hurt_ms += end - start
            told_ms += sum(during)
            if opened:
                found += 1
                delays.append(max(min(opened) - start, 0))
        false += sum(not any(s < end and e > start for start, end in spans) for s, e in told)
    hours = len(keys) * (of.end_ms - of.start_ms) / _HOUR_MS
    return Score(
        faults=faults,
        found=found,
        incidents=len(incidents),
        false=false,
        delay_median_ms=median(delays) if delays else None,
        told=told_ms / hurt_ms if hurt_ms else 1.0,
        flaps_per_100_h=100 * max(len(incidents) - found, 0) / hours if hours else 0.0,
    )


def _within(incident: Incident, period: Period) -> tuple[int, int]:
    end = period.end_ms if incident.closed_at is None else incident.closed_at
    return max(incident.opened_at, period.start_ms), min(end, period.end_ms)


def _span(label: Label, period: Period) -> tuple[int, int]:
    start = period.start_ms if label.start_ms is None else label.start_ms
    end = period.end_ms if label.end_ms is None else label.end_ms
    return max(start, period.start_ms), min(end, period.end_ms)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those that are not empty; what overlaps is one fault."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _moment(value: Any, where: str) -> int | None:
    if value is None:
        return None
    return parse_moment(value.isoformat() if isinstance(value, date) else str(value), where)


def _pattern(text: object, where: str) -> re.Pattern[str]:
    try:
        return re.compile(str(text))
    except re.error as error:
        raise SettingsError(where, f"{text!r} is no regular expression: {error}") from None
