"""The collector on a real broker, reading an offsets topic that the test itself writes."""

import math
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import support.coordinator_records as encode
from support.collector_lab import CLUSTER, Events, Lab
from support.coordinator_batches import batch
from support.recorded_positions import recorded_positions
from support.waiting import eventually
from warren.contracts import group_key, split_group_key
from warren.metrics import collector as metrics
from warren.settings import ClusterSettings, Settings
from warren.settings_file import SettingsWatch
from warren_collector.logs.ends import LogEnds, TopicLog
from warren_collector.positions.events import Origin, group_events
from warren_core.evaluation import GroupRules, Rules
from warren_core.judgement.judge import Judged, judge
from warren_core.judgement.state import GroupState
from warren_local.server import free_port

OFFSETS_PARTITIONS = 4
Record = tuple[bytes | None, bytes | None]


def groups_of(lab: Lab) -> list[str]:
    """Two groups in each partition of the offsets topic."""
    return [f"{lab.name}-{number}" for number in range(2 * OFFSETS_PARTITIONS)]


class Commits:
    """Writes commits of a topic's single partition, the next offset each time."""

    def __init__(self, lab: Lab) -> None:
        self.topic = lab.create_topic("orders")
        self.offsets_topic = lab.create_topic("offsets", OFFSETS_PARTITIONS)
        self.newest: dict[str, int] = {}
        self._lab = lab

    def write(self, times: int) -> None:
        """So many commits of every group."""
        for number, group in enumerate(groups_of(self._lab)):
            first = self.newest.get(group, -1) + 1
            self.newest[group] = first + times - 1
            records: list[Record] = [
                (encode.offset_key(group, self.topic, 0), encode.offset_value(offset, offset + 1))
                for offset in range(first, first + times)
            ]
            self._lab.produce(self.offsets_topic, records, number % OFFSETS_PARTITIONS)

    def are_published(self, events: Events) -> bool:
        return all(
            events.committed(group) == {(self.topic, 0): offset}
            for group, offset in self.newest.items()
        )


def counts(lab: Lab, events: Events) -> set[int]:
    return {events.commits(group) for group in groups_of(lab)}


def sample(name: str, **labels: str) -> float:
    """Of the collectors in this process; 0 where there is none yet."""
    return metrics.COLLECTOR.get_sample_value(name, {"cluster": CLUSTER, **labels}) or 0


def test_the_collector_says_how_it_is(lab: Lab) -> None:
    commits = Commits(lab)
    commits.write(2)
    counters = [f"warren_collector_{name}_total" for name in ("commits", "events")]
    before = [sample(name) for name in counters]
    with lab.ready(lab.settings(commits.offsets_topic)):
        events = lab.events()
        events.until(lambda: commits.are_published(events), "the state is published")
        commits.write(3)
        events.until(lambda: counts(lab, events) == {3}, "the new commits are published")
        eventually(lambda: sample("warren_collector_backlog_records") == 0, message="all is read")
        assert sample("warren_collector_cluster_state", state="ok") == 1
        assert sample("warren_collector_cluster_state", state="unreachable") == 0
        assert sample("warren_collector_positions") == len(groups_of(lab))
        assert sample("warren_collector_source_partitions") == OFFSETS_PARTITIONS
        assert sample("warren_collector_log_ends_age_seconds") >= 0
        assert not math.isnan(sample("warren_collector_log_ends_age_seconds"))
    events.read()
    taken, published = (sample(name) - was for name, was in zip(counters, before, strict=True))
    assert taken == 3 * len(groups_of(lab))
    assert published == len(events.all)


def test_malformed_records_are_dead_letters_and_harm_nothing_else(lab: Lab) -> None:
    commits = Commits(lab)
    key = encode.offset_key(groups_of(lab)[0], commits.topic, 0)
    bad: list[Record] = [(key, b"\0\3short"), (None, b"no key"), (b"\0", None)]
    with lab.ready(lab.settings(commits.offsets_topic)):
        events = lab.events()
        commits.write(1)
        lab.produce(commits.offsets_topic, bad)
        commits.write(1)
        events.until(lambda: counts(lab, events) == {2}, "all good commits are published")
        events.until(lambda: len(events.letters) == 3, "the bad records are dead letters")
    letters = sorted(events.letters, key=lambda letter: letter.offset)
    assert [(letter.key, letter.value) for letter in letters] == bad
    assert [letter.offset for letter in letters] == [2, 3, 4]
    assert {(letter.service, letter.topic, letter.partition) for letter in letters} == {
        ("collector", commits.offsets_topic, 0)
    }
    assert [letter.reason.partition(":")[0] for letter in letters] == [
        "value.offset",
        "key",
        "key.version",
    ]


def test_filters_are_changed_in_the_file(lab: Lab, tmp_path: Path) -> None:
    commits = Commits(lab)
    commits.write(2)
    settings = lab.settings(commits.offsets_topic)
    hidden, shown = groups_of(lab)[0], groups_of(lab)[-1]
    file = tmp_path / "warren.toml"

    def write(filters: str) -> None:
        file.write_text(f"[filters]\n{filters}\n[clusters.{CLUSTER}]\nbootstrap = 'unused:1'\n")

    def watch() -> SettingsWatch:
        """Of a file with the filters alone: it is read as it is in the collector's process."""
        return SettingsWatch(file, settings)

    write("groups_deny = ['^nobody$']")
    allowed = f"groups_allow = ['{lab.name}']\n"
    with lab.collecting(settings, watch()):
        events = lab.events()
        events.until(lambda: commits.are_published(events), "the state is published")

        write(allowed + f"groups_deny = ['^{hidden}$']")
        events.until(lambda: events.of(hidden)[-1].deleted, "a group is denied")
        assert events.of(hidden)[-1].removed == {commits.topic: [0]}
        assert not any(event.deleted for event in events.of(shown))

        write(allowed + "groups_deny = ['[']")
        commits.write(1)
        del commits.newest[hidden]
        events.until(lambda: commits.are_published(events), "an invalid file changes nothing")
        assert events.of(hidden)[-1].deleted

        write(allowed + "groups_deny = []")
        events.until(lambda: not events.of(hidden)[-1].deleted, "the group is allowed again")
        assert events.committed(hidden) == {(commits.topic, 0): 2}

        write(allowed + f"topics_deny = ['^{commits.topic}$']")
        events.until(
            lambda: all(events.of(group)[-1].deleted for group in groups_of(lab)),
            "the only topic is denied",
        )


def test_an_unreachable_cluster_harms_only_itself(lab: Lab) -> None:
    commits = Commits(lab)
    commits.write(1)
    settings = lab.settings(commits.offsets_topic)
    nobody = ClusterSettings(bootstrap=f"127.0.0.1:{free_port()}", groups_allow=[lab.name])
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, never answers
        slow = ClusterSettings(bootstrap=f"127.0.0.1:{silent.getsockname()[1]}")
        clusters = {"away": nobody, "slow": slow, **settings.clusters}
        check_isolation(lab, commits, settings.model_copy(update={"clusters": clusters}))


def check_isolation(lab: Lab, commits: Commits, settings: Settings) -> None:
    with lab.collecting(settings) as collector:
        name = f"{lab.prefix}clusters"
        eventually(lambda: name in lab.admin.list_topics(timeout=30).topics, message=name)
        events = lab.events()
        events.until(lambda: commits.are_published(events), "the good cluster is published")
        expected = {CLUSTER: "ok", "away": "unreachable", "slow": "unreachable"}
        events.until(lambda: events.cluster_states() == expected, "each has its own state")
        assert collector.readiness() is True, "what can be reached is rebuilt"
        assert collector.works["collecting"]().obstacle == ""
    events.until(lambda: events.cluster_states() == {}, "a collector that stops withdraws")


@pytest.mark.heavy
def test_a_collector_that_reaches_no_cluster_is_not_ready(lab: Lab) -> None:
    nobody = ClusterSettings(bootstrap=f"127.0.0.1:{free_port()}")
    settings = lab.settings().model_copy(update={"clusters": {"away": nobody}})
    with lab.collecting(settings) as collector:
        assert collector.readiness() == "cluster away: connecting"
        eventually(
            lambda: str(collector.readiness()).startswith("cluster away: unreachable, "),
            message="it says why",
        )
        assert "(see clusters.away.bootstrap)" in collector.works["collecting"]().obstacle


def test_a_bad_setting_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    config = tmp_path / "warren.toml"
    config.write_text('[clusters.prod]\nbootstrap = "127.0.0.1:19299"\ngroups_deny = ["["]\n')
    command = [sys.executable, "-m", "warren_collector", "--config", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "warren-collector: clusters.prod.groups_deny: '[' is no regular expression"
    )
    assert done.stderr.count("\n") == 1


def test_a_restart_loses_and_doubles_nothing(lab: Lab) -> None:
    commits = Commits(lab)
    settings = lab.settings(commits.offsets_topic)
    with lab.ready(settings):
        events = lab.events()
        commits.write(4)
        events.until(lambda: counts(lab, events) == {4}, "all commits are counted")
    commits.write(3)
    with lab.ready(settings):
        events.until(lambda: counts(lab, events) == {7}, "those meanwhile are counted")
        commits.write(2)
        events.until(lambda: counts(lab, events) == {9}, "those afterwards are counted")
    with lab.ready(settings):
        seen = len(events.all)
        events.until(lambda: len(events.all) > seen, "an event after the last start")
    events.read()
    assert counts(lab, events) == {9}
    assert commits.are_published(events)


# What happens to topics, brokers and offsets in real life, and what the events then say.

NAMES = ["a|b", "|", "with space", " ", "a/b//c", "größe-日本-🐇", "", "x" * 249, "%2F", 'a"b\\c']


def test_group_names_of_every_kind(lab: Lab) -> None:
    topic, offsets_topic = lab.create_topic("orders"), lab.create_topic("offsets")
    lab.produce(
        offsets_topic,
        [(encode.offset_key(name, topic, 0), encode.offset_value(3, 1)) for name in NAMES],
    )
    settings = lab.settings(offsets_topic)
    cluster = settings.clusters[CLUSTER].model_copy(update={"groups_allow": []})
    with lab.ready(settings.model_copy(update={"clusters": {CLUSTER: cluster}})):
        events = lab.events()
        events.until(lambda: {e.group for e in events.all} >= set(NAMES), "all are published")
    assert {e.group for e in events.all} == set(NAMES)
    assert {key for key, _ in events.keys} == {group_key(CLUSTER, name) for name in NAMES}
    for key, name in events.keys:
        assert split_group_key(key) == (CLUSTER, name)


NOW = 1_795_244_400_000


SECOND = 1000


class Judge:
    """One partition: each commit goes through the collector's columns and the evaluator."""

    def __init__(self) -> None:
        self._positions = recorded_positions()
        self._state: GroupState | None = None
        self._position = 0

    def see(
        self, now: int, end: int, commit: int | None = None, *, start: int = 0, ahead: int = 0
    ) -> Judged:
        """The group's event at `now`; the time of the commit is `ahead` of it."""
        self._position += 1
        if commit is not None:
            value = encode.offset_value(commit, now + ahead)
            self._positions.fold(batch([(encode.offset_key("g", "orders", 0), value)]))
        (group,) = self._positions.groups
        log = TopicLog(np.array([start], np.int64), np.array([end], np.int64))
        origin = Origin("prod", "offsets_topic", 5000)
        ends = LogEnds({"orders": log})
        built = group_events(group, self._positions.columns, ends, origin, self._position, now)
        self._positions.published([group], built.rows, at=0)
        (event,) = built.events
        outcome = judge(event, self._state, GroupRules(Rules(minimum_complete=0.5)))
        assert isinstance(outcome, Judged)
        self._state = outcome.state
        return outcome

    def status(self, outcome: Judged) -> str:
        return outcome.lag.topics["orders"].status[0]


def test_a_log_that_ends_before_the_committed_offset_has_no_lag_and_is_told() -> None:
    seen = Judge()
    for second in range(8):
        seen.see(NOW + second * SECOND, 1000, 990 + second)
    truncated = seen.see(NOW + 9 * SECOND, 0, 998)
    assert (seen.status(truncated), truncated.lag.total_lag) == ("OK", 0)
    second = seen.see(NOW + 60 * SECOND, 0)
    assert (seen.status(second), second.lag.total_lag) == ("BEYOND_END", 0)


def test_offsets_that_jump_back_to_0_are_a_rewind() -> None:
    seen = Judge()
    for second in range(8):
        ok = seen.see(NOW + second * SECOND, 1000 + second, 1000 + second)
    assert seen.status(ok) == "OK"
    jumped = seen.see(NOW + 8 * SECOND, 1008, 0)
    assert seen.status(jumped) == "REWIND"
    assert jumped.change is not None
    assert jumped.change.data.previous == "OK"
