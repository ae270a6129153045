"""Cause: all bad partitions are led by one broker."""

import numpy as np
from warren.contracts.status import Status
from warren.words import grouped

from warren_core.evaluation import UNKNOWN
from warren_core.judgement.causes.catalogue import Found, cause, found
from warren_core.judgement.columns import Told
from warren_core.judgement.facts import Facts

LEAST_LED, MOST_OF = 3, 0.75


@cause(
    "root",
    70,
    "One broker's partitions stand still",
    "all that is not OK is led by one broker: three partitions at least, of several members, and "
    "3/4 of what it leads; three or more that others lead are well. Leaders come with the offset "
    "events",
)
def one_broker(facts: Facts) -> Found | None:
    """By chance few partitions have the same leader: it needs several, of several members."""
    rows, group = facts.bad, facts.membership
    if len(rows) < LEAST_LED or group is None or facts.worst is Status.REWIND:
        return None
    leader = facts.told[Told.LEADER]
    broker = int(leader[rows[0]])
    led = int(np.count_nonzero(leader == broker))
    is_one = broker != UNKNOWN and bool((leader[rows] == broker).all())
    others = len(facts.layout) - led
    owners = {group.owners.get(name) for name in facts.names(rows)} - {None}
    if not is_one or len(rows) < MOST_OF * led or others < LEAST_LED or len(owners) < 2:
        return None
    topic, partition = facts.layout.name(rows[0])
    return found(
        f"All {grouped(len(rows))} bad partitions are led by broker {broker}; those of other "
        "brokers keep up",
        f"Check broker {broker}: disks, network, request queue",
        topic=topic,
        partition=partition,
        partitions=len(rows),
        broker=broker,
        members=len(group.members),
    )
