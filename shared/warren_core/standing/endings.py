"""How an incident ended, or one of its conditions, in words. Pure."""

from warren.contracts import Condition, StatusChange
from warren.words import condition, counted, duration, in_sentence, visible

from warren_core.group_incident import REPLACED
from warren_core.standing.figures import said_of
from warren_core.standing.problems import problems_in
from warren_core.standing.standing import Standing, in_few_words

End = tuple[str, str]
"""For a subject, and for a sentence."""
_OK: End = ("OK again", "is OK again")
_KEPT: End = ("objectives kept again", "keeps its objectives again")
_ENDS: dict[str, End] = {
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
    REPLACED: (
        "replaced by another incident",
        "has another incident since; the end of this one was not seen",
    ),
}


def end_of(of: Standing) -> End:
    """`OK again` and `is OK again`, of all of it."""
    end = _end(of.change)
    is_well = len(of.over) > 1 and all(said_of(each).reason is None for each in of.over)
    return _OK if end is _KEPT and is_well else end


def is_recovery(of: Standing) -> bool:
    """Whether the group is well again; else it was deleted, or is not watched any more."""
    return _end(of.change) in (_OK, _KEPT)


def ending(of: Standing) -> str:
    """`OK again after 5m; was stuck at one record; 62 records stay lost`."""
    said = [f"{end_of(of)[0]} after {duration(of.at - of.change.opened_at)}"]
    said += [f"was {in_sentence(in_few_words(of.was[:1]))}"] if of.was else []
    return "; ".join(said + ([stay_lost(of.lost)] if of.lost else []))


def condition_over(ended: Condition) -> str:
    """`lag too large: objectives kept again`, of a condition that is over while others last."""
    was = condition(ended.type)
    if ended.change.objectives:
        was = in_sentence(in_few_words([*problems_in(ended.change, ended.changed_at)]))
    return f"{was}: {_end(said_of(ended))[0]}"


def stay_lost(count: int) -> str:
    """`4,270 records stay lost`."""
    return f"{counted(count, 'record')} {'stays' if count == 1 else 'stay'} lost"


def is_explained(change: StatusChange) -> bool:
    """Whether the event's explanation says more than the words here."""
    return bool(change.explanation) and bool(change.reason) and change.reason in _ENDS


def _end(change: StatusChange) -> End:
    """Of a reason that only a newer Warren knows, the reason itself."""
    if change.reason is None:
        return _OK if change.objectives is None else _KEPT
    said = visible(change.reason)
    return _ENDS.get(change.reason, (f"ended, {said}", f"has no incident any more: {said}"))
