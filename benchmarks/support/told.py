"""What receivers were told of incidents: whether all that was opened is closed, once, in order."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from support.receivers import Request
from warren.contracts import GroupIncidentEvent, NotificationEvent


@dataclass(frozen=True, slots=True)
class Notified:
    """Of one channel. `sent_again`: deliveries that were taken more than once, with the same id;
    a notifier was killed before it had written down that they had arrived. `never_opened`: ended,
    though the opening was not taken; its outcome was unknown to a notifier that was killed.
    """

    requests: int
    opened: int
    ended: int
    left_open: int
    never_opened: int
    ids_of_two_events: int
    events_with_two_ids: int
    out_of_order: int
    sent_again: int


def told_by_requests(requests: Sequence[Request], order: Mapping[str, int]) -> Notified:
    """`order`: the place of each event, by its id, among those of its group."""
    taken = [one for one in requests if 200 <= one.answer < 300]
    events = [GroupIncidentEvent.from_bytes(one.body) for one in taken]
    opened = {event.data.incident_id for event in events if event.data.status in ("WARN", "ERR")}
    over = (event for event in events if event.data.status not in ("WARN", "ERR"))
    ended = {event.data.incident_id for event in over}
    events_of, ids_of = defaultdict(set), defaultdict(set)
    for one, event in zip(taken, events, strict=True):
        events_of[one.delivery_id].add(event.id)
        ids_of[event.id].add(one.delivery_id)
    return Notified(
        requests=len(requests),
        opened=len(opened),
        ended=len(ended),
        left_open=len(opened - ended),
        never_opened=len(ended - opened),
        ids_of_two_events=sum(len(found) > 1 for found in events_of.values()),
        events_with_two_ids=sum(len(found) > 1 for found in ids_of.values()),
        out_of_order=_out_of_order(events, order),
        sent_again=len(taken) - len({one.delivery_id for one in taken}),
    )


def _out_of_order(events: Iterable[GroupIncidentEvent], order: Mapping[str, int]) -> int:
    """Of each group."""
    newest: dict[str, int] = {}
    count = 0
    for event in events:
        of, place = event.data.group, order[event.id]
        count += place < newest.get(of, place)
        newest[of] = max(place, newest.get(of, place))
    return count


def told_by_audit(audit: Iterable[NotificationEvent], channel: str) -> Mapping[str, int]:
    """Of a channel whose messages tell many: incidents, and those that were left open."""
    delivered = [a for a in audit if a.channel == channel and a.outcome == "delivered"]
    opened = {one.incident_id for one in delivered if one.status in ("WARN", "ERR")}
    ends = {one.delivery_id: one.incident_id for one in delivered if one.kind == "resolved"}
    ended = set(ends.values())
    return {
        "opened": len(opened),
        "ended": len(ended),
        "left_open": len(opened - ended),
        "ended_twice": len(ends) - len(ended),
    }
