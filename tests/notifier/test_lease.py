"""A notifier that stood still has lost its partitions, whatever its timers say."""

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from notifier.builders import event
from notifier.http_receiver import Answer, HttpReceiver
from notifier.process import Home, config, notifier, webhook
from support.manual_clock import ManualClock
from support.waiting import eventually
from warren.contracts import GroupIncidentEvent
from warren.errors import ProcessFrozen
from warren_notifier.lease import Lease, LeasedProducer


class Written:
    """A producer that notes what it is to send."""

    def __init__(self) -> None:
        self.records: list[tuple[str, bytes | None, bytes | None, int]] = []

    def send(self, topic: str, key: bytes | None, value: bytes | None, *, partition: int) -> None:
        self.records.append((topic, key, value, partition))

    def flush(self) -> None: ...


def test_it_holds_as_long_as_somebody_looks_often_enough() -> None:
    clock = ManualClock()
    lease = Lease(10, clock.monotonic)
    for _ in range(9):
        clock.advance(7)
        lease.check()


def test_a_freeze_breaks_it_for_good_and_nothing_is_written_any_more() -> None:
    clock, written = ManualClock(), Written()
    lease = Lease(10, clock.monotonic)
    producer = LeasedProducer(written, lease)
    producer.send("t", b"k", b"before", partition=0)
    clock.advance(7.1)
    for _ in range(2):
        with pytest.raises(ProcessFrozen, match=r"stood still for 7\.1s"):
            producer.send("t", b"k", b"after", partition=0)
    assert written.records == [("t", b"k", b"before", 0)]


def test_who_watches_first_after_a_freeze_breaks_it_for_all() -> None:
    clock, looked = ManualClock(), threading.Event()
    frozen = False

    def now() -> float:
        if frozen and threading.current_thread().name == "lease":
            looked.set()
        return clock.monotonic()

    lease = Lease(0.1, now)
    with lease.watched():
        lease.check()
        clock.advance(1)
        frozen = True
        assert looked.wait(30)
    with pytest.raises(ProcessFrozen):
        lease.check()


@pytest.mark.heavy
def test_what_was_due_while_it_was_frozen_is_left_to_the_next_owner(
    broker: Any, unique: str, tmp_path: Path
) -> None:
    """Its retry waits when it is frozen; the next one tells beginning and end; then it wakes."""
    home = Home.create(broker.bootstrap, unique)
    opening = event(group="g", event_id="g-open", incident_id="g-1")
    closing = event("OK", "ERR", group="g", event_id="g-close", incident_id="g-1")
    takes = threading.Event()
    with HttpReceiver(decide=lambda _: Answer(200 if takes.is_set() else 503)) as hooks:
        file = config(tmp_path, home, webhook("hook", hooks.port))
        with notifier(file) as old:
            home.publish(opening)
            eventually(lambda: len(hooks.requests) >= 2, message="it is being retried")
            os.killpg(old.child.pid, signal.SIGSTOP)
            takes.set()
            before = len(hooks.requests)
            with notifier(file) as new:
                eventually(lambda: len(hooks.requests) > before, message="the next one opens")
                home.publish(closing)
                eventually(lambda: home.states() == {}, message="the next one closes")
                taken = len(hooks.requests)
                os.killpg(old.child.pid, signal.SIGCONT)
                eventually(
                    lambda: old.output().count("partitions taken up") > 1 and old.ready,
                    message="it has joined anew",
                )
                assert new.ready
    told = [GroupIncidentEvent.from_bytes(one.body).id for one in hooks.requests[before:]]
    assert len(hooks.requests) == taken, told
    assert told[-1] == closing.id
    assert home.states() == {}
