"""Where an archive begins to have each kind of data: what was deleted before it is not known."""

from typing import NamedTuple

from warren.history.lake_tables import LakeTables, text, typed

from warren_archiver.report.period import HOUR_MS, Period, Split

Beginnings = dict[str, int | None]
"""Unix milliseconds by kind; None: the archive has nothing of it."""


class _Source(NamedTuple):
    """A table, and its column that has the moment."""

    table: str
    column: str
    where: str | None = None
    is_hour: bool = False
    """The data may begin at any moment of the hour."""


def find(
    tables: LakeTables,
    period: Period,
    parts: Split,
    evaluations: str,
    changes: str,
    deliveries: str,
) -> Beginnings:
    """Find where each kind begins. The last three are names of topics. Tables are asked until one
    has something before the period.

    A kind that has rows only when something happens begins no later than what is written with it:
    an evaluator that published evaluations published changes of status, too.

    Raises LakeUnreadable.
    """

    def first(*sources: _Source, known: int | None = None) -> int | None:
        for each in sources:
            if known is not None and known <= period.start_ms:
                return known
            known = _earlier(known, _first(tables, each), is_hour=each.is_hour)
        return known

    def hours(name: str) -> tuple[_Source, ...]:
        table = _Source(f"gold/{name}_hours", "hour", is_hour=True)
        return (table,) if parts.hours.length_ms else ()

    judged = first(_Source("silver/evaluations", "at"), *hours("status"), _of_topic(evaluations))
    observed = first(_Source("silver/group_minutes", "minute"), *hours("rate"))
    measured = first(_Source("silver/lateness_minutes", "minute"))
    changed = _Source("silver/status_changes", "from")
    told = _Source("silver/notifications", "at")
    return {
        "evaluations": judged,
        "status_changes": first(changed, _of_topic(changes), known=judged),
        "notifications": first(told, _of_topic(deliveries), known=judged),
        "rates": observed,
        "lateness": first(*hours("lateness"), known=measured),
        "losses": measured,
        "members": first(_Source("silver/membership_changes", "at"), known=observed),
    }


def _of_topic(name: str) -> _Source:
    return _Source("bronze/events", "timestamp", f"topic = {text(name)}")


def _first(tables: LakeTables, source: _Source) -> int | None:
    """Days are opened from the oldest on, until one has a row."""
    columns = typed(TIMESTAMPTZ=source.column)
    for day in reversed(tables.days(source.table)):
        tables.view("oldest", source.table, [day], columns, source.where)
        (row,) = tables.rows(f'SELECT epoch_ms(min("{source.column}")) AS first FROM oldest')
        if row["first"] is not None:
            first: int = row["first"]
            return first
    return None


def _earlier(known: int | None, found: int | None, *, is_hour: bool) -> int | None:
    if known is None or found is None:
        return found if known is None else known
    return found if found + (HOUR_MS if is_hour else 0) <= known else known
