"""How an incident ended, in words. Pure."""

from warren.contracts import StatusChange, StatusChangeEvent
from warren.words import duration, records, visible

from warren_notifier.channels.brief import brief
from warren_notifier.channels.told_event import CALLED, ToldEvent
from warren_notifier.routing import lost_end

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
    "not_watched": (
        "not watched any more",
        "is not watched any more: the collector's settings leave it out",
    ),
    "objective_removed": (
        "objective removed",
        "has no such objective any more: it was removed from the settings",
    ),
    lost_end.REPLACED: (
        "replaced by another incident",
        "has another incident since; the end of this one was not seen",
    ),
}
_KEPT = ("objectives kept again", "keeps its objectives again")


def end_of(told: ToldEvent) -> tuple[str, str]:
    """`OK again` and `is OK again`, of all of it."""
    ends = _end(told.change)
    return _END[None] if ends is _KEPT and len(told.was) > 1 else ends


def tag(told: ToldEvent) -> str:
    """`OK`; what has ended without being well again is `OVER`."""
    return "OK" if _end(told.change) in (_END[None], _KEPT) else "OVER"


def ending(told: ToldEvent) -> str:
    """`OK again after 5m; was stuck at one record; 62 records stay lost`."""
    said = [f"{end_of(told)[0]} after {duration(told.at - told.change.opened_at)}"]
    said += [f"was {brief([told.was[0].data])}"] if told.was else []
    said += [stay_lost(told.lost)] if told.lost else []
    return "; ".join(said)


def condition_over(event: StatusChangeEvent, told: ToldEvent) -> str:
    """`lag too large: objectives kept again`, of a condition that is over while others last."""
    was = [each.data for each in told.was if each.type == event.type and each.data.objectives]
    return f"{brief(was) or CALLED[event.type]}: {how_it_ended(event.data)}"


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
