"""What the version before has told people of a condition, taken over as told of its group. Pure.

It told people of each condition by itself. The thread of the first one goes on as the group's; what
was told of the others ends as it began, by their own ends.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from warren.contracts import OpenIncident

from warren_notifier.routing.change import Change, severity_of
from warren_notifier.state.delivery import Key
from warren_notifier.state.subject_state import SubjectState
from warren_notifier.state.telling import Telling


@dataclass(frozen=True, slots=True)
class Adopted:
    """`group`: the state of the whole; `first`: that of its first condition without what the group
    has taken over.
    """

    group: SubjectState
    first: SubjectState


def adopted(
    group: SubjectState, states: Sequence[SubjectState], whole: Change, people: Collection[str]
) -> Adopted | None:
    """`states`: of the conditions; `whole`: the group's incident as they are now. None where there
    is nothing to take over.
    """
    first = next((one for one in states if _is_of(one, whole)), None)
    if first is None or first.incident is None:
        return None
    incident = first.incident
    ours = {
        key: telling
        for key, telling in first.tellings.items()
        if key[0] == incident.incident_id and key[1] in people
    }
    if not ours:
        return None
    left = replace(first, tellings={k: t for k, t in first.tellings.items() if k not in ours})
    taken = {key: _of_group(telling, states, group) for key, telling in ours.items()}
    tellings: Mapping[Key, Telling] = {**taken, **group.tellings}
    if group.incident is not None:
        return Adopted(replace(group, tellings=tellings), left)
    known = OpenIncident(
        incident_id=incident.incident_id,
        event_id=whole.event_id,
        offset=incident.offset,
        goes_on_as=whole.incident_id if whole.incident_id != incident.incident_id else None,
        routes=incident.routes,
    )
    newest = max(state.offset for state in states)
    change = replace(whole, incident_id=incident.incident_id)
    taken_over = replace(group, offset=newest, incident=known, change=change, tellings=tellings)
    return Adopted(taken_over, left)


def _is_of(state: SubjectState, whole: Change) -> bool:
    change = state.open_now
    return change is not None and whole.incident_id in (change.incident_id, _raw(state))


def _raw(state: SubjectState) -> str | None:
    """The incident as the events name it, where channels know it as another one."""
    return state.incident.goes_on_as if state.incident is not None else None


def _of_group(telling: Telling, states: Sequence[SubjectState], group: SubjectState) -> Telling:
    """What the channel knows: each condition that it was told of, and the worst."""
    channel, known, worst = telling.told.channel, list[str](), telling.told.status
    for state in states:
        change, told = state.open_now, state.told().get(channel)
        if change is None or told is None or told.status is None:
            continue
        known.append(_raw(state) or change.incident_id)
        if worst is not None and severity_of(told.status) > severity_of(worst):
            worst = told.status
    told = telling.told.model_copy(update={"conditions": sorted(known), "status": worst})
    delivery = telling.delivery
    if delivery is not None:
        delivery = replace(delivery, subject=group.subject)
    return Telling(told, delivery)
