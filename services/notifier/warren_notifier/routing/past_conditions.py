"""What a group's incident remembers of conditions that are over, so that its end says what it was.
Pure.
"""

from collections.abc import Iterable
from typing import TypedDict

from warren.contracts import CONDITIONS, GroupIncident, StatusChangeEvent
from warren.loss_words import LOST_RECORDS


class Past(TypedDict):
    """Fields of GroupIncident."""

    was: list[StatusChangeEvent]
    lost: int


def with_past(
    known: GroupIncident | None,
    over: Iterable[StatusChangeEvent],
    passed: Iterable[StatusChangeEvent] = (),
) -> Past:
    """The fields of an incident that is `known` once these of its conditions are over, each as it
    was when it was open. `passed`: they last, and the losses that they told of have passed.
    """
    over = list(over)
    was = {each.type: each for each in known.was} if known is not None else {}
    was |= {each.type: short(each) for each in over}
    breaches = (breach for each in (*over, *passed) for breach in each.data.objectives or ())
    lost = sum(round(b.value or 0) for b in breaches if b.limit == LOST_RECORDS)
    return {
        "was": sorted(was.values(), key=lambda each: CONDITIONS.index(each.type)),
        "lost": (known.lost if known is not None else 0) + lost,
    }


def short(event: StatusChangeEvent) -> StatusChangeEvent:
    """Without its partitions."""
    omitted = event.data.partitions_omitted + len(event.data.partitions)
    update = {"partitions": [], "partitions_omitted": omitted}
    return event.model_copy(update={"data": event.data.model_copy(update=update)})
