"""The worker as a process on a real broker: killed, moved about, fed with nonsense."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from support.evaluator_process import Home, Worker
from support.group_lives import (
    Load,
    Outputs,
    assert_as_expected,
    by_group,
    fold,
    interleaved,
    lives,
)
from support.offset_events import MINUTE, NOW, At, commits, offset_event
from support.waiting import eventually
from warren.contracts import DeadLetter, StatusChangeEvent, group_key

SLOW = str(Path(__file__).parents[1] / "support" / "slow_worker.py")


@pytest.fixture
def home(broker: Any, unique: str, tmp_path: Path) -> Home:
    return Home(broker.bootstrap, unique, tmp_path)


@pytest.fixture(scope="module")
def expected() -> dict[str, Outputs]:
    """What each group's life must lead to, folded through the pure code."""
    return {group: fold(events) for group, events in lives().items()}


@pytest.mark.heavy
def test_nothing_is_lost_nor_doubled_when_workers_are_killed(
    home: Home, expected: dict[str, Outputs]
) -> None:
    """Two workers, each killed under load and started again: recovery from the changelog."""
    with home.worker("one") as one, home.worker("two") as two:
        one.start().await_ready()
        two.start()
        with Load(home.events(), seconds=20) as load:
            load.await_share(0.2)
            one.kill()
            one.start()
            load.await_share(0.6)
            two.kill()
            two.start()
        home.await_caught_up()
        assert_as_expected(home, expected)


@pytest.mark.heavy
def test_a_rebalance_replays_only_what_others_wrote(home: Home) -> None:
    """What a worker keeps it knows, and what comes back to it was the other's to change."""
    groups = lives(10)
    events = interleaved(groups)
    half = len(events) // 2
    sender = home.events()
    with home.worker("one") as one, home.worker("two") as two:
        one.start().await_ready()
        sender.send(*events[:half])
        sender.flush()
        home.await_caught_up()
        two.start().await_ready()
        eventually(one.is_ready, message="the rebalance is over")
        sender.send(*events[half:])
        sender.flush()
        home.await_caught_up()
        assert "warren_evaluator_replayed_states_total 0.0" in one.metrics()
        assert two.terminate() == 0
        eventually(lambda: _replayed(one) > 0, message="what the other had is replayed")
        sender.send(offset_event(NOW + 9 * MINUTE, {"orders": {0: At(9, NOW)}}, group="after"))
        sender.flush()
        home.await_caught_up()
        assert _replayed(one) < len(home.changelog())
        groups["after"] = [
            offset_event(NOW + 9 * MINUTE, {"orders": {0: At(9, NOW)}}, group="after")
        ]
        assert_as_expected(home, {group: fold(life) for group, life in groups.items()})


@pytest.mark.heavy
def test_nothing_is_lost_when_the_seek_after_a_recovery_takes_long(home: Home) -> None:
    """More events wait than small batches get through before the seek, and than queues hold."""
    groups = lives(100)
    events = interleaved(groups)
    half = len(events) // 2
    sender = home.events()
    with home.worker("first") as first:
        first.start().await_ready()
        sender.send(*events[:half])
        sender.flush()
        home.await_caught_up()
        assert first.terminate() == 0
    sender.send(*events[half:])
    sender.flush()
    slow = dataclasses.replace(home, program=(SLOW, "seek"))
    with slow.worker("second") as second:
        second.start()
        home.await_caught_up()
        assert_as_expected(home, {group: fold(life) for group, life in groups.items()})


@pytest.mark.heavy
def test_a_groups_first_events_are_judged_when_they_come_amid_a_rebalance(home: Home) -> None:
    """Nothing is committed yet to seek back to, and a fetch that waits since before takes them."""
    groups = lives(20)
    slow = dataclasses.replace(home, program=(SLOW, "recovery"))
    with slow.worker("one") as one, home.worker("two") as two:
        one.start().await_ready()
        two.start()
        eventually(lambda: not one.is_ready(), message="the rebalance has begun")
        sender = home.events()
        sender.send(*interleaved(groups))
        sender.flush()
        home.await_caught_up()
        assert_as_expected(home, {group: fold(life) for group, life in groups.items()})


def test_a_worker_that_is_told_to_stop_while_it_starts_ends(home: Home) -> None:
    told = dataclasses.replace(home, program=(SLOW, "told"))
    with told.worker() as worker:
        worker.start()
        assert worker.await_exit() == 0


@pytest.mark.heavy
def test_events_that_retention_deleted_unread_are_told(home: Home) -> None:
    events = commits(*range(10, 25))
    sender = home.events()
    with home.worker() as worker:
        worker.start().await_ready()
        sender.send(*events[:5])
        sender.flush()
        home.await_caught_up()
        assert worker.terminate() == 0
        sender.send(*events[5:])
        sender.flush()
        home.delete_events("prod", "billing", before=12)
        worker.start()
        home.await_caught_up()
        assert "warren_evaluator_skipped_events_total 6.0" in worker.metrics()
        (line,) = [line for line in _lines(worker.log) if "deleted before" in line]
        assert f'"topic": "{home.prefix}offsets"' in line
        assert '"offset": 6, "events": 6' in line
        assert len(home.records("lag")) == 5 + 3


def test_bad_events_are_dead_lettered_and_later_ones_judged(home: Home) -> None:
    key = group_key("prod", "billing")
    first, second, third = commits(115, 116, 117)
    value = first.to_bytes()
    bad = {
        "nonsense": (key, b"\x00\xffnonsense"),
        "truncated": (key, value[: len(value) // 2]),
        "v: ": (key, value.replace(b'"v":1', b'"v":9')),
        "key: ": (key, offset_event(NOW, group="other").to_bytes()),
        "tombstone": (key, None),
    }
    with home.worker() as worker:
        worker.start().await_ready()
        sender = home.events()
        sender.send(first)
        for bad_key, bad_value in bad.values():
            sender.send_raw(bad_key, bad_value)
        sender.send(second, third)
        sender.flush()
        home.await_caught_up()
        letters = [DeadLetter.from_bytes(record.value()) for record in home.records("dead-letters")]
        assert [letter.value for letter in letters] == [value for _, value in bad.values()]
        assert [letter.offset for letter in letters] == [1, 2, 3, 4, 5]
        assert {letter.topic for letter in letters} == {f"{home.prefix}offsets"}
        assert letters[2].reason.startswith("v: ")
        assert letters[3].reason.startswith("key: ")
        assert by_group(home.records("lag"))["billing"] == fold([first, second, third])[0]
        metrics = worker.metrics()
        assert "warren_evaluator_dead_letters_total 5.0" in metrics
        assert 'warren_evaluator_groups{status="WARN"} 1.0' in metrics


def test_the_incident_of_a_state_that_nobody_can_read_is_closed(home: Home) -> None:
    """A damaged row: `warren.lag` still tells which incident was open, and metrics are served."""
    key = group_key("prod", "billing")
    with home.worker() as worker:
        worker.start().await_ready()
        sender = home.events()
        sender.send(*commits(115, 115, 115))
        sender.flush()
        home.await_caught_up()
        assert worker.terminate() == 0
        home.damage_state(key, bytes([9, 1, 0]) + bytes(16) + bytes([99]) + b"nonsense")
        worker.start().await_ready()
        assert 'warren_evaluator_groups{status="WARN"} 0.0' in worker.metrics()
        sender.send(offset_event(NOW + 9 * MINUTE, {"orders": {0: At(300, NOW + 9 * MINUTE)}}))
        sender.flush()
        home.await_caught_up()
        told = [StatusChangeEvent.from_bytes(r.value()).data for r in home.records("lag-status")]
        assert [change.status for change in told] == ["ERR", "WARN", "OK"]
        assert len({change.incident_id for change in told}) == 1


def test_a_deleted_group_leaves_nothing_behind_even_after_a_restart(home: Home) -> None:
    key = group_key("prod", "billing")
    with home.worker() as worker:
        worker.start().await_ready()
        sender = home.events()
        sender.send(*commits(5), offset_event(NOW + MINUTE, deleted=True))
        sender.flush()
        home.await_caught_up()
        assert worker.terminate() == 0
        worker.start()
        sender.send(*commits(5))  # a duplicate, and a sign that what came before is committed
        sender.flush()
        home.await_caught_up()
        written = [record.value() for record in home.changelog() if record.key() == key]
        assert len(written) >= 2
        assert written[-1] is None
        assert [record.value() for record in home.records("lag")].count(None) == 1


@pytest.fixture
def unreachable(unique: str, tmp_path: Path) -> Home:
    return Home("127.0.0.1:1", unique, tmp_path)


def test_an_unreachable_cluster_is_one_line_and_waited_for(unreachable: Home) -> None:
    with unreachable.worker() as worker:
        worker.start()
        lines = eventually(
            lambda: [line for line in _lines(worker.log) if "not usable" in line],
            message="a line about the cluster",
        )
        assert '"cluster": "home"' in lines[0]
        assert '"setting": "home.bootstrap"' in lines[0]
        assert worker.terminate() == 0


def _replayed(worker: Worker) -> float:
    name = "warren_evaluator_replayed_states_total "
    return next(
        float(line.removeprefix(name))
        for line in worker.metrics().splitlines()
        if line.startswith(name)
    )


def _lines(log: Path) -> list[str]:
    return log.read_text().splitlines()
