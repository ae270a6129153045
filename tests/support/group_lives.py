"""Groups that are at times healthy, slow, stuck or deleted, and what must come of them."""

from __future__ import annotations

import itertools
import random
import threading
from collections import defaultdict
from collections.abc import Iterable

from confluent_kafka import Message
from support.evaluator_process import EventSender, Home
from support.offset_events import NOW, At, Judge, offset_event
from support.waiting import eventually
from warren.contracts import OffsetEvent, StatusChangeEvent, split_group_key
from warren_core.judgement.judge import Ended, Judged

GROUPS = 30
EVENTS_PER_GROUP = 60
Outputs = tuple[list[bytes | None], list[str]]  # lag values, ids of status changes


def a_life(group: str, seed: int, length: int = EVENTS_PER_GROUP) -> list[OffsetEvent]:
    """A group that is at times healthy, slow, stuck, deleted; the same for the same seed."""
    chance = random.Random(seed)
    committed, log_end, at, mood = 0, 0, NOW, ""
    events = []
    for step in range(length):
        at += 5000
        if step % 5 == 0:
            mood = chance.choice(["well", "well", "slow", "stuck"])
        log_end += 10
        committed = {"well": log_end, "slow": committed + 5, "stuck": committed}[mood]
        if chance.random() < 0.03:
            events.append(offset_event(at, group=group, deleted=True))
            continue
        at_partition = At(committed, at - 100, log_end=log_end, commits=int(mood != "stuck"))
        events.append(
            offset_event(at, {"orders": dict.fromkeys(range(3), at_partition)}, group=group)
        )
    return events


def lives(length: int = EVENTS_PER_GROUP) -> dict[str, list[OffsetEvent]]:
    return {f"group-{i}": a_life(f"group-{i}", i, length) for i in range(GROUPS)}


def interleaved(groups: dict[str, list[OffsetEvent]]) -> list[OffsetEvent]:
    steps = itertools.zip_longest(*groups.values())
    return [event for step in steps for event in step if event is not None]


def fold(events: Iterable[OffsetEvent]) -> Outputs:
    judge = Judge()
    lags: list[bytes | None] = []
    changes: list[str] = []
    for event in events:
        outcome = judge(event)
        assert isinstance(outcome, Judged | Ended)
        lags.append(outcome.lag.to_bytes() if isinstance(outcome, Judged) else None)
        if outcome.change is not None:
            changes.append(outcome.change.id)
    return lags, changes


class Load:
    """Sends the groups' lives, interleaved and paced, while a test does its worst."""

    def __init__(self, sender: EventSender, seconds: float) -> None:
        self._events = interleaved(lives())
        self._pause = seconds / len(self._events)
        self._sender = sender
        self._sent = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        for event in self._events:
            self._sender.send(event)
            self._sent += 1
            if self._stop.wait(self._pause):
                return

    def await_share(self, share: float) -> None:
        """Until so much of it has been sent."""
        wanted = share * len(self._events)
        eventually(lambda: self._sent >= wanted, timeout=120, message=f"{share:.0%} is sent")

    def __enter__(self) -> Load:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if failure[0] is not None:
            self._stop.set()
        self._thread.join()
        self._sender.flush()


def by_group(records: list[Message]) -> dict[str, list[bytes | None]]:
    grouped: dict[str, list[bytes | None]] = defaultdict(list)
    for record in records:
        grouped[split_group_key(record.key())[1]].append(record.value())
    return grouped


def without_replays(values: list[bytes | None]) -> list[bytes | None]:
    """The first of each run of equal runs: what a batch published again is dropped."""
    seen: list[bytes | None] = []
    for value in values:
        if value not in seen or value is None:
            seen.append(value)
    return seen


def assert_as_expected(home: Home, expected: dict[str, Outputs]) -> None:
    lags = by_group(home.records("lag"))
    changes = by_group(home.records("lag-status"))
    for group, (expected_lags, expected_ids) in expected.items():
        wanted = [value for value in expected_lags if value is not None]
        found = [value for value in without_replays(lags[group]) if value is not None]
        assert found == wanted, f"{group}: {difference(found, wanted)}"
        assert lags[group].count(None) >= expected_lags.count(None)
        events = [StatusChangeEvent.from_bytes(value) for value in changes[group] if value]
        assert len(events) == len(changes[group])
        told = list({event.id: event for event in events}.values())
        assert [event.id for event in told] == expected_ids, group
        assert_incidents_open_and_close_once(told)


def difference(found: list[bytes], wanted: list[bytes]) -> str:
    """Which of the wanted events are missing, by their place, and what else was found."""
    missing = [place for place, value in enumerate(wanted) if value not in found]
    strange = [value.decode()[:200] for value in found if value not in wanted]
    return f"{len(found)} for {len(wanted)}, missing {missing}, not expected {strange}"


def assert_incidents_open_and_close_once(told: list[StatusChangeEvent]) -> None:
    """What one group's subscriber counts who drops events of equal ids."""
    opened = [event.data.incident_id for event in told if event.data.previous == "OK"]
    closed = [e.data.incident_id for e in told if e.data.status in ("OK", "NOTFOUND")]
    assert len(set(opened)) == len(opened)
    assert {event.data.incident_id for event in told} == set(opened)
    assert closed == opened[: len(closed)]
    assert len(opened) - len(closed) in (0, 1)
