"""Log ends belong to topics: what is remembered of them, also of those that nobody consumes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from warren.clock import ManualClock
from warren.errors import ClusterUnreachable
from warren_collector.logs.ends import Int64s, LogEnds, TopicLog
from warren_collector.logs.history import KEPT, LogHistory
from warren_collector.logs.watch import EVERY, LogWatch

NOW = 1_795_244_400_000


def ends(*numbers: int) -> LogEnds:
    end = np.array(numbers, np.int64)
    return LogEnds({"orders": TopicLog(np.zeros_like(end), end)})


def known(history: LogHistory, *partitions: int) -> list[list[int]]:
    return history.of("orders", np.array(partitions, np.int64))


def test_the_newest_of_each_ten_seconds_is_kept() -> None:
    history = LogHistory()
    for second in range(0, 200, 5):
        history.add(ends(second, 7), NOW + second * 1000)
    assert known(history, 0, 1) == [[*range(105, 200, 10)], [7] * KEPT]


def test_unknown_ends_say_nothing_and_a_log_made_anew_has_no_past() -> None:
    history = LogHistory()
    history.add(ends(10, 20), NOW)
    history.add(ends(-1, 25), NOW + 10_000)
    history.add(ends(15, 3), NOW + 20_000)
    assert known(history, 0, 1) == [[10, 10, 15], [3]]


def test_partitions_may_be_added_and_topics_go() -> None:
    history = LogHistory()
    history.add(ends(1), NOW)
    history.add(ends(2, 5), NOW + 10_000)
    assert known(history, 1, 0, 9) == [[5], [1, 2], []]
    history.add(LogEnds(missing=frozenset({"orders"})), NOW + 20_000)
    assert known(history, 0) == [[]]


class Logs:
    """100 records a second, since NOW - 45 s."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.is_away = False
        self.readings = 0

    def read_all(self, accepts: Callable[[str], bool]) -> LogEnds:
        if self.is_away:
            raise ClusterUnreachable("prod", "clusters.prod.bootstrap", "away")
        self.readings += 1
        assert accepts("orders")
        return ends(self._end(self.clock.now_ms()))

    def read_past(
        self, accepts: Callable[[str], bool], times: Sequence[int]
    ) -> list[dict[str, Int64s]]:
        assert accepts("orders")
        return [{"orders": np.array([self._end(time)])} for time in times]

    @staticmethod
    def _end(time: int) -> int:
        return max((time - NOW) // 10 + 4500, -1)


def test_the_first_look_asks_for_the_past_and_each_ten_seconds_are_looked_at() -> None:
    clock = ManualClock(NOW)
    logs = Logs(clock)
    watch = LogWatch(logs, lambda _topic: True, clock)
    logs.is_away = True
    assert watch.look() is None
    assert len(watch.history) == 0
    logs.is_away = False
    watch.look()
    assert logs.readings == 0  # not before the next time
    clock.advance(EVERY)
    read = watch.look()
    assert read is not None
    assert read.topics["orders"].end.tolist() == [5500]
    assert known(watch.history, 0) == [[500, 1500, 2500, 3500, 4500, 5500]]
    for _ in range(4):
        clock.advance(EVERY / 2)
        watch.look()
    assert logs.readings == 3
    assert known(watch.history, 0)[0][-2:] == [6500, 7500]
