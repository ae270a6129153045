"""Collectors that share a cluster: one is stopped, one is killed, and the windows show no trace."""

import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
import support.coordinator_records as encode
from support.collector_lab import CLUSTER, Events, Lab
from support.collector_process import collector_process
from support.waiting import eventually
from warren.clock import SystemClock
from warren_core.evaluation import Column, GroupRules, Int64, Rules, Windows
from warren_core.judgement.judge import Duplicate, Judged, judge
from warren_core.judgement.state import GroupState

pytestmark = pytest.mark.heavy

SOURCE_PARTITIONS = 4
GROUPS = 8
PARTITIONS = 3
ROUND_MS = 2000  # between the times of two commits of a position: more than `min_distance`
RULES = Rules(intervals=20)
Commit = tuple[int, int]


class Commits:
    """Rounds of commits of every position, each of them remembered."""

    def __init__(self, lab: Lab, now: int) -> None:
        self.groups = [f"{lab.name}-{number}" for number in range(GROUPS)]
        self.topic = lab.create_topic("orders", PARTITIONS)
        self.source = lab.create_topic("source", SOURCE_PARTITIONS)
        self.all: list[Commit] = []
        self._lab = lab
        self._now = now

    def write(self) -> None:
        """One round."""
        commit = 10 * len(self.all), self._now + ROUND_MS * len(self.all)
        self.all.append(commit)
        for number, group in enumerate(self.groups):
            records: list[tuple[bytes | None, bytes | None]] = [
                (encode.offset_key(group, self.topic, p), encode.offset_value(*commit))
                for p in range(PARTITIONS)
            ]
            self._lab.produce(self.source, records, number % SOURCE_PARTITIONS)

    def are_published(self, events: Events) -> bool:
        newest = {(self.topic, p): self.all[-1][0] for p in range(PARTITIONS)}
        return all(events.committed(group) == newest for group in self.groups)


def windows_by_events(events: Events, group: str) -> Windows:
    """What the evaluator's table holds of a group after all events."""
    state: GroupState | None = None
    for event in events.of(group):
        outcome = judge(event, state, GroupRules(RULES))
        if not isinstance(outcome, Duplicate):
            assert isinstance(outcome, Judged)
            state = outcome.state
    assert state is not None
    return state.windows


def windows_by_commits(commits: list[Commit]) -> Windows:
    """The reference: every commit folded in, one after the other."""
    windows = Windows.empty(PARTITIONS, RULES.intervals)
    rows = np.arange(PARTITIONS)
    for order, (offset, at) in enumerate(commits):
        columns: Int64 = np.zeros((len(Column), PARTITIONS), np.int64)
        columns[Column.OFFSET], columns[Column.COMMITTED_AT] = offset, at
        columns[Column.ORDER] = order
        windows.insert(rows, columns, RULES.min_distance_ms)
    return windows


def test_no_commit_is_missing_or_doubled_when_collectors_stop_and_die(
    lab: Lab, tmp_path: Path
) -> None:
    with ExitStack() as running:
        events = lab.events()
        commits = Commits(lab, SystemClock().now_ms())
        settings = lab.settings(commits.source)

        def start(name: str) -> subprocess.Popen[str]:
            directory = tmp_path / name
            directory.mkdir()
            return running.enter_context(collector_process(settings, CLUSTER, directory))

        def shares() -> list[int]:
            group = settings.collector.group_id
            members = lab.admin.describe_consumer_groups([group])[group].result(30).members
            return sorted(len(m.assignment.topic_partitions) for m in members if m.assignment)

        def round_is_published(what: str) -> None:
            commits.write()
            events.until(lambda: commits.are_published(events), what, timeout=90)

        first = start("first")
        round_is_published("the first round")
        second = start("second")
        eventually(lambda: shares() == [2, 2], message="each has two partitions")
        for number in range(3):
            round_is_published(f"round {number} of both")
        first.send_signal(signal.SIGTERM)
        round_is_published("a round while one stops")
        assert first.wait(60) == 0
        third = start("third")
        eventually(lambda: shares() == [2, 2], message="each has two partitions again")
        round_is_published("a round of the other two")
        second.kill()
        round_is_published("a round while nobody reads half of the groups")
        eventually(lambda: shares() == [4], message="one has taken over")
        for number in range(3):
            round_is_published(f"round {number} after that")
        third.send_signal(signal.SIGTERM)
        assert third.wait(60) == 0
        events.read()

    expected = windows_by_commits(commits.all)
    assert expected.filled.tolist() == [len(commits.all)] * PARTITIONS
    for group in commits.groups:
        found = windows_by_events(events, group)
        assert found.filled.tolist() == expected.filled.tolist()
        for column in (Column.OFFSET, Column.COMMITTED_AT):
            assert found.column(column).tolist() == expected.column(column).tolist()
