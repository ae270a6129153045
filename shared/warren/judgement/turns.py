"""Turns: a member that is behind reads on in one partition first, and then in the next one.

Clients fetch much of a partition at once. While they work through it, offsets of their other
partitions stand still, and those that commit all they have commit the same ones again and again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from warren.contracts.status import Status
from warren.evaluation import Bools, PartitionRules, PartitionVerdicts, Track
from warren.evaluation.backlog import reads_a_burst
from warren.evaluation.progress import waited_ms
from warren.evaluation.track import Mark
from warren.evaluation.usual import LEAST_WAIT_MS, usual_gap
from warren.judgement.facts import STANDING, Knowledge
from warren.judgement.state import GroupState

LONGEST_TURN_MS = 5 * 60_000


def told_in_turn(
    verdicts: PartitionVerdicts, rules: PartitionRules, state: GroupState, knowledge: Knowledge
) -> PartitionVerdicts:
    """The verdicts of policy `progress` without STOP and STALL where the owner reads the backlog of
    another partition, for a while. Where nobody knows the owner it is told as ever.
    """
    track = state.track
    standing = np.isin(verdicts.status, STANDING)
    if track is None or not standing.any():  # as nearly always
        return verdicts
    standing &= rules.policies["progress"]
    now = state.applied.observed_at
    standing &= waited_ms(track, now) <= LONGEST_TURN_MS
    reading = _reads_backlog(track, now)
    if not (standing.any() and reading.any()):
        return verdicts
    group = knowledge.membership()
    if group is None:
        return verdicts
    owner = np.array([group.owners.get(name, -1) for name in state.layout.names()])
    waits = standing & (owner >= 0) & np.isin(owner, owner[reading])
    behind = np.where(track.marks[Mark.GROWING] > 0, np.uint8(Status.WARN), np.uint8(Status.OK))
    return replace(verdicts, status=np.where(waits, behind, verdicts.status))


def _reads_backlog(track: Track, now_ms: int) -> Bools:
    """[partition] its offset has advanced lately, by more than what comes."""
    marks, figures = track.marks, track.figures
    recent = np.maximum(usual_gap(marks, figures), LEAST_WAIT_MS)
    lately = (marks[Mark.ADVANCED_AT] >= 0) & (now_ms - marks[Mark.ADVANCED_AT] <= recent)
    reading: Bools = lately & ((marks[Mark.BEHIND_SINCE] >= 0) | reads_a_burst(figures))
    return reading
