"""A group in a few words, for subjects and lists: what is wrong, the root first, how it ended, what
to do first. Pure.
"""

from collections.abc import Callable, Iterable, Iterator

from warren.contracts import Cause, Condition, LimitName, PartitionStatusName, StatusChange
from warren.words import (
    LOST_RECORDS,
    NEAR_LOSS,
    counted,
    duration,
    loss_step,
    records,
    shell_word,
    visible,
)
from warren_core.group_incident import LOST_CAUSE

from warren_notifier.channels.links import is_web_link
from warren_notifier.channels.notice import CALLED, Notice
from warren_notifier.routing.change import REPLACED as END_NOT_SEEN

_LOST = (LOST_CAUSE, LOST_RECORDS)
"""The same seen by a cause and by a limit."""
# Of an objective's limit that is not kept.
_LIMITS: dict[LimitName | str, str] = {
    LOST_RECORDS: "losing data",
    NEAR_LOSS: "close to losing data",
    "max_freshness": "late",
    "max_lag": "lag too large",
    "min_produce_rate": "producers too slow",
    "burn_rate": "error budget burns too fast",
}
# Of partitions, gravest first.
_PARTITIONS: dict[PartitionStatusName, str] = {
    "BEYOND_END": "beyond the log end",
    "STOP": "stopped",
    "STALL": "stuck",
    "REWIND": "went back",
    "WARN": "falling behind",
}


def brief(changes: Iterable[StatusChange]) -> str:
    """`2 partitions stopped, losing data`, of a group's open conditions; each thing once."""
    return ", ".join(_once(changes, _partitions))


def things(changes: Iterable[StatusChange]) -> list[str]:
    """The same, one by one, as several groups have them in common: without how many partitions."""
    return _once(changes, _unclear)


def _once(changes: Iterable[StatusChange], unclear: Callable[[StatusChange], str]) -> list[str]:
    """`unclear`: what is said of one without a cause."""
    said = dict(thing for change in changes for thing in _things(change, unclear))
    if LOST_CAUSE in said:
        said.pop(NEAR_LOSS, None)  # it has come to pass
    return list(dict.fromkeys(visible(words) for words in said.values()))


def called(cause: Cause) -> str:
    """`stuck at one record`; of an evaluator that has no words for it the name."""
    if cause.name in _LOST:
        return _LIMITS[LOST_RECORDS]
    short = cause.short or cause.name.replace("_", " ")
    # Within a sentence, but for what is always in capitals.
    return visible(short if short[:2].isupper() else short[:1].lower() + short[1:])


def is_losing(change: StatusChange) -> bool:
    """Whether records were deleted before the group had consumed them."""
    return any(name == LOST_CAUSE for name, _ in _things(change, _unclear))


def _things(
    change: StatusChange, unclear: Callable[[StatusChange], str]
) -> Iterator[tuple[str, str]]:
    """(what it is, words) pairs."""
    if change.objectives is not None:
        if not change.objectives:
            yield "objectives", "objectives not kept"
        for breach in change.objectives:
            words = _LIMITS.get(breach.limit, f"{breach.limit} not kept")
            yield LOST_CAUSE if breach.limit in _LOST else breach.limit, words
    elif change.cause is not None and change.cause.is_known:
        yield change.cause.name, called(change.cause)
        if any(found.name in _LOST for found in change.cause.also):
            yield LOST_CAUSE, _LIMITS[LOST_RECORDS]
    else:
        yield "partitions", unclear(change)


def _unclear(change: StatusChange) -> str:
    """`stopped`."""
    found = (words for status, words in _PARTITIONS.items() if change.partition_counts.get(status))
    return next(found, "not OK")


def _partitions(change: StatusChange) -> str:
    """`2 partitions stopped`."""
    for status, words in _PARTITIONS.items():
        if count := change.partition_counts.get(status):
            return f"{counted(count, 'partition')} {words}"
    return "not OK"


# For the subject, and for the sentence.
_END = {
    None: ("OK again", "is OK again"),
    "group_deleted": ("group deleted", "was deleted"),
    "group_expired": ("group expired", "has expired: it does not commit any more"),
    "group_forgotten": ("group forgotten", "was forgotten on request until it commits again"),
    "offsets_expired": (
        "offsets expired, not recovered",
        "has not recovered: its committed offsets have expired",
    ),
    "offsets_deleted": (
        "offsets deleted, not recovered",
        "has not recovered: its committed offsets, or their topics, were deleted",
    ),
    "records_skipped": (
        "records skipped, not recovered",
        "has not recovered: its committed offsets were set further on, and records were skipped",
    ),
    "not_watched": (
        "not watched any more",
        "is not watched any more: the collector's settings leave it out",
    ),
    "objective_removed": (
        "objective removed",
        "has no such objective any more: it was removed from the settings",
    ),
    END_NOT_SEEN: (
        "replaced by another incident",
        "has another incident since; the end of this one was not seen",
    ),
}
_KEPT = ("objectives kept again", "keeps its objectives again")


def end_of(notice: Notice) -> tuple[str, str]:
    """`OK again` and `is OK again`, of all of it."""
    ends = _end(notice.change)
    return _END[None] if ends is _KEPT and len(notice.was) > 1 else ends


def tag(notice: Notice) -> str:
    """`OK`; what has ended without being well again is `OVER`."""
    return "OK" if _end(notice.change) in (_END[None], _KEPT) else "OVER"


def ending(notice: Notice) -> str:
    """`OK again after 5m; was stuck at one record; 62 records stay lost`."""
    said = [f"{end_of(notice)[0]} after {duration(notice.at - notice.change.opened_at)}"]
    said += [f"was {brief([notice.was[0].change])}"] if notice.was else []
    said += [stay_lost(notice.lost)] if notice.lost else []
    return "; ".join(said)


def condition_over(ended: Condition) -> str:
    """`lag too large: objectives kept again`, of a condition that is over while others last."""
    was = brief([ended.change]) if ended.change.objectives else CALLED[ended.type]
    return f"{was}: {how_it_ended(ended.end or ended.change)}"


def stay_lost(count: int) -> str:
    """`4,270 records stay lost`."""
    return f"{records(count)} {'stays' if count == 1 else 'stay'} lost"


def how_it_ended(change: StatusChange) -> str:
    """`OK again`, `group deleted`."""
    return _end(change)[0]


def _end(change: StatusChange) -> tuple[str, str]:
    """Of a reason that only a newer Warren knows, the reason itself."""
    if change.reason is None and change.objectives is not None:
        return _KEPT
    said = visible(change.reason or "")
    return _END.get(change.reason, (f"ended, {said},", f"is not watched any more: {said}"))


def is_explained(change: StatusChange) -> bool:
    """Whether the event's explanation says more than the words here."""
    return bool(change.explanation) and bool(change.reason) and change.reason in _END


def first_step(changes: Iterable[StatusChange]) -> str:
    """`changes`: of the group's open conditions, the root first; at least one."""
    changes = list(changes)
    causes = [change.cause for change in changes if change.cause is not None]
    found = [cause.action for cause in causes if cause.is_known and cause.action]
    breaches = (breach for change in changes for breach in change.objectives or ())
    found += [runbook for runbook in runbooks(changes) if not is_web_link(runbook)]
    found += filter(None, [loss_step(breaches)])
    found += [cause.action for cause in causes if cause.action]
    group = shell_word(f"{changes[0].cluster}/{changes[0].group}")
    return visible([*found, f"Look at it: warren describe group {group}"][0])


def runbooks(changes: Iterable[StatusChange]) -> list[str]:
    """As objectives name them, then as [[groups]] do."""
    changes = list(changes)
    of_objectives = (breach.runbook for change in changes for breach in change.objectives or ())
    said = [*of_objectives, *(change.runbook for change in changes)]
    return [runbook for runbook in said if runbook]
