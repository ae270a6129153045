"""Trends: what each minute of a group was like, as the evaluator tells it."""

from api.served_api import freshness_event, late
from support.manual_clock import ManualClock
from support.offset_events import At, offset_event
from warren.contracts import MINUTE_MS, TRENDS, OffsetEvent, TrendEvent, group_key
from warren_core.evaluation import GroupRules, Rules
from warren_evaluator.batch import BatchEvaluator
from warren_evaluator.records import SourceRecord
from warren_evaluator.trends import Trends

KEY = group_key("prod", "billing")
BEGIN = 1_795_244_400_000  # of a minute
TICK = 10_000
BELIEVED = 35_000

LATER = BEGIN + 60 * MINUTE_MS


class Worker:
    """One after another; a new one knows the table only."""

    def __init__(self, table: dict[bytes, bytes] | None = None) -> None:
        self.table = {} if table is None else table
        self.trends = Trends(BELIEVED)
        self.batch = BatchEvaluator(
            lambda _cluster, _group: GroupRules(Rules()),
            "w.",
            ManualClock(LATER),
            trends=self.trends,
        )
        self.offset = 0

    def judge(self, *events: OffsetEvent) -> list[TrendEvent]:
        records = []
        for event in events:
            self.offset += 1
            key = group_key(event.cluster, event.group)
            records.append(SourceRecord("w.offsets", 3, self.offset, key, event.to_bytes()))
        result = self.batch.evaluate(records, self.table.get)
        self.table |= {write.key: write.value for write in result.writes if write.value}
        topic = TRENDS.full_name("w.")
        told = [item for item in result.publications if item.topic == topic]
        assert {item.partition for item in told} <= {3}
        return [TrendEvent.from_bytes(item.value) for item in told]


def tick(at: int, committed: int = 0, lag: int = 0, **more: At) -> OffsetEvent:
    """Of one partition of each topic."""
    others = {topic: {0: position} for topic, position in more.items()}
    return offset_event(at, {"orders": {0: At(committed, at, lag=lag)}, **others})


def ticks(begin: int, count: int, first: int = 0) -> list[OffsetEvent]:
    """Each commits 5 more, and lag grows by 1."""
    return [tick(begin + n * TICK, 100 + 5 * (first + n), lag=first + n) for n in range(count)]


def test_a_minute_is_told_once_it_is_over() -> None:
    worker = Worker()
    assert worker.judge(*ticks(BEGIN, 6)) == []
    (trend,) = worker.judge(*ticks(BEGIN + MINUTE_MS, 1, first=6))
    assert (trend.minute, trend.status_ms) == (BEGIN, {"OK": MINUTE_MS})
    assert (trend.lag, trend.lag_max) == (5, 5)
    assert (trend.produced, trend.consumed) == (None, None), "from when the group was not known"
    (trend,) = worker.judge(*ticks(BEGIN + 70_000, 6, first=7))
    assert (trend.minute, trend.lag, trend.lag_max) == (BEGIN + MINUTE_MS, 11, 11)
    assert (trend.produced, trend.consumed) == (36, 30)
    assert trend.topics.topic == ["orders"]
    assert (trend.topics.lag, trend.topics.produced, trend.topics.consumed) == ([11], [36], [30])


def test_nothing_is_lost_or_counted_twice_between_minutes() -> None:
    told = Worker().judge(*ticks(BEGIN + 3_000, 60))
    assert [trend.minute for trend in told] == [BEGIN + n * MINUTE_MS for n in range(9)]
    assert [trend.consumed for trend in told[1:]] == [30] * 8
    assert [sum(trend.status_ms.values()) for trend in told[1:]] == [MINUTE_MS] * 8


def test_status_time_is_split_where_the_status_changes_and_where_the_minute_ends() -> None:
    worker = Worker()
    told = worker.judge(*[tick(BEGIN + n * TICK, 100, lag=n) for n in range(30)])
    spent = {"OK": 0, "ERR": 0, "WARN": 0}
    for trend in told:
        assert sum(trend.status_ms.values()) == MINUTE_MS
        for status, ms in trend.status_ms.items():
            spent[status] += ms
    assert spent["OK"] > 0
    assert spent["ERR"] + spent["WARN"] > 0


def test_what_nobody_saw_is_not_told() -> None:
    worker = Worker()
    worker.judge(*ticks(BEGIN, 2))
    (trend,) = worker.judge(tick(BEGIN + 5 * MINUTE_MS, 200))
    assert trend.status_ms == {"OK": TICK}, "an evaluation is not believed for five minutes"


def test_minutes_without_an_evaluation_that_is_still_believed() -> None:
    worker = Worker()
    worker.trends = Trends(10 * MINUTE_MS)
    worker.batch = BatchEvaluator(
        lambda _c, _g: GroupRules(Rules()),
        "w.",
        ManualClock(LATER),
        trends=worker.trends,
    )
    told = worker.judge(tick(BEGIN, 100), tick(BEGIN + 3 * MINUTE_MS, 160))
    assert [trend.status_ms for trend in told] == [{"OK": MINUTE_MS}] * 3
    assert [trend.lag for trend in told] == [0, 0, 0]


def test_the_next_worker_goes_on_where_the_table_is() -> None:
    first = Worker()
    first.judge(*ticks(BEGIN, 9))
    (trend,) = Worker(first.table).judge(*ticks(BEGIN + 90_000, 6, first=9))
    assert trend.minute == BEGIN + MINUTE_MS
    assert trend.status_ms == {"OK": 40_000}, "what the first saw of the minute went with it"
    assert trend.consumed == 15


def test_a_worker_that_gets_a_group_back_says_nothing_of_what_others_saw() -> None:
    first = Worker()
    first.judge(*ticks(BEGIN, 3))
    Worker(first.table).judge(*ticks(BEGIN + 30_000, 9, first=3))
    (trend,) = first.judge(*ticks(BEGIN + 120_000, 7, first=12))
    assert trend.minute == BEGIN + 2 * MINUTE_MS
    assert trend.consumed == 30


def test_several_topics() -> None:
    def both(n: int) -> OffsetEvent:
        at = BEGIN + n * TICK
        return tick(at, 100 + n, lag=2, refunds=At(50 + 3 * n, at, lag=9))

    trend = Worker().judge(*[both(n) for n in range(13)])[1]
    assert trend.topics.topic == ["refunds", "orders"]
    assert trend.topics.lag == [9, 2]
    assert trend.topics.consumed == [18, 6]
    assert (trend.lag, trend.consumed) == (11, 24)


def test_lateness_is_the_greatest_of_the_minute() -> None:
    worker = Worker()
    for at, ms in ((1_000, 400), (20_000, 9_000), (40_000, 700), (61_000, 50_000)):
        worker.trends.measured(
            KEY,
            freshness_event(
                "billing",
                "prod",
                measured_at=BEGIN + at,
                rows=[late(ms, time_to_loss_ms=10**6 - ms)],
            ),
        )
    (trend,) = worker.judge(*ticks(BEGIN, 7))
    assert (trend.late_ms, trend.time_to_loss_ms) == (9_000, 991_000)
    assert trend.topics.late_ms == [9_000]


def test_a_state_that_cannot_be_read_amid_a_minute() -> None:
    """Nothing is known of when the minute began but that an incident was open."""
    worker = Worker()
    at = BEGIN + 10_000
    worker.judge(*(tick(at + n * 100, 100, lag=n) for n in range(20)))
    worker.table[KEY] = b"\x63" + worker.table[KEY][1:]
    again = Worker(worker.table)
    again.offset = worker.offset
    (trend,) = again.judge(*ticks(BEGIN + 20_000, 6, first=20))
    assert (trend.minute, trend.produced, trend.consumed) == (BEGIN, None, None)
    assert trend.lag is not None


def test_a_deleted_group_tells_of_its_last_minute() -> None:
    worker = Worker()
    worker.judge(*ticks(BEGIN, 3))
    (trend,) = worker.judge(offset_event(BEGIN + 25_000, {}, deleted=True))
    assert (trend.minute, trend.status_ms) == (BEGIN, {"OK": 20_000})


def test_a_reset_is_no_negative_consumption() -> None:
    worker = Worker()
    worker.judge(*ticks(BEGIN, 7))
    told = worker.judge(*[tick(BEGIN + 70_000 + n * TICK, 10, lag=200) for n in range(6)])
    assert told[0].consumed == 0


def test_lag_is_absent_where_nobody_says_where_the_log_ends() -> None:
    worker = Worker()
    blind = [
        tick(BEGIN + n * TICK, 100 + 5 * n, bills=At(7, BEGIN, log_end=-1, commits=0))
        for n in range(13)
    ]
    first, minute = worker.judge(*blind)
    assert first.status_ms == {"OK": 40_000}, "until it was clear that nobody says"
    assert (minute.lag, minute.status_ms) == (None, {})
    assert minute.topics is not None
    lags = dict(zip(minute.topics.topic, minute.topics.lag, strict=True))
    assert lags == {"orders": 0, "bills": None}
