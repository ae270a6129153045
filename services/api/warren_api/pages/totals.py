"""How many groups have which status, the worst first."""

from __future__ import annotations

from collections.abc import Iterable

Totals = dict[str, int]


def no_groups() -> Totals:
    return {"ERR": 0, "WARN": 0, "UNKNOWN": 0, "OK": 0}


def together(parts: Iterable[Totals]) -> Totals:
    totals = no_groups()
    for part in parts:
        for status, count in part.items():
            totals[status] = totals.get(status, 0) + count
    return totals
