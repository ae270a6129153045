"""The demo's consumer groups: what each one reads, how it behaves and what Warren shows."""

from __future__ import annotations

from dataclasses import dataclass

from warren_local.demo import behaviours
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


@dataclass(frozen=True, slots=True)
class DemoGroup:
    """`status` is the group's, `partition_status` the one of its worst partition.

    `again_after`: seconds after which a consumer whose behaviour has ended comes back; None: never.
    """

    name: str
    topic: DemoTopic
    behaviour: behaviours.Behaviour
    status: str
    partition_status: str
    kip848: bool = False
    again_after: float | None = None


GROUPS = (
    DemoGroup("demo-healthy", ORDERS, behaviours.healthy, "OK", "OK"),
    DemoGroup("demo-slow", PAYMENTS, behaviours.slow, "WARN", "WARN"),
    DemoGroup("demo-stopped", ORDERS, behaviours.stopped, "ERR", "STOP"),
    DemoGroup("demo-stalled", INVOICES, behaviours.stalled, "ERR", "STALL"),
    DemoGroup("demo-rewound", CLICKS, behaviours.rewound, "ERR", "REWIND"),
    DemoGroup("demo-idle", AUDIT, behaviours.idle, "OK", "OK"),
    DemoGroup("demo-kip848", ORDERS, behaviours.healthy, "OK", "OK", kip848=True),
    DemoGroup("demo-one-bad", SHIPMENTS, behaviours.one_bad, "ERR", "STALL"),
    # Its records are deleted from a minute on: time to loss counts down, then records are lost.
    DemoGroup("demo-losing", SENSORS, behaviours.losing, "ERR", "STALL"),
    # Half a minute OK, then STOP until it is back after a minute: an incident opens and closes.
    DemoGroup("demo-recovering", ORDERS, behaviours.recovering, "OK", "OK", again_after=60.0),
)
