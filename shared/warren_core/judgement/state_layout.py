"""The partitions of a stored state, and how their group commits, as JSON."""

from __future__ import annotations

import functools
import json
from typing import Any

from warren_core.evaluation.commit_convention import CommitEvidence, Commits, Rest
from warren_core.judgement.layout import Layout
from warren_core.judgement.state import Forgotten, GroupState
from warren_core.judgement.state_arrays import CorruptState


def encode_layout(state: GroupState) -> bytes:
    """Most topics have partitions 0 to n-1: those are just n. A third entry is forgotten ones, a
    fourth how the group commits: 1 for the next offset, or where it was seen to rest."""
    compact: list[list[Any]] = [
        [topic, len(ps) if ps == tuple(range(len(ps))) else ps]
        for topic, ps in state.layout.topics.items()
    ]
    compact += [[topic, [], sorted(partitions)] for topic, partitions in state.forgotten.items()]
    compact += [
        [topic, [], [], 1 if evidence.has_reached_end else sorted(evidence.rests)]
        for topic, evidence in state.commits.items()
    ]
    return json.dumps(compact, separators=(",", ":")).encode()


@functools.lru_cache(maxsize=4096)
def decode_layout(raw: bytes, most: int) -> tuple[Layout, Forgotten, Commits]:
    topics = {}
    forgotten = {}
    commits = {}
    for topic, partitions, *more in json.loads(raw):
        if len(more) > 1:
            commits[topic] = _commit_evidence(more[1])
            continue
        if more:
            forgotten[topic] = frozenset(more[0])
            continue
        if isinstance(partitions, int) and partitions > most:
            raise CorruptState(f"{partitions} partitions named, {most} announced")
        topics[topic] = range(partitions) if isinstance(partitions, int) else partitions
    return Layout(topics), forgotten, commits


def _commit_evidence(stored: int | list[list[int]]) -> CommitEvidence:
    if isinstance(stored, int):
        return CommitEvidence(has_reached_end=True)
    return CommitEvidence(frozenset(Rest(*place) for place in stored))
