"""Causes: what speaks for each, and that nothing is said where too little does."""

from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pytest
from support.freshness_events import WELL as WELL_OFF, late
from support.group_looks import (
    RULES,
    STEP,
    WELL,
    at,
    group_event,
    looks,
    measured_at,
    names,
    silent,
    standing,
    told,
    well,
)
from support.offset_events import NOW, At, Judge, offset_event
from warren.contracts import (
    Cause,
    FreshnessEvent,
    GroupEvent,
    OffsetEvent,
    OpenTransaction,
    StatusChange,
    StatusChangeEvent,
)
from warren_core.evaluation import GroupRules, Rules
from warren_core.judgement.facts import Knowledge
from warren_core.judgement.judge import Judged, judge
from warren_core.judgement.lateness import lateness_of
from warren_core.judgement.state import GroupState


def test_a_record_that_the_group_cannot_get_past() -> None:
    cause = told(looks(standing(), well()), group_event(0, [0, 1]))
    assert cause.name == "stuck_record"
    assert cause.action is not None
    assert cause.action.endswith("--topic orders --partition 0 --offset 600 --max-messages 1")
    assert (
        told(looks(standing(), standing(), well()), group_event(0, [0, 2], [1])).name == "unknown"
    )


@pytest.mark.parametrize("count", [62, 80])
def test_a_record_is_stood_at_since_the_first_commit_of_its_offset(count: int) -> None:
    """From the onset on, when the window has commits of before."""
    rules = GroupRules(Rules(policy="progress"))
    cause = told(looks(standing(count)), group_event(0, [0]), rules=rules)
    assert cause.name == "stuck_record"
    assert cause.evidence.since - NOW - WELL * STEP in (0, STEP)


def test_one_record_behind_may_be_the_end_of_a_transaction() -> None:
    still = (at(look, 600, 601) for look in range(40))
    assert told(looks(still), group_event(0, [0])).name == "unknown"


def test_records_that_are_gone() -> None:
    """Of two partitions that stand nothing else is known."""
    cause = told(looks(standing(log_start=700), standing()), group_event(0, [0, 1]))
    assert (cause.name, cause.evidence.lost_records) == ("records_lost", 100)
    assert cause.also == []


def test_records_that_are_gone_as_freshness_measured_it() -> None:
    """The broker does not say where the log begins; of another offset it says nothing."""
    lost = late(None, reason="expired", bound_ms=1, committed=600, lost_records=64)
    cause = told(looks(standing(), well()), measured=measured_at(39, lost, WELL_OFF))
    (gone,) = cause.also
    assert (cause.name, gone.name, gone.evidence.lost_records) == (
        "stuck_record",
        "records_lost",
        64,
    )
    other = {**lost, "committed": 599}
    assert names(told(looks(standing()), measured=measured_at(39, other))) == ["stuck_record"]
    assert names(told(looks(standing()), measured=measured_at(10, lost))) == ["stuck_record"]


def test_who_stands_at_a_deleted_record_is_not_asked_to_look_at_it() -> None:
    cause = told(looks(standing(log_start=700), well()), group_event(0, [0, 1]))
    assert names(cause) == ["stuck_record", "records_lost"]
    assert cause.action == (
        "Restart the consumer: it continues where auto.offset.reset says (earliest: at the "
        "oldest record left)"
    )
    assert cause.sentence.endswith(
        "while commits go on: retention has deleted the record meanwhile"
    )
    assert cause.also[0].action is not None
    assert "Raise retention.ms" in cause.also[0].action
    assert cause.findings == [cause, *cause.also]


def open_since(look: int, *partitions: int) -> dict[str, Any]:
    return {
        "open_transactions": [
            OpenTransaction(
                topic="orders",
                partition=partition,
                first_offset=600,
                since=NOW + look * STEP,
                transactional_id="payments-1",
            )
            for partition in partitions
        ]
    }


def test_a_transaction_that_nobody_ends() -> None:
    rows = late(5, reason="open_transaction", bound_ms=5), WELL_OFF
    cause = told(looks(standing(), well()), measured=measured_at(39, *rows, **open_since(12, 0)))
    assert cause.name == "hanging_transaction"
    assert cause.sentence == (
        "orders/0 waits for a transaction that has been open for 2m 15s (transactional id "
        "payments-1)"
    )
    assert cause.action is not None
    assert cause.action.endswith("abort --topic orders --partition 0 --start-offset 600")
    young = measured_at(39, *rows, **open_since(30, 0))
    assert told(looks(standing(), well()), measured=young).name == "stuck_record"
    elsewhere = measured_at(39, *rows, **open_since(12, 1))
    assert told(looks(standing(), well()), measured=elsewhere).name == "stuck_record"


def test_a_transaction_that_nobody_ends_where_nobody_measures_freshness() -> None:
    """The brokers tell how far the log is stable: the group has come there."""
    lives = standing, well

    def said(*last_stable: int, count: int = 40) -> str:
        partitions = (life(count) for life in lives)
        return told(looks(*partitions, last_stable=[*last_stable, -1])).name

    assert said(600) == "hanging_transaction"
    assert said(601) == "hanging_transaction"  # what ends the transaction before is in between
    assert said(602) == said(599) == said(-1) == "stuck_record"
    assert said(600, count=WELL + 15) == "stuck_record"  # not for long
    cause = told(looks(standing(), well(), last_stable=[600, -1]))
    assert cause.sentence == ("orders/0 waits for an open transaction, at offset 600")
    assert cause.action is not None
    assert cause.action.endswith("abort --topic orders --partition 0 --start-offset 600")


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_all_that_is_bad_is_led_by_one_broker(parts: int) -> None:
    lives = silent, silent, silent, silent, well, well, well, well
    leaders = [101] * 4 + [102] * 4
    two_each = group_event(0, [0, 4], [1, 5], [2, 6], [3, 7])

    def said(leaders: list[int] | None, group: GroupEvent = two_each) -> Cause:
        return told(looks(*(life() for life in lives), leaders=leaders, parts=parts), group)

    cause = said(leaders)
    assert (cause.name, cause.evidence.broker) == ("one_broker", 101)
    assert cause.sentence == (
        "All 4 bad partitions are led by broker 101; those of other brokers keep up"
    )
    assert said(None).name == "unknown"
    assert said([-1] * 8).name == "unknown"
    assert said([101] * 8).name == "unknown"  # it leads others that are well
    assert said([101, 101, 101, 102] * 2).name == "unknown"
    assert said(leaders, group_event(0, [0, 1, 2, 3], [4, 5, 6, 7])).name == "one_member"


def test_too_slow_says_how_much_is_missing() -> None:
    slow = (at(look, 50 * look, 200 * look) for look in range(40))
    cause = told(looks(slow), group_event(0, [0]))
    assert cause.name == "too_slow"
    assert cause.sentence == "Too slow: reads 10/s, 40/s written, needs 4.0 times the throughput"
    assert (cause.evidence.consumed_per_s, cause.evidence.produced_per_s) == (10.0, 40.0)


def test_who_catches_up_says_until_when() -> None:
    """Twenty minutes away, and then twice as fast as the log grows."""
    group, away, minutes = Judge(Rules(policy="progress")), range(60, 300), 360
    committed, causes = 0, []
    for look in range(minutes):  # of 5 s each
        log_end = 50 * look
        moves = look not in away
        committed = min(committed + 100, log_end) if moves else committed
        seen = At(committed, NOW + 5_000 * look, log_end=log_end, commits=int(moves))
        outcome = group.judged(offset_event(NOW + 5_000 * look, {"orders": {0: seen}}))
        if outcome.lag.status == "WARN":
            causes.append(outcome.lag.cause)
    names = [cause.name for cause in causes if cause]
    begun = names.index("catching_up")  # while the silence is half of the window it has no pace
    assert set(names[:begun]) <= {"unknown"}
    assert set(names[begun:]) == {"catching_up"}
    first = next(cause for cause in causes if cause and cause.name == "catching_up")
    assert " behind, reads 20/s, 10/s written; caught up at " in first.sentence
    caught_up_s = (first.evidence.caught_up_at or 0) / 1000 - NOW / 1000
    assert caught_up_s == pytest.approx(5 * (300 + 240), rel=0.02)


def test_a_topic_that_was_made_anew() -> None:
    anew = (at(look, 600, 50 if look > WELL else 600, commits=0) for look in range(40))
    cause = told(looks(iter([at(0, 600, 600), *list(anew)[1:]])), group_event(0, [0]))
    assert (cause.name, cause.evidence.log_end) == ("beyond_log_end", 50)


def test_what_was_read_is_read_again() -> None:
    def reset() -> Iterator[At]:
        for look in range(WELL + 5):
            offset = 50 * look if look <= WELL else 10 * (look - WELL)
            yield at(look, offset, 50 * look)

    cause = told(looks(reset()), group_event(0, [0]))
    assert cause.name == "replaying"
    assert "Offset went back 15s ago from 600 on orders/0" in cause.sentence


@pytest.mark.parametrize("old", [0, 100])
def test_who_commits_old_offsets_in_turn_with_new_ones_has_a_competitor(old: int) -> None:
    def in_turn() -> Iterator[At]:
        for look in range(WELL + 6):
            yield at(look, old if look > WELL and look % 2 else 50 * look, 50 * look)

    cause = told(looks(in_turn()), rules=GroupRules(Rules(policy="progress")))
    assert cause.name == "competing_commits"
    assert cause.evidence.offset == old
    assert f"Offsets {old} and 800 are committed in turn" in cause.sentence


def test_offsets_that_were_reset_are_no_replay_while_nobody_reads() -> None:
    def reset() -> Iterator[At]:
        for look in range(WELL + 3):
            yield at(look, 50 * look if look <= WELL else 10, 50 * look, commits=look <= WELL + 1)

    assert told(looks(reset())).name == "unknown"


def changes(events: Iterator[OffsetEvent], measured: FreshnessEvent) -> list[StatusChange]:
    state: GroupState | None = None
    found = []
    for event in events:
        knowledge = Knowledge(lateness=lambda: lateness_of(measured))
        outcome = judge(event, state, RULES, knowledge=knowledge)
        assert isinstance(outcome, Judged)
        state = outcome.state
        if outcome.change is not None:
            found.append(StatusChangeEvent.from_bytes(outcome.change.to_bytes()).data)
    return found


def test_a_change_says_how_late_the_group_is_and_what_is_left_until_loss() -> None:
    rows = late(70_000, time_to_loss_ms=900_000), late(None, reason="timeout", bound_ms=90_000)
    then = [at(40, 2_000, 2_000), at(41, 2_050, 2_050)]
    (bad, well_again) = changes(looks(chain(silent(), then)), measured_at(30, *rows))
    assert (bad.status, bad.late_ms, bad.time_to_loss_ms) == ("ERR", 90_000, 900_000)
    assert (well_again.status, well_again.late_ms, well_again.time_to_loss_ms) == ("OK", None, None)
    long_ago = changes(looks(silent()), measured_at(-40, *rows))
    assert [(one.late_ms, one.time_to_loss_ms) for one in long_ago] == [(None, None)]


# A cause does not change its mind with each look.


@pytest.mark.heavy
@pytest.mark.parametrize("share", [0.9, 0.95, 0.97, 1.0])
@pytest.mark.parametrize("seed", [1, 2, 4])
def test_the_cause_of_a_lag_stays_for_a_minute_at_least(share: float, seed: int) -> None:
    """Of who reads a little too slowly, or just as fast as is written after a crash: ten commits, a
    second apart, tell little of a pace. The first cause is of a silence, and unknown may come
    before another.
    """
    rng, group, told = np.random.default_rng(seed), Judge(Rules(policy="progress")), []
    end = committed = 10_000
    for second in range(5, 5_400, 5):
        end += int(rng.poisson(40))
        if second < 2_400:
            committed = end
        elif second >= 3_000 or share < 1:
            committed = min(committed + int(rng.poisson(40 * share)), end)
        now = NOW + second * 1000
        seen = At(committed, now, log_end=end, commits=5)
        cause = group.judged(offset_event(now, {"orders": {0: seen}})).lag.cause
        if cause and (not told or told[-1][1] != cause.name):
            told.append((second, cause.name))
    since = [second for second, name in told if name != "unknown"]
    assert told
    assert all(then - first >= 60 for first, then in pairwise(since[1:])), told
