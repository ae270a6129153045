"""Turns: a member that is behind reads on in one partition first, and then in the next one.

Clients fetch much of a partition at once. While they work through it, offsets of their other
partitions stand still, and those that commit all they have commit the same ones again and again.
So they do where a member has paused a partition for a moment, as whose buffer for it is full.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from warren.contracts.status import Status

from warren_core.evaluation import Bools, PartitionRules, PartitionVerdicts, Track
from warren_core.evaluation.backlog import reads_a_burst
from warren_core.evaluation.progress import waited_ms
from warren_core.evaluation.rule import BY
from warren_core.evaluation.track import Mark
from warren_core.evaluation.usual import usual_gap
from warren_core.judgement.facts import STANDING, Knowledge
from warren_core.judgement.state import GroupState

LONGEST_TURN_MS = 5 * 60_000


def told_in_turn(
    verdicts: PartitionVerdicts, rules: PartitionRules, state: GroupState, knowledge: Knowledge
) -> PartitionVerdicts:
    """The verdicts of policy `progress` without STOP and STALL where the owner reads the backlog of
    another partition, for a while; without STALL, for as long as a silence would take to be told,
    where it reads any other. Where nobody knows the owner it is told as ever.
    """
    track = state.track
    standing = np.isin(verdicts.status, STANDING)
    if track is None or not standing.any():  # as nearly always
        return verdicts
    standing &= rules.policies["progress"]
    now = state.applied.observed_at
    waited = waited_ms(track, now)
    reading = _reads(track, now) & ~standing
    standing &= waited <= LONGEST_TURN_MS
    if not (standing.any() and reading.any()):
        return verdicts
    group = knowledge.membership()
    if group is None:
        return verdicts
    owner = np.array([group.owners.get(name, -1) for name in state.layout.names()])
    takes_turns = np.isin(owner, owner[reading & _has_backlog(track)])
    may_be_paused = (verdicts.status == Status.STALL) & (waited <= BY.least_wait)
    waits = standing & (owner >= 0)
    waits &= takes_turns | (may_be_paused & np.isin(owner, owner[reading]))
    behind = np.where(track.marks[Mark.GROWING] > 0, np.uint8(Status.WARN), np.uint8(Status.OK))
    return replace(verdicts, status=np.where(waits, behind, verdicts.status))


def _reads(track: Track, now_ms: int) -> Bools:
    """[partition] its offset has advanced lately."""
    marks, figures = track.marks, track.figures
    recent = np.maximum(usual_gap(marks, figures), BY.least_wait)
    lately: Bools = (marks[Mark.ADVANCED_AT] >= 0) & (now_ms - marks[Mark.ADVANCED_AT] <= recent)
    return lately


def _has_backlog(track: Track) -> Bools:
    """[partition] more is read than what comes."""
    has: Bools = (track.marks[Mark.BEHIND_SINCE] >= 0) | reads_a_burst(track.figures)
    return has
