"""Batches: which records are published and written, and what happens to bad ones."""

import json
import re
from collections.abc import Callable

import pytest
from support.manual_clock import ManualClock
from support.offset_events import MINUTE, NOW, At, commits, offset_event
from warren.contracts import (
    MAX_MESSAGE_BYTES,
    DeadLetter,
    LagEvent,
    OffsetEvent,
    Status,
    StatusChangeEvent,
    group_key,
)
from warren.settings import EvaluationOverride, EvaluationSettings, PolicyName
from warren_core.evaluation import GroupRules, RuleBook, Rules
from warren_core.judgement.lag_parts import MOST_PARTITIONS
from warren_core.judgement.state import Applied, GroupState
from warren_core.judgement.state_codec import is_gone
from warren_evaluator.batch import MOST_LAG_BYTES, BatchEvaluator
from warren_evaluator.records import BatchResult, SourceRecord

KEY = group_key("prod", "billing")
GOOD = offset_event(NOW + 1, {"orders": {0: At(100, NOW)}}).to_bytes()


def record(value: bytes | None, offset: int = 0, key: bytes | None = KEY) -> SourceRecord:
    return SourceRecord("w.offsets", 3, offset, key, value)


def records(events: list[OffsetEvent], first: int = 0) -> list[SourceRecord]:
    return [
        record(event.to_bytes(), offset, group_key(event.cluster, event.group))
        for offset, event in enumerate(events, first)
    ]


LATER = NOW + 60 * MINUTE
"""Than all that the worker is given."""


def evaluate(
    batch: list[SourceRecord], table: dict[bytes, bytes] | None = None, now: int = LATER
) -> BatchResult:
    evaluator = BatchEvaluator(lambda _cluster, _group: GroupRules(Rules()), "w.", ManualClock(now))
    return evaluator.evaluate(batch, (table or {}).get)


def published(result: BatchResult, topic: str) -> list[bytes | None]:
    return [item.value for item in result.publications if item.topic == topic]


def test_every_evaluation_is_published_and_the_group_written_once() -> None:
    result = evaluate(records(commits(115, 116, 117, 0)))
    lags = [LagEvent.from_bytes(value) for value in published(result, "w.lag")]
    assert [lag.status for lag in lags] == ["ERR", "WARN", "WARN", "OK"]
    changes = [StatusChangeEvent.from_bytes(value) for value in published(result, "w.lag-status")]
    assert [change.data.status for change in changes] == ["ERR", "WARN", "OK"]
    assert [write.key for write in result.writes] == [KEY]
    assert {item.partition for item in result.publications} == {3} == {result.writes[0].partition}
    assert {item.key for item in result.publications} == {KEY}
    assert result.counts.events == 4
    assert result.counts.partitions == 4
    assert result.counts.status_changes == ["ERR", "WARN", "OK"]


def parts_of(count: int, at: int = NOW) -> list[OffsetEvent]:
    """One observation of `count` partitions, each in an event of its own."""
    return [
        offset_event(
            at + part,
            {"orders": {part: At(100, at, lag=5)}},
            position=at - NOW,
            part=part,
            parts=count,
        )
        for part in range(count)
    ]


def test_parts_of_an_observation_are_judged_once() -> None:
    result = evaluate(records([*parts_of(3), *parts_of(3, NOW + MINUTE)]))
    lags = [LagEvent.from_bytes(value) for value in published(result, "w.lag")]
    assert [lag.evaluated_at for lag in lags] == [NOW + 2, NOW + MINUTE + 2]
    assert [lag.topics["orders"].partition for lag in lags] == [[0, 1, 2], [0, 1, 2]]
    assert result.counts.partitions == 6


def test_parts_are_judged_with_the_last_one_whatever_batches_they_come_in() -> None:
    table: dict[bytes, bytes] = {}
    lags: list[bytes | None] = []
    for offset, event in enumerate(parts_of(3)):
        result = evaluate(records([event], offset), table)
        lags += published(result, "w.lag")
        for write in result.writes:
            assert write.value is not None
            table[write.key] = write.value
    assert lags == published(evaluate(records(parts_of(3))), "w.lag")
    assert len(lags) == 1


def test_two_moments_are_not_one_observation() -> None:
    """The same partition again, however soon after."""
    at = {"orders": {0: At(100, NOW, lag=5)}}
    events = [offset_event(NOW + i, at, position=7) for i in range(2)]
    assert len(published(evaluate(records(events)), "w.lag")) == 2


def test_a_huge_group_is_published_in_parts() -> None:
    ats = {p: At(100, NOW, lag=5) for p in range(MOST_PARTITIONS + 1)}
    result = evaluate(records([offset_event(NOW + 1, {"orders": ats})]))
    lags = [item for item in result.publications if item.topic == "w.lag"]
    assert [item.key for item in lags] == [KEY, b"+1|" + KEY]
    assert {item.partition for item in lags} == {3}
    assert max(len(item.value or b"") for item in lags) <= MOST_LAG_BYTES


def test_each_group_has_its_own_rules() -> None:
    """Two commits and a silence are a stop for Burrow, and too little to know for progress."""
    quiet = EvaluationOverride(groups=["^quiet"], policy="progress")
    book = RuleBook(EvaluationSettings(policy="burrow", overrides=[quiet]))
    evaluator = BatchEvaluator(book.rules_for, "w.", ManualClock(LATER))
    looks = {
        0: At(100, NOW, lag=5),
        2_000: At(101, NOW + 2_000, lag=5),
        25_000: At(101, NOW + 2_000, lag=5, commits=0),
    }
    events = [
        offset_event(NOW + ms, {"orders": {0: at}}, group=group)
        for ms, at in looks.items()
        for group in ("billing", "quiet-1")
    ]
    result = evaluator.evaluate(records(events), {}.get)
    lags = [LagEvent.from_bytes(value) for value in published(result, "w.lag")]
    found = [(lag.policy, lag.status) for lag in lags]
    assert found[-2:] == [("burrow", "ERR"), ("progress", "OK")]


def test_a_batch_goes_on_where_the_table_is() -> None:
    events = commits(5, 6, 7, 0, 3)
    whole = evaluate(records(events))
    table: dict[bytes, bytes] = {}
    parts = []
    for offset, event in enumerate(events):
        part = evaluate(records([event], offset), table)
        parts += part.publications
        for write in part.writes:
            assert write.value is not None
            table[write.key] = write.value
    assert parts == whole.publications
    assert [write.value for write in whole.writes] == list(table.values())


def test_a_replay_publishes_and_writes_nothing() -> None:
    batch = records(commits(5, 6, 7))
    first = evaluate(batch)
    assert first.writes[0].value is not None
    again = evaluate(batch, {KEY: first.writes[0].value})
    assert (again.publications, again.writes) == ([], [])
    assert again.counts.duplicates == 3


BAD = {
    "not JSON": (b"\x00\xffnonsense", KEY, "JSON"),
    "truncated": (GOOD[: len(GOOD) // 2], KEY, "JSON"),
    "another version": (GOOD.replace(b'"v":1', b'"v":2'), KEY, "^v: "),
    "a tombstone": (None, KEY, "tombstone"),
    "no event": (b"[]", KEY, "value"),
    "another group's key": (GOOD, group_key("prod", "other"), "^key: "),
    "no key": (GOOD, None, "^key: "),
    "a key without cluster": (GOOD, b"billing", "^key: "),
    "a key that is no text": (GOOD, b"\xff|x", "^key: "),
    "numbers beyond 64 bits": (GOOD.replace(b"[100]", b"[99999999999999999999]"), KEY, "64 bits"),
    "columns of different length": (GOOD.replace(b"[100]", b"[100,101]"), KEY, "columns"),
}


@pytest.mark.parametrize(("value", "key", "reason"), BAD.values(), ids=BAD)
def test_a_bad_record_is_dead_lettered_and_stops_nobody(
    value: bytes | None, key: bytes | None, reason: str
) -> None:
    before, after = records(commits(1, 2))
    result = evaluate([before, record(value, 41, key), after])
    assert len(published(result, "w.lag")) == 2
    (item,) = (p for p in result.publications if p.topic == "w.dead-letters")
    assert (item.key, item.partition) == (key, 3)
    letter = DeadLetter.from_bytes(item.value)
    assert (letter.service, letter.topic, letter.partition, letter.offset) == (
        "evaluator",
        "w.offsets",
        3,
        41,
    )
    assert (letter.key, letter.value, letter.failed_at) == (key, value, LATER)
    assert re.search(reason, letter.reason)
    assert result.counts.dead_letters == 1


def test_a_dead_letter_is_cut_to_what_fits() -> None:
    written = evaluate([record(b"x" * MAX_MESSAGE_BYTES)]).publications[0].value
    assert written is not None
    assert len(written) < MAX_MESSAGE_BYTES
    letter = DeadLetter.from_bytes(written)
    assert (letter.cut, letter.value_size) == (True, MAX_MESSAGE_BYTES)
    assert len(letter.value or b"") > MAX_MESSAGE_BYTES / 2


def test_a_deleted_group_leaves_a_tombstone_and_a_marker() -> None:
    deleted = offset_event(NOW + 5 * MINUTE, deleted=True)
    result = evaluate(records([*commits(15, 16), deleted], first=10))
    assert published(result, "w.lag")[-1] is None
    last = published(result, "w.lag-status")[-1]
    assert last is not None
    assert json.loads(last)["data"]["reason"] == "group_deleted"
    (write,) = result.writes
    assert write.value is not None
    assert is_gone(write.value)
    assert result.gone == [(KEY, 3, 12)]


def of_admin_api(*hours: float) -> list[OffsetEvent]:
    """A group without positions that lags and advances; when its events say that they are."""
    return [
        offset_event(
            NOW + round(hour * 60 * MINUTE),
            {"orders": {0: At(100 + 10 * i, NOW, lag=5)}},
            source="admin_api",
            position=-1,
        )
        for i, hour in enumerate(hours)
    ]


def test_an_event_of_another_hour_is_refused_and_those_after_it_judged() -> None:
    now = of_admin_api(-2, -1, 0)
    (ahead,) = of_admin_api(0.1)
    result = evaluate(records([now[0], ahead, *now[1:]]), now=NOW)
    lags = [LagEvent.from_bytes(value) for value in published(result, "w.lag")]
    assert [lag.evaluated_at for lag in lags] == [event.observed_at for event in now]
    letter = DeadLetter.from_bytes(published(result, "w.dead-letters")[0])
    assert "observed_at: 6m ahead" in letter.reason
    assert (result.counts.dead_letters, result.counts.duplicates) == (1, 0)


def test_after_all_clocks_were_set_back_a_group_is_judged_anew() -> None:
    """Its state is dated ahead: what follows is no duplicate, and hides behind no later time."""
    events, table = of_admin_api(5, -1, -0.9), dict[bytes, bytes]()
    evaluated: list[int] = []
    for offset, (event, now) in enumerate(zip(events, (5, 0, 0), strict=True)):
        result = evaluate(records([event], offset), table, NOW + now * 60 * MINUTE)
        evaluated += [LagEvent.from_bytes(v).evaluated_at for v in published(result, "w.lag")]
        table |= {write.key: write.value for write in result.writes if write.value}
    assert evaluated == [event.observed_at for event in events]


def stalled_group() -> tuple[bytes, StatusChangeEvent]:
    """Its stored state, and the event that opened its incident."""
    events = [
        offset_event(NOW + i * 12_000, {"orders": {0: At(100, NOW + i * 12_000, lag=10 + i)}})
        for i in range(5)
    ]
    result = evaluate(records(events))
    assert result.writes[0].value is not None
    opened = StatusChangeEvent.from_bytes(published(result, "w.lag-status")[0])
    assert opened.data.status == "ERR"
    return result.writes[0].value, opened


@pytest.mark.parametrize(
    "damaged",
    [lambda value: value[:-20], lambda value: b"\x63" + value[1:]],
    ids=["truncated", "of a newer version"],
)
def test_the_incident_of_an_unreadable_state_is_closed(damaged: Callable[[bytes], bytes]) -> None:
    value, opened = stalled_group()
    well = offset_event(NOW + MINUTE, {"orders": {0: At(200, NOW + MINUTE)}})
    before = offset_event(NOW + 20_000, {"orders": {0: At(100, NOW + 20_000, lag=14)}})
    result = evaluate(records([before, well]), {KEY: damaged(value)})
    assert (result.counts.discarded_states, result.counts.duplicates) == (1, 1)
    (closed,) = [StatusChangeEvent.from_bytes(v).data for v in published(result, "w.lag-status")]
    assert (closed.previous, closed.status) == ("ERR", "OK")
    assert closed.incident_id == opened.data.incident_id


def _then(table: dict[bytes, bytes | None], *events: OffsetEvent, rules: Rules) -> BatchResult:
    """What comes of these events, one at a time, each after a restart."""
    whole = BatchResult()
    for number, event in enumerate(events):
        evaluator = BatchEvaluator(lambda *_: GroupRules(rules), "w.", ManualClock(LATER))
        result = evaluator.evaluate(records([event], 100 + number), table.get)
        table |= {write.key: write.value for write in result.writes}
        whole.publications += result.publications
    return whole


@pytest.mark.parametrize("policy", ["burrow", "progress"])
def test_an_incident_goes_on_while_nothing_says_that_it_is_over(policy: PolicyName) -> None:
    """The state cannot be read, and the group is as dead as it was: nobody is told otherwise."""
    value, opened = stalled_group()
    table: dict[bytes, bytes | None] = {KEY: b"\x63" + value[1:]}
    times = range(NOW + MINUTE, NOW + 31 * MINUTE, 10_000)
    dead = [
        offset_event(at, {"orders": {0: At(100, NOW + 40_000, lag=20)}}, position=n)
        for n, at in enumerate(times)
    ]
    rules = Rules(policy=policy)
    result = _then(table, *dead, rules=rules)
    assert published(result, "w.lag-status") == []
    told = {LagEvent.from_bytes(each).status for each in published(result, "w.lag")}
    assert told == {"ERR"}  # once it is known
    assert len(published(result, "w.lag")) < len(times)
    at = times[-1]
    back = [
        offset_event(
            at + n * 10_000,
            {"orders": {0: At(110 + n * 100, at + n * 10_000, lag=0 if n > 4 else 5)}},
            position=1_000 + n,
        )
        for n in range(1, 12)
    ]
    changes = published(_then(table, *back, rules=rules), "w.lag-status")
    told_of = [StatusChangeEvent.from_bytes(each).data for each in changes]
    assert told_of[-1].status == "OK"
    assert {each.incident_id for each in told_of} == {opened.data.incident_id}


def test_an_incident_that_the_state_does_not_tell_is_closed_as_the_fold_has_it() -> None:
    _, opened = stalled_group()
    applied = Applied("offsets_topic", -1, NOW + 20_000)
    told = {KEY: GroupState.new(applied, Status.ERR, opened.data.opened_at)}
    evaluator = BatchEvaluator(
        lambda *_: GroupRules(Rules()), "w.", ManualClock(LATER), incident_of=told.get
    )
    well = offset_event(NOW + MINUTE, {"orders": {0: At(200, NOW + MINUTE)}})
    result = evaluator.evaluate(records([well]), {KEY: b"\xff\x01nonsense"}.get)
    (closed,) = [StatusChangeEvent.from_bytes(v).data for v in published(result, "w.lag-status")]
    assert (closed.previous, closed.status) == ("ERR", "OK")
    assert closed.incident_id == opened.data.incident_id


def life(number: int) -> list[OffsetEvent]:
    """A group's events; every third falls behind."""
    group, partitions = f"group-{number}", range(number + 1)
    behind = 0 if number % 3 else 300
    return [
        offset_event(
            (now := NOW + number + look * MINUTE),
            {"orders": {p: At(100 * look, now, lag=behind * look) for p in partitions}},
            group=group,
        )
        for look in range(20)
    ]


def test_a_batch_of_many_groups_gives_what_each_event_gives_by_itself() -> None:
    """Those that are well are judged in the same columns: nobody can tell."""
    lives = [life(number) for number in range(9)]
    batch = records([event for events in zip(*lives, strict=True) for event in events])

    def told(size: int) -> tuple[list[tuple[bytes | None, bytes | None]], dict[bytes, bytes]]:
        table: dict[bytes, bytes] = {}
        published: dict[bytes | None, list[bytes | None]] = {}
        for first in range(0, len(batch), size):
            result = evaluate(batch[first : first + size], table)
            table |= {write.key: write.value for write in result.writes if write.value}
            for item in result.publications:
                published.setdefault(item.key, []).append(item.value)
        return sorted((k, v) for k, values in published.items() for v in values), table

    one_by_one = told(1)
    assert told(9) == told(len(batch)) == told(50) == one_by_one
    values = [value for _, value in one_by_one[0] if value and b"evaluated_at" in value]
    assert {LagEvent.from_bytes(value).status for value in values} >= {"OK", "WARN"}
