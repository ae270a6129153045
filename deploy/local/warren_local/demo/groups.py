"""The demo's consumer groups: what each one reads, how it behaves and what Warren shows."""

from collections.abc import Callable
from dataclasses import dataclass

from warren_local.demo.member import Member
from warren_local.demo.topics import (
    AUDIT,
    CLICKS,
    INVOICES,
    ORDERS,
    PAYMENTS,
    SENSORS,
    SHIPMENTS,
    DemoTopic,
)

CYCLE = 1.2  # seconds between two commits
STALLED_AT = 120
BAD_PARTITION, BAD_AT = 7, 5
# Commits before a group stops. Half a window would do; a busy machine may fold several into one.
LAST_COMMIT = 16
RECOVERED_COMMITS = 25

Behaviour = Callable[[Member], None]
"""Runs until the member leaves, or returns when the group's consumer is to be closed."""


def healthy(member: Member) -> None:
    """Consumes what comes and commits it: OK."""
    while True:
        member.consume(CYCLE)
        member.commit()


def idle(member: Member) -> None:
    """At the end of a quiet topic, without commits after the first few: lag zero, OK."""
    keep_up(member, LAST_COMMIT)
    while True:
        member.consume(CYCLE)


def stopped(member: Member) -> None:
    """Healthy, then gone while producing goes on: STOP."""
    keep_up(member, LAST_COMMIT)


def recovering(member: Member) -> None:
    """Healthy for half a minute; the group's table says how long it is gone then."""
    keep_up(member, RECOVERED_COMMITS)


def slow(member: Member) -> None:
    """One record per commit, while ten a second arrive: lag grows at every commit, WARN.

    The commit follows directly on a produced record: however long either side is held up, at no
    observation has the log grown less than the group has consumed.
    """
    member.pause(0)
    while True:
        member.consume(CYCLE)
        member.take_one(0, member.next_offsets[0])
        member.next_offsets[0] += 1
        member.await_record(0)
        member.commit()


def stalled(member: Member) -> None:
    """Fails on one record again and again, and commits where it is: STALL."""
    member.pause(0)
    member.next_offsets[0] = member.joined_at[0] or STALLED_AT
    while True:
        member.take_one(0, member.next_offsets[0])
        member.commit()
        member.consume(CYCLE)


def losing(member: Member) -> None:
    """Stays where it joined on a topic with a short retention: STALL, and soon its data are gone.

    It reads nothing, so that the deletion of what it has not consumed does not move it.
    """
    member.pause(0)
    while True:
        member.commit()
        member.consume(CYCLE)


def rewound(member: Member) -> None:
    """Reads its topic backwards, so that each commit is below the one before: REWIND."""
    member.pause(0)
    start, end = member.log_range(0)
    member.next_offsets[0] = member.joined_at[0] or end - 1
    while True:
        member.next_offsets[0] -= 1
        if member.next_offsets[0] <= start:
            member.next_offsets[0] = end - 1
        member.take_one(0, member.next_offsets[0])
        member.commit()
        member.consume(CYCLE)


def one_bad(member: Member) -> None:
    """Healthy but for one partition of many, where the offset never moves: ERR."""
    member.pause(BAD_PARTITION)
    member.next_offsets[BAD_PARTITION] = member.joined_at[BAD_PARTITION] or BAD_AT
    healthy(member)


def keep_up(member: Member, commits: int) -> None:
    """Healthy for so many commits."""
    for _ in range(commits):
        member.consume(CYCLE)
        member.commit()


@dataclass(frozen=True, slots=True)
class DemoGroup:
    """`status` is the group's, `partition_status` the one of its worst partition.

    `again_after`: seconds after which a consumer whose behaviour has ended comes back; None: never.
    """

    name: str
    topic: DemoTopic
    behaviour: Behaviour
    status: str
    partition_status: str
    kip848: bool = False
    again_after: float | None = None


GROUPS = (
    DemoGroup("demo-healthy", ORDERS, healthy, "OK", "OK"),
    DemoGroup("demo-slow", PAYMENTS, slow, "WARN", "WARN"),
    DemoGroup("demo-stopped", ORDERS, stopped, "ERR", "STOP"),
    DemoGroup("demo-stalled", INVOICES, stalled, "ERR", "STALL"),
    DemoGroup("demo-rewound", CLICKS, rewound, "ERR", "REWIND"),
    DemoGroup("demo-idle", AUDIT, idle, "OK", "OK"),
    DemoGroup("demo-kip848", ORDERS, healthy, "OK", "OK", kip848=True),
    DemoGroup("demo-one-bad", SHIPMENTS, one_bad, "ERR", "STALL"),
    # Its records are deleted from a minute on: time to loss counts down, then records are lost.
    DemoGroup("demo-losing", SENSORS, losing, "ERR", "STALL"),
    # Half a minute OK, then STOP until it is back after a minute: an incident opens and closes.
    DemoGroup("demo-recovering", ORDERS, recovering, "OK", "OK", again_after=60.0),
)
