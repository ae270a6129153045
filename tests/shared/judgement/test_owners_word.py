"""What the owner says of a group stands above the rules: runs, lateness on purpose, ignored."""

from collections.abc import Iterable
from typing import Any

import pytest
from support.freshness_events import freshness_event, late
from support.offset_events import NOW, At, Judge, commits, offset_event
from warren.contracts import LagEvent, OffsetEvent
from warren.settings import CollectorSettings, EvaluationSettings
from warren_core.evaluation import GroupRules, RuleBook
from warren_core.judgement.facts import Knowledge
from warren_core.judgement.lateness import lateness_of

HOUR, LOOK = 3_600_000, 300_000
DAY = 24 * HOUR
PATIENT = CollectorSettings(interval=150, heartbeat=150)
"""Looks every 5 minutes are not late."""


def judge(policy: str = "progress", **override: Any) -> Judge:
    overrides = [{"groups": "^billing$", **override}] if override else []
    settings = EvaluationSettings.model_validate({"policy": policy, "overrides": overrides})
    return Judge(RuleBook(settings, PATIENT).rules_for("prod", "billing"))


def told(judged: Judge, events: Iterable[OffsetEvent]) -> list[LagEvent]:
    return [each.lag for each in judged.all(events)]


@pytest.mark.parametrize("said", ["24h", 86_400, "1d", "23h60m"])
def test_times_are_seconds_or_as_people_write_them(said: str | int) -> None:
    rules = judge(expected_every=said, expected_delay="10m").rules
    assert isinstance(rules, GroupRules)
    assert (rules.group.expected_every_ms, rules.group.expected_delay_ms) == (DAY, 600_000)


def daily(days: int, left_out: frozenset[int] = frozenset()) -> Iterable[OffsetEvent]:
    """A job that reads all there is in an hour, each midnight; a record comes each second."""
    committed, committed_at = 0, NOW
    for look in range(days * DAY // LOOK):
        now = NOW + look * LOOK
        runs = look * LOOK % DAY < HOUR and look * LOOK // DAY not in left_out
        written = look * LOOK // 1000
        if runs:
            committed, committed_at = written, now
        at = At(committed, committed_at, log_end=written, commits=int(runs))
        yield offset_event(now, {"orders": {0: at}, "quiet": {0: At(7, NOW, commits=0)}})


def hours_told(told_of: list[LagEvent]) -> list[float]:
    """When its status changed, hours since the beginning."""
    at = [(each.evaluated_at - NOW) / HOUR for each in told_of]
    status = [each.status for each in told_of]
    return [at[n] for n in range(1, len(at)) if status[n] != status[n - 1]]


@pytest.mark.parametrize("policy", ["progress", "burrow"])
def test_one_run_of_a_daily_job_left_out_is_told_at_its_time(policy: str) -> None:
    """That of 72 h is left out, and that of 96 h comes. Burrow's window knows when one ended."""
    lags = told(judge(policy, expected_every="24h"), daily(5, frozenset({3})))
    began, ended = hours_told(lags)
    late = 1.2 if policy == "progress" else 2.1
    assert 0 <= began - (72 + late) < 0.2
    assert ended == 96
    bad = next(each for each in lags if each.status == "ERR")
    assert (bad.reason, bad.topics["quiet"].status) == ("run_missed", ["OK"])
    assert bad.explanation is not None
    assert "no run for 1d 1h, expected every 1d; " in bad.explanation


def runs(ends: int, left: int | None = None) -> Iterable[OffsetEvent]:
    """Two partitions, read each midnight at 60 records a second, of which one is written. The last
    run, of 48 h, hangs after so many looks; partition 1 is not read from day `left` on.
    """
    offsets, times = [0, 0], [NOW, NOW]
    for look in range(3 * DAY // LOOK):
        now, day, at = NOW + look * LOOK, look * LOOK // DAY, look * LOOK % DAY // LOOK
        written = look * LOOK // 1000
        moved = [0, 0]
        for partition in (0, 1):
            is_left = partition == 1 and left is not None and day >= left
            if at < 12 and not is_left and not (day == 2 and at >= ends):
                end = min(offsets[partition] + 60 * LOOK // 1000, written)
                moved[partition] = int(end > offsets[partition])
                offsets[partition], times[partition] = end, now
        seen = {p: At(offsets[p], times[p], log_end=written, commits=moved[p]) for p in (0, 1)}
        yield offset_event(now, {"orders": seen})


def test_a_run_that_hangs_in_its_middle_is_told() -> None:
    """After a quarter of its hour, with most of a day unread."""
    assert 48.1 < hours_told(told(judge(expected_every="24h"), runs(2)))[0] < 49
    assert hours_told(told(judge(expected_every="24h"), runs(99))) == []


def test_a_partition_that_runs_leave_out_is_told() -> None:
    """From the second day on."""
    lags = told(judge(expected_every="24h"), runs(99, left=1))
    (began,) = hours_told(lags)  # the next run does not end it
    assert 24 + 1.2 <= began < 24 + 1.5
    bad = next(each for each in lags if each.status == "ERR")
    assert bad.topics["orders"].status == ["OK", "STOP"]
    assert "not read by the run that began 1h 1" in (bad.explanation or "")


def delayed(delay_s: int, stops_at: int | None = None, count: int = 90) -> Iterable[OffsetEvent]:
    """Reads each record so long after it was written, ten a second; looked at every 5 s."""
    for look in range(count):
        moves = look if stops_at is None else min(look, stops_at)
        now, at = NOW + look * 5000, NOW + moves * 5000
        committed, end = 50 * moves, 50 * look + 10 * delay_s
        yield offset_event(
            now, {"orders": {0: At(committed, at, log_end=end, commits=int(moves == look))}}
        )


def measured(
    delay_s: int, stops_at: int, judged: Judge, events: Iterable[OffsetEvent]
) -> list[str]:
    statuses = []
    for look, event in enumerate(events):
        age = delay_s + 5 * max(look - stops_at, 0)
        committed = event.topics["orders"].committed[0]
        known = lateness_of(freshness_event(look * 5000, late(age * 1000, committed=committed)))
        judged.knowledge = Knowledge(lateness=lambda known=known: known)
        statuses.append(judged.judged(event).lag.status)
    return statuses


def test_lateness_on_purpose_is_usual_and_more_of_it_is_not() -> None:
    """Ten minutes are allowed, and five usual: it stops after 100 s, for good."""
    assert "ERR" in measured(300, 20, judge(), delayed(300, 20, 75))
    assert set(measured(300, 20, judge(expected_delay="10m"), delayed(300, 20, 75))) == {"OK"}
    longer = measured(300, 20, judge(expected_delay="10m"), delayed(300, 20, 200))
    assert longer.index("ERR") == 20 + 300 // 5 + 1, "as soon as it is later than that"


def test_a_delay_topic_is_not_told_without_freshness_either() -> None:
    lags = told(judge(expected_delay=1200), delayed(300, None, 200))
    assert {each.status for each in lags} == {"OK"}


@pytest.mark.parametrize("policy", ["progress", "burrow"])
def test_what_is_ignored_is_ok_with_a_reason_and_counts_nowhere(policy: str) -> None:
    stopped = commits(*range(50, 950, 50))
    assert judge(policy).all(stopped)[-1].lag.status != "OK"
    last = judge(policy, ignore=True).all(stopped)[-1]
    lag = last.lag
    assert (lag.status, lag.reason, lag.total_lag, last.change) == ("OK", "ignored", 0, None)
    assert lag.explanation == "not judged: an override of [evaluation] says ignore"
    orders = lag.topics["orders"]
    assert (orders.status, orders.reason, orders.lag) == (["OK"], ["ignored"], [900])
    assert LagEvent.from_bytes(lag.to_bytes()) == lag


def test_one_topic_that_is_ignored_says_nothing_of_the_others() -> None:
    stopped = [
        offset_event(NOW + at, {t: {0: At(5, NOW, 40, commits=int(at == 0))} for t in ("a", "b")})
        for at in range(0, 3 * HOUR, LOOK)
    ]
    lags = told(judge(topics="^a$", ignore=True), stopped)
    assert (lags[-1].status, lags[-1].reason) == ("ERR", "no_commit")
    assert (lags[-1].topics["a"].reason, lags[-1].total_lag) == (["ignored"], 40)
    both = told(judge(topics="^[ab]$", ignore=True), stopped)
    assert (both[-1].status, both[-1].reason) == ("OK", "ignored")
    well = told(judge(topics="^a$", ignore=True), stopped[:1])
    assert (well[-1].status, well[-1].reason) == ("OK", None)
