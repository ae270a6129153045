"""Rules: what each says of every partition at every look."""

from collections.abc import Mapping

import numpy as np
from support.detection.simulation import UNKNOWN, Ints, Recording
from warren.contracts import EarlierPositions, OffsetEvent, Status, TopicPositions
from warren.settings import PolicyName
from warren_core.evaluation import Column, GroupRules, Rules, Sighting, Track, Windows, expect, see
from warren_core.evaluation.progress import judge as judge_progress
from warren_core.judgement.cohort import Brief, Entry, is_ordinary, judge_together
from warren_core.judgement.judge import Judged, judge
from warren_core.judgement.state import GroupGone, GroupState

START_MS = 1_795_244_400_000
AGE_ABOVE_S = 300
OWN_EVERY, OWN_LEAST_S, DAY_S = 12, 60, 86_400  # looks from one to the next; seconds
HEARTBEAT = 10  # seconds until a group that does not commit is looked at again


STATES = {0: "Empty", 1: "PreparingRebalance", 2: "Stable"}
# A group says how bad it is, and why: its only partition's status.
STATUSES = {
    None: Status.OK,
    "no_commit": Status.STOP,
    "no_progress": Status.STALL,
    "rewind": Status.REWIND,
    "beyond_log_end": Status.BEYOND_END,
    "log_end_unknown": Status.OK,  # nobody is told
}


def by_policy(recording: Recording, policy: PolicyName, *, members: bool = True) -> Ints:
    """[tick, partition] statuses, by the evaluator's own judgement; each is a group of its own.

    `members`: whether anybody may look at them.
    """
    rules = GroupRules(Rules(policy=policy))
    states: list[GroupState | None] = [None] * recording.committed.shape[1]
    said = np.full(recording.committed.shape, Status.OK, np.int64)
    seen_at = np.full(len(states), -HEARTBEAT, np.int64)
    for tick in range(len(recording.second)):
        looked_at = _looks(recording, tick, seen_at)
        seen_at[looked_at] = recording.second[tick]
        said[tick] = said[tick - 1]
        events = _events(recording, tick, looked_at, members=members)
        entries = [Entry(e, states[p]) for e, p in zip(events, looked_at, strict=True)]
        ordinary = [number for number, one in enumerate(entries) if is_ordinary(one, rules)]
        together = judge_together([entries[number] for number in ordinary], rules.group)
        briefs = dict(zip(ordinary, together, strict=True))
        for number, (entry, p) in enumerate(zip(entries, looked_at, strict=True)):
            brief = briefs.get(number) or _judged(entry, rules)
            states[p], said[tick, p] = brief.state, STATUSES.get(brief.reason, Status.WARN)
    return said


def by_progress(recording: Recording) -> Ints:
    """[tick, partition] as `by_policy` of `progress` says, of all partitions at once: some times as
    fast, for it makes no events, and keeps no windows.
    """
    count = recording.committed.shape[1]
    track, seen_at = Track.empty(count), np.full(count, -HEARTBEAT, np.int64)
    said = np.full(recording.committed.shape, Status.OK, np.int64)
    # Who commits the last record that it has read: groups tell, of whom nothing is kept here.
    steps = ((recording.true_end - recording.committed).min(axis=0) == 1).astype(np.int64)
    for tick, second in enumerate(recording.second.tolist()):
        rows = np.array(_looks(recording, tick, seen_at), np.int64)
        seen_at[rows] = second
        sighting = Sighting(
            at=START_MS + second * 1000,
            committed=recording.committed[tick, rows],
            committed_at=START_MS + recording.committed_at[tick, rows] * 1000,
            commits=recording.commits[tick, rows],
            log_end=recording.log_end[tick, rows],
            presence=recording.presence[tick, rows],
            last_stable=_last_stable(recording, tick)[rows],
            allowed_lag=steps[rows],
            pace_ms=Rules().grace_ms,
        )
        see(track, rows, sighting)
        if not tick:
            expect(track, _windows(recording))
        said[tick] = said[tick - 1]
        said[tick, rows] = judge_progress(track.take(rows), sighting.at)
    return said


def _windows(recording: Recording) -> Windows:
    """The commits of before."""
    windows = Windows.empty(len(recording.earlier), Rules().intervals)
    for partition, earlier in enumerate(recording.earlier):
        newest = int(recording.committed_at[0, partition])
        known = [commit for commit in earlier if commit[1] < newest]
        known.append((int(recording.committed[0, partition]), newest))
        commits = np.zeros((len(Column), len(known)), np.int64)
        commits[Column.OFFSET] = [offset for offset, _ in known]
        commits[Column.COMMITTED_AT] = [START_MS + at * 1000 for _, at in known]
        windows.fill(partition, commits)
    return windows


def _judged(entry: Entry, rules: GroupRules) -> Brief:
    assert not isinstance(entry.state, GroupGone)
    outcome = judge(entry.event, entry.state, rules)
    assert isinstance(outcome, Judged)
    return Brief.of(outcome, Status.OK)


def _looks(recording: Recording, tick: int, seen_at: Ints) -> list[int]:
    """At who has committed, and at each once in a while, as a collector does."""
    silent = recording.second[tick] - seen_at >= HEARTBEAT
    looked_at: list[int] = np.flatnonzero(silent | (recording.commits[tick] > 0)).tolist()
    return looked_at


def _events(
    recording: Recording, tick: int, looked_at: list[int], *, members: bool
) -> list[OffsetEvent]:
    second = int(recording.second[tick])
    columns = zip(
        looked_at,
        recording.committed[tick, looked_at].tolist(),
        (START_MS + recording.committed_at[tick, looked_at] * 1000).tolist(),
        recording.commits[tick, looked_at].tolist(),
        recording.log_end[tick, looked_at].tolist(),
        _last_stable(recording, tick)[looked_at].tolist(),
        recording.presence[tick, looked_at].tolist() if members else [UNKNOWN] * len(looked_at),
        strict=True,
    )
    events = []
    for partition, committed, committed_at, commits, log_end, stable, presence in columns:
        earlier = None if tick else _earlier(recording.earlier[partition], committed)
        at = second, committed, committed_at, commits, log_end, stable, presence
        events.append(_event(*at, earlier))
    return events


def _last_stable(recording: Recording, tick: int) -> Ints:
    """It is asked for only where a group stands."""
    stands = recording.committed[tick] == recording.committed[max(tick - 1, 0)]
    return np.where(stands, recording.last_stable[tick], UNKNOWN)


def _event(
    second: int,
    committed: int,
    committed_at: int,
    commits: int,
    log_end: int,
    last_stable: int,
    presence: int,
    earlier: Mapping[str, EarlierPositions] | None,
) -> OffsetEvent:
    positions = TopicPositions.model_construct(
        partition=[0],
        committed=[committed],
        committed_at=[committed_at],
        commits=[commits],
        log_start=[0],
        log_end=[log_end],
        last_stable=[last_stable],
    )
    return OffsetEvent.model_construct(
        cluster="c",
        group="g",
        source="offsets_topic",
        observed_at=START_MS + second * 1000,
        position=second,
        topics={"t": positions},
        group_state=STATES.get(presence),
        earlier=earlier,
    )


def _earlier(
    commits: list[tuple[int, int]], committed: int
) -> Mapping[str, EarlierPositions] | None:
    """What the offsets topic still has of before the newest commit."""
    before = [(offset, at) for offset, at in commits if offset < committed]
    if not before:
        return None
    positions = EarlierPositions(
        partition=[0],
        log_end=[[]],
        committed=[[offset for offset, _ in before]],
        committed_at=[[START_MS + at * 1000 for _, at in before]],
    )
    return {"t": positions}


def by_age(recording: Recording) -> Ints:
    """WARN where the oldest unread record is older than that; what has no age is not old."""
    return np.where(_ages(recording) > AGE_ABOVE_S, Status.WARN, Status.OK)


def by_own_age(recording: Recording) -> Ints:
    """WARN where it is older than twice what 99 % of the partition's ages of 24 h are, and 60 s."""
    ages = _ages(recording)
    said = np.full(ages.shape, Status.OK, np.int64)
    interval = int(recording.second[1] - recording.second[0])
    for tick in range(0, len(ages), OWN_EVERY):
        day = ages[max(tick - DAY_S // interval, 0) : tick + 1]
        most = np.maximum(2 * np.quantile(day, 0.99, axis=0), OWN_LEAST_S)
        part = slice(tick, tick + OWN_EVERY)
        said[part] = np.where(ages[part] > most, Status.WARN, Status.OK)
    return said


def _ages(recording: Recording) -> Ints:
    """[tick, partition] of the oldest unread record, seconds; 0 where nobody knows."""
    ages = np.zeros_like(recording.committed)
    ticks = len(recording.second)
    for p in range(recording.committed.shape[1]):
        came = np.searchsorted(recording.true_end[:, p], recording.committed[:, p], side="right")
        since = recording.second[np.minimum(came, ticks - 1)]
        ages[:, p] = np.where(came < ticks, np.maximum(recording.second - since, 0), 0)
    return ages
