"""What happens to topics, brokers and offsets in real life, and what the events then say."""

import numpy as np
import support.coordinator_records as encode
from support.collector_lab import CLUSTER, Lab
from support.coordinator_batches import batch
from support.recorded_positions import recorded_positions
from warren.contracts import group_key, split_group_key
from warren_collector.logs.ends import LogEnds, TopicLog
from warren_collector.positions.events import Origin, group_events
from warren_core.evaluation import GroupRules, Rules
from warren_core.judgement.judge import Judged, judge
from warren_core.judgement.state import GroupState

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
