"""A period's incidents of groups, folded from those of their conditions: from the first that opens
to the last that ends, as the pages and the mails have them. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf

from warren.contracts import Status
from warren.words import as_of

from warren_archiver.report.incident import Consequence, Incident, Key


def group_incidents(conditions: Iterable[Incident]) -> list[Incident]:
    """In the order of their beginnings."""
    by_group: defaultdict[Key, list[list[Incident]]] = defaultdict(list)
    until: dict[Key, float] = {}
    for each in sorted(conditions, key=lambda one: one.opened_ms):
        those = by_group[each.key]
        if those and each.opened_ms < until[each.key]:
            those[-1].append(each)
        else:
            those.append([each])
            until[each.key] = -inf
        until[each.key] = max(until[each.key], inf if each.closed_ms is None else each.closed_ms)
    found = [_as_one(those) for known in by_group.values() for those in known]
    return sorted(found, key=lambda one: (one.opened_ms, one.incident_id))


def _as_one(conditions: Sequence[Incident]) -> Incident:
    """The first that opened gives the id, the one with a cause says what was wrong."""
    first, root = conditions[0], max(conditions, key=_weight)
    ended = [one.closed_ms for one in conditions if one.closed_ms is not None]
    told = [one.told_ms for one in conditions if one.told_ms is not None]
    return replace(
        root,
        incident_id=first.incident_id,
        opened_ms=first.opened_ms,
        closed_ms=max(ended) if len(ended) == len(conditions) else None,
        told_ms=min(told, default=None),
        worst=max((one.worst for one in conditions), key=Status.__getitem__),
        peak_lag=max(one.peak_lag for one in conditions),
        flapped=first.flapped,
        also=[*root.also, *_follows(root, conditions)],
    )


def _weight(condition: Incident) -> tuple[bool, bool, int]:
    is_clear = condition.sentence is not None or condition.action is not None
    return condition.closed_ms is None, is_clear, Status[condition.worst]


def _follows(root: Incident, conditions: Sequence[Incident]) -> Iterable[Consequence]:
    """What the others said; how much was lost is said of the group, with its last figure."""
    told = {root.sentence, *(each.sentence for each in root.also)}
    for one in conditions:
        said = one.sentence or one.explanation
        if one is not root and said and said not in told and not one.is_about_loss:
            told.add(said)
            at = one.said_ms if one.sentence else one.seen_ms
            dated = said if at is None else as_of(said, at, at)
            yield Consequence(one.cause or one.reason or "", dated, one.action)
