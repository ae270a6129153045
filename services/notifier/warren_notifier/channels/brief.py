"""What is wrong with a group in a few words, for subjects and lists: the root first. Pure."""

from collections.abc import Callable, Iterable, Iterator

from warren.contracts import Cause, LimitName, PartitionStatusName, StatusChange
from warren.loss_words import LOST_RECORDS, NEAR_LOSS
from warren.words import counted, visible

from warren_notifier.channels.loss import LOST_CAUSE

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
    return visible(_within_a_sentence(cause.short or cause.name.replace("_", " ")))


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


def _within_a_sentence(short: str) -> str:
    return short if short[:2].isupper() else short[:1].lower() + short[1:]
