"""Up to when each kind of data is known: what comes from one table may be ahead of another.

Status changes, deliveries and evaluations are read as they are archived. Rates, lateness and losses
come with silver, in minutes; what looks ahead comes with gold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from warren.history.lake_tables import LakeTables

from warren_archiver.report.group_report import Stamp
from warren_archiver.report.period import Period

Kind = Literal[
    "evaluations",
    "status_changes",
    "notifications",
    "rates",
    "lateness",
    "losses",
    "members",
    "capacity",
    "error_budgets",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
STEP_MS = 60_000
"""Tables of minutes cannot say more precisely that nothing happened."""
_NOT_ARCHIVED = "later ones are not archived yet"
_NOT_OBSERVED = "nothing later was observed, or it is not in silver yet"
_NOT_MEASURED = "freshness measured nothing later, or it is not in silver yet"
_NOT_IN_GOLD = "gold is not made of later data yet"


class Known:
    """Stamps of a report's period."""

    def __init__(self, period: Period, until: Mapping[Kind, int | None]) -> None:
        self._period = period
        self._until = until

    @property
    def stamps(self) -> list[Stamp]:
        return [
            Stamp(kind, self._until[kind], None if self._is_whole(kind) else _WHY[kind])
            for kind in KINDS
        ]

    def _is_whole(self, kind: Kind) -> bool:
        until = self._until[kind]
        return until is not None and until >= self._period.end_ms

    def counted(self, kind: Kind, found: int | None) -> int | None:
        """A count that others may still add to: none so far is unknown, and never 0."""
        until = self._until[kind]
        is_over = until is not None and until > self._period.end_ms - STEP_MS
        return found if found or is_over else None


def find(
    tables: LakeTables,
    period: Period,
    archived_ms: int,
    gold_until: Mapping[str, int],
    whole_until: int | None,
) -> Known:
    """Find how far each kind is known. `archived_ms`: when the newest evaluation was archived.
    `gold_until`: by table of silver, up to when gold has its rows. `whole_until`: the least of
    these that gold waits for.

    Raises LakeUnreadable.
    """
    rates = _of_minutes(tables, period, gold_until, "group_minutes", "minute")
    late = _of_minutes(tables, period, gold_until, "lateness_minutes", '"at"')
    in_silver = max((each for each in (rates, late) if each is not None), default=None)
    has_members = tables.exists("silver/membership_changes")
    gold = None if whole_until is None else min(whole_until, period.end_ms)
    return Known(
        period,
        {
            "evaluations": archived_ms,
            "status_changes": archived_ms,
            "notifications": archived_ms,
            "rates": rates,
            "lateness": late,
            "losses": late,
            "members": in_silver if has_members else None,
            "capacity": gold,
            "error_budgets": gold,
        },
    )


def _of_minutes(
    tables: LakeTables, period: Period, gold_until: Mapping[str, int], name: str, column: str
) -> int | None:
    """The newest row before the period's end: of the minute that it is in more may come."""
    in_gold = gold_until.get(name)
    if in_gold is not None and in_gold >= period.end_ms:
        return period.end_ms
    last, columns = (
        period.widened(0, STEP_MS).days[-1],
        {"minute": "TIMESTAMPTZ", "at": "TIMESTAMPTZ"},
    )
    for day in tables.days(f"silver/{name}"):
        if day > last:
            continue
        tables.view("newest_minute", f"silver/{name}", [day], columns)
        (row,) = tables.rows(
            f"SELECT epoch_ms(max(coalesce({column}, minute))) AS newest FROM newest_minute "
            "WHERE epoch_ms(minute) < $end",
            {"end": period.end_ms + STEP_MS},
        )
        if row["newest"] is not None:
            newest: int = max(row["newest"], in_gold or 0)
            return min(newest, period.end_ms)
    return in_gold


_WHY: Mapping[Kind, str] = {
    "evaluations": _NOT_ARCHIVED,
    "status_changes": _NOT_ARCHIVED,
    "notifications": _NOT_ARCHIVED,
    "rates": _NOT_OBSERVED,
    "lateness": _NOT_MEASURED,
    "losses": _NOT_MEASURED,
    "members": _NOT_OBSERVED,
    "capacity": _NOT_IN_GOLD,
    "error_budgets": _NOT_IN_GOLD,
}
