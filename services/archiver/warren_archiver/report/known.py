"""From when and up to when each kind of data is known: a table may begin later than another, and be
ahead of it.

Incidents, deliveries and evaluations are read as they are archived. Rates, lateness and losses
come with silver, in minutes; what looks ahead comes with gold.
"""

from collections import defaultdict
from collections.abc import Mapping

from warren.history.lake_tables import LakeTables, moment
from warren.words import clock, utc

from warren_archiver.report.beginnings import Beginnings
from warren_archiver.report.group_report import Report, Stamp
from warren_archiver.report.period import Period
from warren_archiver.report.statuses import found_by_day
from warren_archiver.report.summary import listed

STEP_MS = 60_000
"""Tables of minutes cannot say more precisely that nothing happened."""
_NOT_ARCHIVED = "later ones are not archived yet"
_NOT_OBSERVED = "nothing later was observed, or it is not in silver yet"
_NOT_MEASURED = "freshness measured nothing later, or it is not in silver yet"
_NOT_IN_GOLD = "gold is not made of later data yet"


class Known:
    """Stamps of a report's period."""

    def __init__(
        self, period: Period, until: Mapping[str, tuple[int | None, str]], since: Beginnings
    ) -> None:
        """`until`: by kind, and why nothing later is known. `since`: where kinds begin that have a
        beginning."""
        self.stamps = [
            _stamp(period, kind, at, why, since.get(kind)) for kind, (at, why) in until.items()
        ]
        self._over = {
            each.kind
            for each in self.stamps
            if each.since_ms is None
            and each.until_ms is not None
            and each.until_ms > period.end_ms - STEP_MS
        }

    def counted(self, kind: str, found: int | None) -> int | None:
        """A count that others may still add to: none so far is unknown, and never 0."""
        return found if found or kind in self._over else None


def _stamp(period: Period, kind: str, until: int | None, why: str, since: int | None) -> Stamp:
    """Of a kind that begins after the period nothing is known in it."""
    if since is None or since <= period.start_ms + STEP_MS:
        return Stamp(kind, until, None if until is not None and until >= period.end_ms else why)
    if until is None or since >= min(until, period.end_ms):
        return Stamp(kind, None, f"the archive has none before {utc(since)}", since)
    return Stamp(kind, until, None if until >= period.end_ms else why, since)


def find(
    tables: LakeTables,
    period: Period,
    archived_ms: int,
    gold_until: Mapping[str, int],
    whole_until: int | None,
    since: Beginnings,
) -> Known:
    """Find how far each kind is known. `archived_ms`: when the newest evaluation was archived.
    `gold_until`: by table of silver, up to when gold has its rows. `whole_until`: the least of
    these that gold waits for.

    Raises LakeUnreadable.
    """
    rates = _of_minutes(tables, period, gold_until, "group_minutes", "minute")
    late = _of_minutes(tables, period, gold_until, "lateness_minutes", 'coalesce("at", minute)')
    in_silver = max((each for each in (rates, late) if each is not None), default=None)
    members = in_silver if tables.exists("silver/membership_changes") else None
    gold = None if whole_until is None else min(whole_until, period.end_ms)
    return Known(
        period,
        {
            "evaluations": (archived_ms, _NOT_ARCHIVED),
            "incidents": (archived_ms, _NOT_ARCHIVED),
            "notifications": (archived_ms, _NOT_ARCHIVED),
            "rates": (rates, _NOT_OBSERVED),
            "lateness": (late, _NOT_MEASURED),
            "losses": (late, _NOT_MEASURED),
            "members": (members, _NOT_OBSERVED),
            "capacity": (gold, _NOT_IN_GOLD),
            "error_budgets": (gold, _NOT_IN_GOLD),
        },
        since,
    )


def _of_minutes(
    tables: LakeTables, period: Period, gold_until: Mapping[str, int], name: str, column: str
) -> int | None:
    """The newest row before the period's end: of the minute that it is in more may come."""
    in_gold = gold_until.get(name)
    if in_gold is not None and in_gold >= period.end_ms:
        return period.end_ms
    ends = period.widened(0, STEP_MS)
    days = [day for day in tables.days(f"silver/{name}") if day <= ends.days[-1]]
    before = f"minute < {moment(ends.end_ms)}"
    newest = found_by_day(tables, f"silver/{name}", days, f"max({column})", "minute at", before)
    return in_gold if newest is None else min(max(newest, in_gold or 0), period.end_ms)


def known_up_to(report: Report) -> str:
    """How far each kind of data is known, the furthest first; empty where all is."""
    if report.is_closed and not report.damages and all(each.is_whole for each in report.known):
        return ""
    kinds: dict[tuple[int, int], list[str]] = defaultdict(list)
    for each in report.known:
        until = -1 if each.until_ms is None else each.until_ms
        kinds[until, each.since_ms or 0].append(each.kind.replace("_", " "))
    return "; ".join(
        f"{listed(kinds[until, since])} {_between(since, until)}"
        for until, since in sorted(kinds, reverse=True)
    )


def _between(since: int, until: int) -> str:
    """0 and -1: there is none."""
    if until < 0:
        return f"not before {utc(since)}" if since else "not at all"
    return f"{f'from {utc(since)} ' if since else ''}up to {utc(until)}"


def until(report: Report, kind: str) -> str:
    """`known until 06:35 UTC`, `known from 06:10 UTC`, `not known`; empty where all is known."""
    stamp = report.stamp(kind)
    if stamp is None or (stamp.why is None and stamp.since_ms is None):
        return ""
    if stamp.until_ms is None:
        return "not known"
    end = report.period.end_ms
    since = "" if stamp.since_ms is None else f" from {clock(stamp.since_ms, end)}"
    until = "" if stamp.why is None else f" until {clock(stamp.until_ms, end)}"
    return f"known{since}{until}"


def unknown(report: Report, kind: str) -> str:
    """Why a figure of this kind is not there."""
    stamp = report.stamp(kind)
    if stamp is not None and stamp.why is None and stamp.since_ms is not None:
        return f"known from {utc(stamp.since_ms)} on: the archive has none before"
    if stamp is None or stamp.why is None:
        return "not known of this group"
    until = "" if stamp.until_ms is None else f" up to {utc(stamp.until_ms)}"
    return f"known{until}: {stamp.why}" if until else f"not known: {stamp.why}"
