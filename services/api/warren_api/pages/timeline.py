"""What happened to a group, or in one of its incidents, in one order: changes of status, mails and
other notifications, acknowledgements, silences, rebalances. Pure.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from warren.contracts import MINUTE_MS, Acknowledgement, Silence

from warren_api.model.notifications import Attempt
from warren_api.model.status_history import IncidentRecord, RecordedChange


class Moment(NamedTuple):
    """`at`: Unix milliseconds; `what` says which of the others is there. `number`: of
    rebalances.
    """

    at: int
    what: Literal[
        "change", "attempt", "acknowledgement", "opening", "silence", "silence over", "rebalances"
    ]
    change: RecordedChange | None = None
    attempt: Attempt | None = None
    acknowledgement: Acknowledgement | None = None
    silence: Silence | None = None
    number: int = 0


def of_incident(
    incident: IncidentRecord, attempts: Iterable[Attempt], acknowledgement: Acknowledgement | None
) -> list[Moment]:
    """Newest first. The opening is there, too, where the change that told of it is forgotten."""
    found = list(_told(incident.changes, attempts, acknowledgement))
    if all(recorded.at > incident.opened_at for recorded in incident.changes):
        found.append(Moment(incident.opened_at, "opening"))
    return _newest_first(found)


def of_group(
    changes: Iterable[RecordedChange],
    attempts: Iterable[Attempt],
    acknowledgement: Acknowledgement | None,
    silences: Iterable[Silence],
    rebalances: Iterable[Moment],
    now: int,
) -> list[Moment]:
    """Newest first. `silences`: that match it; `now`: Unix milliseconds."""
    found = [*_told(changes, attempts, acknowledgement), *rebalances]
    for silence in silences:
        found.append(Moment(silence.begins_at, "silence", silence=silence))
        found.append(Moment(silence.ends_at, "silence over", silence=silence))
    return _newest_first(moment for moment in found if moment.at <= now)


def rebalances(start: int, counts: Sequence[float | None]) -> list[Moment]:
    """`counts`: of each minute from `start` on. Those of minutes that follow each other are one."""
    found: list[Moment] = []
    for minute, count in enumerate(counts):
        at = start + minute * MINUTE_MS
        if not count:
            continue
        if found and at - found[-1].at == MINUTE_MS:
            found[-1] = Moment(at, "rebalances", number=found[-1].number + round(count))
        else:
            found.append(Moment(at, "rebalances", number=round(count)))
    return found


def _told(
    changes: Iterable[RecordedChange],
    attempts: Iterable[Attempt],
    acknowledgement: Acknowledgement | None,
) -> Iterator[Moment]:
    yield from (Moment(recorded.at, "change", change=recorded) for recorded in changes)
    yield from (Moment(attempt.event.at, "attempt", attempt=attempt) for attempt in attempts)
    if acknowledgement is not None:
        yield Moment(acknowledgement.at, "acknowledgement", acknowledgement=acknowledgement)


def _newest_first(found: Iterable[Moment]) -> list[Moment]:
    return sorted(found, key=lambda moment: moment.at, reverse=True)
