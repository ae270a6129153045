"""Reports made by hand: of one group, of some in trouble, and of as many words as there can be."""

from dataclasses import replace
from datetime import date
from typing import Any

from warren.contracts import Finding
from warren_archiver.report.group_report import (
    Budget,
    GroupReport,
    Incident,
    Outlook,
    Report,
    Stamp,
)
from warren_archiver.report.period import HOUR_MS, Period

MINUTE = 60_000
START = 1_795_219_200_000
"""2026-11-21, midnight."""
END = START + 10 * HOUR_MS
NASTY = "</svg><script>alert(1)</script>&billing"


def group(name: str = "billing", *, err: int = 0, warn: int = 0, **more: Any) -> GroupReport:
    """Judged for ten hours; `err` and `warn`: hours of them. No record was lost."""
    unknown = more.pop("unknown_ms", 0)
    ok = 10 * HOUR_MS - (err + warn) * HOUR_MS - unknown
    held = {"OK": ok, "WARN": warn * HOUR_MS, "ERR": err * HOUR_MS, "NOTFOUND": 0}
    known: dict[str, Any] = {"cluster": "prod", "group": name, "status": "OK", "held_ms": held}
    known |= {"unknown_ms": unknown, "evaluations": 600, "lag_p50": 5, "lag_p95": 9, "lag_max": 40}
    known |= {"late_max_ms": 2_000, "lost_records": 0}
    return GroupReport(**(known | more))


def incident(
    name: str = "billing", *, start: float = 1, end: float | None = 2, **more: Any
) -> Incident:
    """From one hour of the period to another."""
    opened = START + round(start * HOUR_MS)
    closed = None if end is None else START + round(end * HOUR_MS)
    known: dict[str, Any] = {"cluster": "prod", "group": name, "incident_id": f"{name} {start}"}
    known |= {
        "opened_ms": opened,
        "closed_ms": closed,
        "notified_ms": opened + 4_000,
        "worst": "ERR",
    }
    known |= {"reason": "no_commit", "cause": None, "sentence": None, "action": None}
    known |= {"also": (), "said_ms": opened, "peak_lag": 7}
    return Incident(**(known | more))


def made(*groups: GroupReport, incidents: tuple[Incident, ...] = (), **more: Any) -> Report:
    """A report on ten hours, which is known to the end."""
    known: dict[str, Any] = {"is_closed": False, "archived_until_ms": END, "max_gap_ms": 90_000}
    known |= {"error": 0.0, "groups": list(groups), "incidents": list(incidents)}
    return Report(Period(START, END), **(known | more))


def outlook(**more: Any) -> Outlook:
    known: dict[str, Any] = {"capacity": 12.0, "level": 9.5, "slope": 0.1}
    known |= dict.fromkeys(("crosses_on", "earliest_on", "latest_on"))
    known |= dict.fromkeys(("crosses_in_days", "days_until_loss"))
    return Outlook(**(known | more))


def troubled() -> Report:
    """Something of everything that a page shows."""
    lags = tuple((START + number * MINUTE * 10, 40 * number) for number in range(60))
    soon = outlook(crosses_on=date(2026, 12, 1), earliest_on=date(2026, 11, 28), crosses_in_days=10)
    lost = Finding(
        name="records_lost", sentence="64 unread records are gone", action="raise retention.ms"
    )
    stuck = incident(
        NASTY, start=3, end=None, cause="stuck_record", sentence="stuck at payments/0 offset 120",
        action="inspect the record", said_ms=END - MINUTE, also=(lost,),
    )  # fmt: skip
    return made(
        group(NASTY, err=7, status="ERR", lag_max=2_360, lag_over_time=lags, lost_records=64),
        group("shipping", warn=1, lag_over_time=lags[:9] + lags[20:], lag_max=2_360, outlook=soon),
        group("mail", lost_records=None, late_max_ms=None, consume_rate=10.0, unknown_ms=HOUR_MS),
        incidents=(incident("shipping", worst="WARN", notified_ms=None, flapped=True), stuck),
        budgets=[Budget("prod", "shipping", "on-time", "max_lag", 0.99, 0.98, -1.0)],
        known=[Stamp("losses", END - HOUR_MS, "nothing later")],
        step_ms=10 * MINUTE,
    )


def crowded() -> Report:
    """Many groups, with the longest names and sayings that a summary has."""
    names = [f"{number} " + "long-name." * 20 for number in range(12)]
    said = "why this is so and what has to be done about it now " * 5
    return made(
        *(group(each, err=2, lost_records=1_000, outlook=outlook()) for each in names),
        incidents=tuple(
            incident(each, end=None if number % 2 else 5, sentence=said, action=said, said_ms=END)
            for number, each in enumerate(names)
        ),
        budgets=[Budget("prod", each, each, "max_lag", 0.99, 0.5, -1.0) for each in names],
    )


def of_two_clusters() -> Report:
    """Groups of one name."""
    first = group(err=1)
    return made(first, replace(first, cluster="stage"))
