"""Where an archive begins to have each kind of data: what was deleted before it is not known."""

from warren.history.lake_tables import LakeTables, text

from warren_archiver.report.period import HOUR_MS, Period, Split
from warren_archiver.report.statuses import found_by_day

Beginnings = dict[str, int | None]
"""Unix milliseconds by kind; None: the archive has nothing of it."""
_Source = tuple[str, str, str | None]
"""A table, its column that has the moment, and a condition."""


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
    an evaluator that published evaluations published incidents, too.

    Raises LakeUnreadable.
    """

    def first(*sources: _Source, known: int | None = None) -> int | None:
        for table, column, where in sources:
            if known is not None and known <= period.start_ms:
                return known
            days = tables.days(table)[::-1]
            found = found_by_day(tables, table, days, f'min("{column}")', column, where)
            within = HOUR_MS if column == "hour" else 0  # at any moment of it
            if found is not None and (known is None or found + within <= known):
                known = found
        return known

    def of_topic(name: str) -> _Source:
        return "bronze/events", "timestamp", f"topic = {text(name)}"

    def hours(name: str) -> list[_Source]:
        return [(f"gold/{name}_hours", "hour", None)] if parts.hours.length_ms else []

    judged = first(("silver/evaluations", "at", None), *hours("status"), of_topic(evaluations))
    observed = first(("silver/group_minutes", "minute", None), *hours("rate"))
    measured = first(("silver/lateness_minutes", "minute", None))
    changed = ("silver/incident_changes", "at", None)
    sent = ("silver/notifications", "at", None)
    return {
        "evaluations": judged,
        "incidents": first(changed, of_topic(changes), known=judged),
        "notifications": first(sent, of_topic(deliveries), known=judged),
        "rates": observed,
        "lateness": first(*hours("lateness"), known=measured),
        "losses": measured,
        "members": first(("silver/membership_changes", "at", None), known=observed),
    }
