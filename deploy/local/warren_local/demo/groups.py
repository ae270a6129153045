"""The demo's consumer groups: what each one reads, what it commits and what Warren shows."""

from collections.abc import Callable
from dataclasses import dataclass

from warren_local.demo.topics import INVOICES, ORDERS, PAYMENTS, SENSORS, DemoTopic

Commits = Callable[[int, int], int]
"""The offset that a member commits, by its position and by how many commits it made before."""


def all_read(position: int, _number: int) -> int:
    """Commit what was consumed: OK."""
    return position


def slow(position: int, _number: int) -> int:
    """Commit one record in ten: the lag grows at every commit, WARN."""
    return position // 10


def stuck_at(offset: int) -> Commits:
    """Commit the same offset again and again: STALL."""
    return lambda _position, _number: offset


def backwards(_position: int, number: int) -> int:
    """Commit one record less each time: REWIND."""
    return INVOICES.backlog - number % INVOICES.backlog


@dataclass(frozen=True, slots=True)
class DemoGroup:
    """`status` is what Warren shows of it.

    `leaves_after`: commits after which the group's only member leaves; None: it stays.
    `again_after`: seconds after which one that left comes back; None: never.
    """

    name: str
    topic: DemoTopic
    commits: Commits
    status: str
    leaves_after: int | None = None
    again_after: float | None = None


GROUPS = (
    DemoGroup("demo-healthy", ORDERS, all_read, "OK"),
    DemoGroup("demo-slow", PAYMENTS, slow, "WARN"),
    # Half a window of commits would do; a busy machine may fold several into one.
    DemoGroup("demo-stopped", ORDERS, all_read, "ERR", leaves_after=16),
    DemoGroup("demo-stalled", INVOICES, stuck_at(120), "ERR"),
    DemoGroup("demo-rewound", INVOICES, backwards, "ERR"),
    # Its records are deleted from a minute on: time to loss counts down, then records are lost.
    DemoGroup("demo-losing", SENSORS, stuck_at(0), "ERR"),
    # Half a minute OK, then STOP until it is back after a minute: an incident opens and closes.
    DemoGroup("demo-recovering", ORDERS, all_read, "OK", leaves_after=25, again_after=60.0),
)
